// z = alpha x + beta y on the host.
#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "backend/host/host_backend.hpp"
#include "backend/host/parallel.hpp"
#include "base/checked.hpp"
#include "base/float_environment.hpp"
#include "kernels/elements.hpp"

namespace gpumem {
namespace {

const char* element(const void* p, int64_t i, int64_t element_bytes) noexcept {
  return p == nullptr ? nullptr : static_cast<const char*>(p) + i * element_bytes;
}

// Writing around the caches pays where z is not in them: not where it has just been read.
void parallel(const HostTeam& team, const AxpbyParams& a, const LaunchShape& shape) {
  const auto loop = a.dtype == GPUMEM_F32 ? team.loops.arithmetic.f32 : team.loops.arithmetic.f64;
  const int64_t bytes = element_bytes(a.dtype);
  const bool large = team.larger_than_caches(a.n * bytes);
  team.parallel(ceil_div(a.n, shape.tile), [&](int64_t i) {
    const DefaultFloatEnvironment of_thread;
    const int64_t first = i * shape.tile;
    ArithmeticRow row{.z = static_cast<char*>(a.z) + first * bytes,
                      .z_step = bytes,
                      .n = std::min(first + shape.tile, a.n) - first,
                      .ahead = large,
                      .stream = large && a.z != a.x && a.z != a.y};
    const auto add = [&](uint64_t factor, const void* x) {
      if (x == nullptr) return;
      row.factor[row.terms] = factor;
      row.step[row.terms] = bytes;
      row.x[row.terms++] = static_cast<const char*>(x) + first * bytes;
    };
    add(a.alpha, a.x);
    add(a.beta, a.y);
    loop(row);
  });
}

// The formula and nothing else: what the loops are held against.
template <class T, class Bits>
void one_by_one(const AxpbyParams& a) noexcept {
  const T alpha = std::bit_cast<T>(static_cast<Bits>(a.alpha));
  const T beta = std::bit_cast<T>(static_cast<Bits>(a.beta));
  const auto load = [](const void* p, int64_t i) noexcept {
    T value;
    std::memcpy(&value, element(p, i, sizeof(T)), sizeof value);
    return value;
  };
  for (int64_t i = 0; i < a.n; ++i) {
    T z = 0;
    if (a.x != nullptr && a.y != nullptr) {
      z = alpha * load(a.x, i) + beta * load(a.y, i);
    } else if (a.x != nullptr) {
      z = alpha * load(a.x, i);
    } else if (a.y != nullptr) {
      z = beta * load(a.y, i);
    }
    if (__builtin_isnan(z)) z = std::numeric_limits<T>::quiet_NaN();  // 0x7fc00000, 0x7ff8000000000000
    std::memcpy(static_cast<char*>(a.z) + i * static_cast<int64_t>(sizeof(T)), &z, sizeof z);
  }
}

void serial(const HostTeam&, const AxpbyParams& args, const LaunchShape&) {
  const DefaultFloatEnvironment environment;
  if (args.dtype == GPUMEM_F32) return one_by_one<float, uint32_t>(args);
  one_by_one<double, uint64_t>(args);
}

constexpr HostLauncher<AxpbyParams> kAxpby[] = {{"host_parallel", parallel}, {"host_serial", serial}};

}  // namespace

AxpbyFamily::HostTable AxpbyFamily::on_host() noexcept { return kAxpby; }

}  // namespace gpumem
