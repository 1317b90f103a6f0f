// Sums of scaled operands, and products, over views, on the host.
#include <algorithm>

#include "backend/host/host_backend.hpp"
#include "backend/host/parallel.hpp"
#include "base/checked.hpp"
#include "base/float_environment.hpp"
#include "kernels/elements.hpp"

namespace gpumem {
namespace {

// Elements [first, last) of z, row by row. large: z is larger than the caches.
void rows(const Loops& loops, const ArithmeticParams& a, int64_t first, int64_t last, bool large) {
  const auto loop = a.dtype == GPUMEM_F32 ? loops.arithmetic.f32 : loops.arithmetic.f64;
  const int64_t bytes = element_bytes(a.dtype);
  const int32_t inner = a.rank - 1;
  const bool reads_z = std::find(a.x, a.x + a.terms, a.z) != a.x + a.terms;
  // Writing around the caches pays where z is not in them: not where it has just been read.
  ArithmeticRow row{.terms = a.terms,
                    .product = a.op == Arithmetic::multiply,
                    .z_step = a.z_strides[inner] * bytes,
                    .ahead = large,
                    .stream = large && !reads_z};
  for (int32_t k = 0; k < a.terms; ++k) {
    row.factor[k] = a.factors[k];
    row.step[k] = a.x_strides[k][inner] * bytes;
  }
  int64_t at[kMaxViewRank];
  int64_t left = first;
  for (int32_t d = inner; d >= 0; left /= a.extents[d--]) at[d] = left % a.extents[d];
  const auto offset = [&](const int64_t* strides) {
    int64_t elements = 0;
    for (int32_t d = 0; d < a.rank; ++d) elements += at[d] * strides[d];
    return elements * bytes;
  };
  for (int64_t i = first; i < last; i += row.n) {
    row.n = std::min(a.extents[inner] - at[inner], last - i);
    row.z = static_cast<char*>(a.z) + offset(a.z_strides);
    for (int32_t k = 0; k < a.terms; ++k) row.x[k] = static_cast<const char*>(a.x[k]) + offset(a.x_strides[k]);
    loop(row);
    at[inner] = 0;
    for (int32_t d = inner - 1; d >= 0 && ++at[d] == a.extents[d]; --d) at[d] = 0;
  }
}

void parallel(const HostTeam& team, const ArithmeticParams& a, const LaunchShape& shape) {
  const int64_t n = a.elements();
  const bool large = team.larger_than_caches(n * element_bytes(a.dtype));
  team.parallel(ceil_div(n, shape.tile), [&](int64_t i) {
    const DefaultFloatEnvironment of_thread;
    rows(team.loops, a, i * shape.tile, std::min((i + 1) * shape.tile, n), large);
  });
}

void serial(const HostTeam&, const ArithmeticParams& a, const LaunchShape& shape) { parallel(no_team(), a, shape); }

constexpr HostLauncher<ArithmeticParams> kArithmetic[] = {{"host_parallel", parallel}, {"host_serial", serial}};

}  // namespace

ArithmeticFamily::HostTable ArithmeticFamily::on_host() noexcept { return kArithmetic; }

}  // namespace gpumem
