#include "support/expected.hpp"

#include <cmath>
#include <cstring>

namespace bench {
namespace {

template <class V>
V value_at(const void* p) {
  V v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

}  // namespace

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
