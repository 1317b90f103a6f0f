#include "support/library.hpp"

#include <utility>

namespace bench {

Context make_context(int32_t device) {
  gpumem_ctx_options options;
  check(gpumem_ctx_options_init(&options, sizeof options));
  options.device = device;
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

Pair with_variant(Context ctx, gpumem_family family, const std::string& name, Pair pair,
                  const std::function<gpumem_status()>& try_once) {
  auto forced = std::make_shared<Forced>(ctx, family, name);
  const gpumem_status status = try_once();
  if (status == GPUMEM_UNSUPPORTED) throw Skip(last_error());
  check(status);
  pair.ours.sample = [forced, sample = std::move(pair.ours.sample)] { return sample(); };
  return pair;
}

}  // namespace bench
