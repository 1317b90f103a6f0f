#include "support/library.hpp"

#include <utility>

namespace bench {

Context make_context(int32_t device, int32_t host_threads) {
  gpumem_ctx_options options;
  check(gpumem_ctx_options_init(&options, sizeof options));
  options.device = device;
  options.host_threads = host_threads;
  gpumem_ctx* ctx = nullptr;
  check(gpumem_ctx_create(&options, &ctx));
  Context owned(ctx, [](gpumem_ctx* c) { gpumem_ctx_destroy(c); });
  check(gpumem_ctx_warmup(ctx));
  return owned;
}

gpumem_device_info device_of(gpumem_ctx* ctx) {
  gpumem_device_info info;
  check(gpumem_device_info_init(&info, sizeof info));
  check(gpumem_ctx_device(ctx, &info));
  return info;
}

std::string dtype_name(gpumem_dtype dtype) {
  constexpr const char* names[] = {"i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f16", "bf16", "f32", "f64"};
  return names[dtype];
}

std::vector<std::string> variant_names(gpumem_family family) {
  int32_t count = 0;
  check(gpumem_variant_count(family, &count));
  std::vector<std::string> names;
  for (int32_t i = 0; i < count; ++i) {
    const char* name = nullptr;
    check(gpumem_variant_name(family, i, &name));
    names.emplace_back(name);
  }
  return names;
}

Forced::Forced(Context ctx, gpumem_family family, const std::string& name) : ctx_(std::move(ctx)), family_(family) {
  const gpumem_status status = gpumem_variant_force(ctx_.get(), family_, name.c_str());
  if (status == GPUMEM_UNSUPPORTED) throw Skip(last_error());
  check(status);
}

Forced::~Forced() { gpumem_variant_force(ctx_.get(), family_, nullptr); }

Side with_variant(Context ctx, gpumem_family family, const std::string& name, Side side,
                  const std::function<gpumem_status()>& try_once) {
  {
    const Forced forced(ctx, family, name);
    const gpumem_status status = try_once();
    if (status == GPUMEM_UNSUPPORTED) throw Skip(last_error());
    check(status);
  }
  side.sample = [ctx = std::move(ctx), family, name, sample = std::move(side.sample)] {
    const Forced forced(ctx, family, name);
    return sample();
  };
  return side;
}

Pair with_variant(Context ctx, gpumem_family family, const std::string& name, Pair pair,
                  const std::function<gpumem_status()>& try_once) {
  pair.ours = with_variant(std::move(ctx), family, name, std::move(pair.ours), try_once);
  return pair;
}

}  // namespace bench
