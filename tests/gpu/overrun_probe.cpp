// Writes as its argument says: 'sound' into a block of gpumem's, 'past' one element past its end, where another block's slot begins
// later, 'freed' into a block that was freed. For overrun_test.sh, under compute-sanitizer.
#include <gpumem.h>

#include <cstdio>
#include <string>

#include "tests/gpu/device_memory.hpp"

namespace {

constexpr int64_t kCount = 250;

bool ok(gpumem_status status, const char* what) {
  if (status != GPUMEM_OK) std::fprintf(stderr, "%s: %s\n", what, gpumem_status_name(status));
  return status == GPUMEM_OK;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string how = argc > 1 ? argv[1] : "";
  gpumem_ctx_options options;
  gpumem_ctx* ctx = nullptr;
  if (!ok(gpumem_ctx_options_init(&options, sizeof options), "options")) return 1;
  options.device = GPUMEM_DEVICE_CUDA;
  if (!ok(gpumem_ctx_create(&options, &ctx), "context")) return 1;
  void* p = nullptr;
  void* next = nullptr;
  if (!ok(gpumem_alloc_async(ctx, kCount * 4, 1, nullptr, &p), "memory")) return 1;
  if (!ok(gpumem_alloc_async(ctx, kCount * 4, 1, nullptr, &next), "memory")) return 1;
  auto* const x = static_cast<int32_t*>(p);
  if (how == "freed" && !ok(gpumem_free_async(ctx, p, nullptr), "free")) return 1;
  gpumem::gpu_tests::fill_value(x, how == "past" ? kCount + 1 : kCount, 7);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  if (how != "freed" && !ok(gpumem_free(ctx, p), "free")) return 1;
  if (!ok(gpumem_free(ctx, next), "free")) return 1;
  return ok(gpumem_ctx_destroy(ctx), "context") ? 0 : 1;
}
