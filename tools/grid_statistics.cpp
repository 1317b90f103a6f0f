#include "grid_statistics.hpp"

#include <algorithm>
#include <cmath>

#include "failure.hpp"

namespace tool {
namespace {

__extension__ using Int128 = __int128;

constexpr double kTolerance = 1e-9;
constexpr double kTwoTo63 = 9223372036854775808.0;

int64_t reduce(gpumem_ctx* ctx, gpumem_reduce_op op, const int32_t* x, int64_t n, const char* doing) {
  int64_t result = 0;
  check(gpumem_reduce_i32(ctx, op, x, n, 1, &result), doing);
  return result;
}

std::optional<int64_t> sum_of_squares(gpumem_ctx* ctx, const int32_t* x, int64_t n) {
  int64_t result = 0;
  const gpumem_status status = gpumem_reduce_i32(ctx, GPUMEM_SUM_SQUARES, x, n, 1, &result);
  if (status == GPUMEM_OVERFLOW) return std::nullopt;
  check(status, "summing the squares");
  return result;
}

bool close(double a, double b) { return std::abs(a - b) <= kTolerance * std::max(std::abs(a), std::abs(b)); }

}  // namespace

Statistics library_statistics(gpumem_ctx* ctx, const int32_t* x, int64_t n) {
  Statistics s;
  s.min = reduce(ctx, GPUMEM_MIN, x, n, "finding the minimum");
  s.max = reduce(ctx, GPUMEM_MAX, x, n, "finding the maximum");
  s.sum = reduce(ctx, GPUMEM_SUM, x, n, "summing");
  s.mean = static_cast<double>(static_cast<long double>(s.sum) / static_cast<long double>(n));
  if (const std::optional<int64_t> squares = sum_of_squares(ctx, x, n)) {
    const Int128 scaled = static_cast<Int128>(n) * *squares - static_cast<Int128>(s.sum) * s.sum;
    s.roughness = static_cast<double>(static_cast<long double>(scaled) / static_cast<long double>(n));
  }
  return s;
}

Statistics plain_statistics(std::span<const int32_t> x) {
  Statistics s{x.front(), x.front(), 0, 0, 0.0};
  long double sum = 0;  // integers below 2^31: exact for up to 2^32 of them if long double has 64 bits
  for (const int32_t value : x) {
    s.min = std::min<int64_t>(s.min, value);
    s.max = std::max<int64_t>(s.max, value);
    sum += static_cast<long double>(value);
  }
  const long double mean = sum / static_cast<long double>(x.size());
  long double squares = 0;
  for (const int32_t value : x) {
    const long double difference = static_cast<long double>(value) - mean;
    squares += difference * difference;
  }
  s.sum = static_cast<int64_t>(sum);
  s.mean = static_cast<double>(mean);
  s.roughness = static_cast<double>(squares);
  return s;
}

bool agree(const Statistics& library, const Statistics& plain, int64_t n) {
  if (library.min != plain.min || library.max != plain.max || library.sum != plain.sum) return false;
  if (!close(library.mean, plain.mean)) return false;
  if (library.roughness) return close(*library.roughness, *plain.roughness);
  const double squares = plain.mean * plain.mean * static_cast<double>(n) + *plain.roughness;
  return squares > kTwoTo63 * (1 - kTolerance);
}

}  // namespace tool
