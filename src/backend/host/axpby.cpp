// z = alpha x + beta y on the host: a sum of scaled operands along one axis.
#include "backend/host/host_backend.hpp"

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

// The sums' own launchers have the same places.
template <size_t kLauncher>
void launch(const HostTeam& team, const AxpbyParams& a, const LaunchShape& shape) {
  ArithmeticFamily::on_host()[kLauncher].launch(team, sum_of(a), shape);
}

constexpr HostLauncher<AxpbyParams> kAxpby[] = {{"host_parallel", launch<0>}, {"host_serial", launch<1>}};

}  // namespace

AxpbyFamily::HostTable AxpbyFamily::on_host() noexcept { return kAxpby; }

}  // namespace gpumem
