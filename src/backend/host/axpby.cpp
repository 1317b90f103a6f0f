// z = alpha x + beta y on the host: a sum of scaled operands along one axis.
#include "backend/host/implementations.hpp"

namespace gpumem {
namespace {

ArithmeticParams sum_of(const AxpbyParams& a) noexcept {
  ArithmeticParams sum{.dtype = a.dtype, .rank = 1, .extents = {a.n}, .z = a.z, .z_strides = {1}};
  const auto add = [&sum](uint64_t factor, const void* x) {
    if (x == nullptr) return;
    sum.factors[sum.terms] = factor;
    sum.x_strides[sum.terms][0] = 1;
    sum.x[sum.terms++] = x;
  };
  add(a.alpha, a.x);
  add(a.beta, a.y);
  return sum;
}

}  // namespace

namespace host {

void axpby_parallel(const HostTeam& team, const AxpbyParams& a, const Config& config, char*) {
  arithmetic_parallel(team, sum_of(a), config, nullptr);
}

void axpby_serial(const HostTeam& team, const AxpbyParams& a, const Config& config, char*) {
  arithmetic_serial(team, sum_of(a), config, nullptr);
}

}  // namespace host

}  // namespace gpumem
