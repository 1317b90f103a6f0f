// The startup benchmark's process: opens the library named by its first argument, makes a host context, sums a few
// numbers, destroys the context and ends. Without an argument it does nothing, as the baseline. Writes the nanoseconds
// from before dlopen to after the destruction to stdout. Exit status 1: something failed.
#include <dlfcn.h>
#include <gpumem.h>

#include <chrono>
#include <cstdio>

namespace {

template <class Function>
bool find(void* library, const char* name, Function*& out) {
  out = reinterpret_cast<Function*>(dlsym(library, name));
  return out != nullptr;
}

bool use(void* library) {
  decltype(gpumem_ctx_options_init)* options_init;
  decltype(gpumem_ctx_create)* create;
  decltype(gpumem_ctx_destroy)* destroy;
  decltype(gpumem_reduce_i32)* reduce;
  if (!find(library, "gpumem_ctx_options_init", options_init) || !find(library, "gpumem_ctx_create", create) ||
      !find(library, "gpumem_ctx_destroy", destroy) || !find(library, "gpumem_reduce_i32", reduce)) {
    return false;
  }
  gpumem_ctx_options options;
  gpumem_ctx* ctx = nullptr;
  if (options_init(&options, sizeof options) != GPUMEM_OK) return false;
  options.device = GPUMEM_DEVICE_HOST;
  if (create(&options, &ctx) != GPUMEM_OK) return false;
  int32_t x[1000];
  for (int i = 0; i < 1000; ++i) x[i] = i + 1;
  int64_t sum = -1;
  const bool summed = reduce(ctx, GPUMEM_SUM, x, 1000, 1, &sum) == GPUMEM_OK && sum == 500500;
  return destroy(ctx) == GPUMEM_OK && summed;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return std::puts("0") < 0;
  const auto begin = std::chrono::steady_clock::now();
  void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (!library || !use(library)) return 1;
  const std::chrono::nanoseconds taken = std::chrono::steady_clock::now() - begin;
  std::printf("%lld\n", static_cast<long long>(taken.count()));
  return 0;
}
