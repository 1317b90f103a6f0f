#include "support/library.hpp"

#include <cmath>
#include <cstring>
#include <utility>

#include "resources.hpp"

namespace bench {
namespace {

template <class V>
V value_at(const void* p) {
  V v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

}  // namespace

Context make_context(int32_t device, int32_t host_threads) {
  Context ctx = tool::create_context(device, host_threads);
  check(gpumem_ctx_warmup(ctx.get()));
  return ctx;
}

std::string size_name(std::size_t bytes, int largest_unit) {
  int unit = largest_unit;
  while (unit > 10 && bytes >> unit == 0) unit -= 10;
  return std::to_string(bytes >> unit) + (unit == 30 ? "GiB" : unit == 20 ? "MiB" : "KiB");
}

Side with_variant(const Context& ctx, gpumem_family family, const std::string& name, Side side,
                  const std::function<gpumem_status()>& try_once) {
  try {
    const tool::Forced forced(ctx.get(), family, name);
    check(try_once());
  } catch (const tool::CallFailure& failure) {
    if (failure.status == GPUMEM_UNSUPPORTED) throw Skip(failure.reason);
    throw;
  }
  side.sample = [ctx, family, name, sample = std::move(side.sample)] {
    const tool::Forced forced(ctx.get(), family, name);
    return sample();
  };
  return side;
}

void add_ladder(std::vector<Case>& cases, Case base, const std::string& family,
                const std::function<Pair(const std::string& variant)>& open) {
  const std::string name = family + "/" + base.name + "/";
  base.family = "ladder";
  base.bar = {};
  base.quick = false;
  for (const std::string variant : tool::variants_of(tool::family_of(family.substr(0, family.find("_i32"))))) {
    base.name = name + variant;
    base.open = [open, variant] { return open(variant); };
    cases.push_back(base);
  }
}

std::string Expected::compare(const void* result, gpumem_dtype type) const {
  if (type == GPUMEM_F32 || type == GPUMEM_F64) {
    const double got = type == GPUMEM_F32 ? value_at<float>(result) : value_at<double>(result);
    if (std::fabs(got - number) <= scale * (type == GPUMEM_F32 ? 1e-5 : 1e-10)) return "";
    return "got " + std::to_string(got) + ", expected " + std::to_string(number);
  }
  const bool wide = type == GPUMEM_I64;
  const int64_t got = wide ? value_at<int64_t>(result) : value_at<int32_t>(result);
  const int64_t wanted = wide ? integer : static_cast<int32_t>(integer);
  return got == wanted ? "" : "got " + std::to_string(got) + ", expected " + std::to_string(wanted);
}

}  // namespace bench
