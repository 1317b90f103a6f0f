// Order-free sums: any order, any parts and any place of the same terms give the bits of the reference, which follows the
// definition with integers. The conformance tests of reduce and of views run them by every variant.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "conformance/conformance.hpp"
#include "support/reductions.hpp"

namespace gpumem_test {
namespace {

constexpr gpumem_reduce_op kOrderFreeOps[] = {GPUMEM_SUM_ORDER_FREE, GPUMEM_NRM2_ORDER_FREE, GPUMEM_DOT_ORDER_FREE};

// Numbers of a range of exponents. Kinds from 5 on try the ends of bins, and of the range.
double number(int kind, Random& random) {
  const double fraction =
      (random.below(2) == 0 ? 1 : -1) * (1 + std::ldexp(static_cast<double>(random.bits() >> 12), -52));
  const auto scaled = [&](int64_t low, int64_t high) {
    return std::ldexp(fraction, static_cast<int>(random.between(low, high)));
  };
  switch (kind) {
    case 0:
      return std::ldexp(static_cast<double>(random.bits() >> 11), -53);
    case 1:
      return scaled(-20, 20);
    case 2:
      return scaled(-1074, 1023);
    case 3:
      return scaled(-1074, -1000);
    case 4:
      return scaled(1000, 1023);
    case 5:  // halves of units, whose exponents are 6 more than multiples of 40
      return std::ldexp(static_cast<double>(random.between(-9, 9)),
                        static_cast<int>(40 * random.between(-10, 3) + random.between(4, 6)));
    case 6:
      return std::ldexp(static_cast<double>(static_cast<int64_t>(random.bits()) >> random.between(11, 60)),
                        static_cast<int>(random.between(-120, 20)));
    case 7:
      return scaled(-560, -500);
    case 8:
      return scaled(470, 520);
    default:
      return random.below(200) == 0 ? std::numeric_limits<double>::infinity() : fraction;
  }
}
constexpr uint64_t kKinds = 10;

Bytes numbers(gpumem_dtype dtype, int kind, int64_t n, Random& random) {
  Bytes all(static_cast<size_t>(n) * info_of(dtype).bytes);
  for (int64_t i = 0; i < n; ++i) {
    const double wide = number(kind, random);
    const auto narrow = static_cast<float>(wide);
    const size_t at = static_cast<size_t>(i) * info_of(dtype).bytes;
    if (dtype == GPUMEM_F64) std::memcpy(&all[at], &wide, 8);
    if (dtype == GPUMEM_F32) std::memcpy(&all[at], &narrow, 4);
  }
  return all;
}

class OrderFree : public Conformance {
 protected:
  double value(gpumem_reduce_op op, const std::vector<double>& x, const std::vector<double>& y = {}) {
    const Outcome got = outcome_of(ctx, {GPUMEM_F64, op, x.data(), static_cast<int64_t>(x.size()), 1, y.data(), 1});
    EXPECT_EQ(got.status, GPUMEM_OK) << last_error();
    return std::bit_cast<double>(got.words[0]);
  }
};

TEST_P(OrderFree, SumsHaveTheBitsOfTheReference) {
  for (int round = 0; round < (quick_run() ? 150 : 1500) && !HasFailure(); ++round) {
    Random random(static_cast<uint64_t>(round) + 0x0F);
    const gpumem_dtype dtype = random.below(2) == 0 ? GPUMEM_F64 : GPUMEM_F32;
    const gpumem_reduce_op op = kOrderFreeOps[random.below(3)];
    const int64_t n = log_uniform(1, 20000, random);
    const auto kind = static_cast<int>(random.below(kKinds));
    const Bytes x = numbers(dtype, kind, n, random);
    const Bytes y = numbers(dtype, random.below(2) == 0 ? kind : 1, n, random);
    const Reduction r{dtype, op, x.data(), n, 1, y.data(), 1};
    EXPECT_TRUE(same(reference(r), outcome_of(ctx, r))) << describe(r) << ", numbers of kind " << kind;
  }
}

// The elements in another order, in memory with other strides, alignments and kinds.
TEST_P(OrderFree, NoOrderOrPlaceChangesABit) {
  for (int round = 0; round < (quick_run() ? 60 : 600) && !HasFailure(); ++round) {
    Random random(static_cast<uint64_t>(round) + 0x1F);
    const gpumem_dtype dtype = random.below(2) == 0 ? GPUMEM_F64 : GPUMEM_F32;
    const size_t bytes = info_of(dtype).bytes;
    const gpumem_reduce_op op = kOrderFreeOps[random.below(3)];
    const int64_t n = log_uniform(1, 20000, random);
    const auto kind = static_cast<int>(random.below(kKinds));
    const Bytes x = numbers(dtype, kind, n, random);
    const Bytes y = numbers(dtype, kind, n, random);
    const Outcome expected = outcome_of(ctx, {dtype, op, x.data(), n, 1, y.data(), 1});
    std::vector<int64_t> places(static_cast<size_t>(n));
    std::iota(places.begin(), places.end(), 0);
    for (size_t i = places.size() - 1; i > 0; --i) std::swap(places[i], places[random.below(i + 1)]);
    const int64_t stride = random.below(2) == 0 ? 1 : random.between(2, 3);
    Bytes moved_x(static_cast<size_t>(n * stride) * bytes, 0xFF);
    Bytes moved_y = moved_x;
    for (size_t i = 0; i < places.size(); ++i) {
      const size_t to = i * static_cast<size_t>(stride) * bytes;
      std::memcpy(&moved_x[to], &x[static_cast<size_t>(places[i]) * bytes], bytes);
      std::memcpy(&moved_y[to], &y[static_cast<size_t>(places[i]) * bytes], bytes);
    }
    const gpumem_memory_kind place = on_cuda() && random.below(2) == 0 ? GPUMEM_MEMORY_DEVICE : GPUMEM_MEMORY_PINNED;
    GuardedBuffer a = blocks.buffer(0, place, moved_x.size(), random.below(16));
    GuardedBuffer b = blocks.buffer(1, place, moved_y.size(), random.below(16));
    a.set(moved_x.data());
    b.set(moved_y.data());
    const Reduction r{dtype, op, a.data(), n, stride, b.data(), stride};
    EXPECT_TRUE(same(expected, outcome_of(ctx, r))) << describe(r) << ", numbers of kind " << kind;
  }
}

// Two large terms, which cancel, make the unit of the lowest bin 2^-74. The others are odd numbers of half units.
TEST_P(OrderFree, TiesDoNotDependOnTheSum) {
  for (int round = 0; round < (quick_run() ? 20 : 200); ++round) {
    Random random(static_cast<uint64_t>(round) + 0x3F);
    std::vector<double> x = {0x1p40, -0x1p40};
    const auto n = static_cast<size_t>(log_uniform(3, 3000, random));
    while (x.size() < n) x.push_back(std::ldexp(static_cast<double>(2 * random.between(-20, 19) + 1), -75));
    for (size_t i = x.size() - 1; i > 0; --i) std::swap(x[i], x[random.below(i + 1)]);
    const Reduction r{GPUMEM_F64, GPUMEM_SUM_ORDER_FREE, x.data(), static_cast<int64_t>(x.size())};
    EXPECT_TRUE(same(reference(r), outcome_of(ctx, r))) << describe(r);
  }
}

TEST_P(OrderFree, TheErrorIsWithinItsBound) {
  for (int round = 0; round < (quick_run() ? 30 : 300) && !HasFailure(); ++round) {
    Random random(static_cast<uint64_t>(round) + 0x2F);
    std::vector<double> x(static_cast<size_t>(log_uniform(1, 5000, random)));
    const auto kind = static_cast<int>(random.below(2) == 0 ? 1 : 6);
    double largest = 0;
    for (double& v : x) largest = std::max(largest, std::fabs(v = number(kind, random)));
    const double result = value(GPUMEM_SUM_ORDER_FREE, x);
    std::vector<double> with_result = x;
    with_result.push_back(-result);
    const double error = std::fabs(exact_sum(with_result));
    const double bound = std::ldexp(static_cast<double>(x.size()) * largest, -80) + std::ldexp(std::fabs(result), -53);
    EXPECT_LE(error, bound * (1 + 0x1p-50)) << x.size() << " numbers";
  }
  // Where the plain sum keeps nothing.
  EXPECT_EQ(value(GPUMEM_SUM_ORDER_FREE, {1e20, 1, -1e20, 0x1p-11}), 1 + 0x1p-11);
}

TEST_P(OrderFree, SpecialNumbersAndTheEndsOfTheRange) {
  constexpr double kLargest = std::numeric_limits<double>::max();
  constexpr double kSmallest = 0x1p-1074;
  constexpr auto kSum = GPUMEM_SUM_ORDER_FREE;
  constexpr auto kNorm = GPUMEM_NRM2_ORDER_FREE;
  EXPECT_EQ(value(kSum, {kLargest, kLargest, -kLargest}), kLargest) << "only the value may overflow";
  EXPECT_EQ(value(kSum, {kLargest, kLargest}), INFINITY);
  EXPECT_EQ(value(kSum, {-kLargest, -kLargest}), -INFINITY);
  EXPECT_EQ(value(kSum, {kSmallest, kSmallest, -3 * kSmallest}), -kSmallest);
  EXPECT_EQ(value(kSum, {INFINITY, -kLargest}), INFINITY);
  EXPECT_EQ(value(kSum, {-INFINITY, 1, -INFINITY}), -INFINITY);
  for (const double x : {value(kSum, {INFINITY, -INFINITY}), value(kSum, {1, NAN}), value(kNorm, {NAN, INFINITY}),
                         value(GPUMEM_DOT_ORDER_FREE, {0, 1}, {INFINITY, 1})}) {
    EXPECT_EQ(std::bit_cast<uint64_t>(x), 0x7FF8000000000000u);
  }
  EXPECT_EQ(std::bit_cast<uint64_t>(value(kSum, {-0.0, -0.0})), 0u);
  EXPECT_EQ(std::bit_cast<uint64_t>(value(kSum, {1, -1})), 0u);
  EXPECT_EQ(value(kNorm, {-INFINITY, 1}), INFINITY);
  EXPECT_EQ(value(kNorm, {kLargest}), kLargest);
  EXPECT_EQ(value(kNorm, {kLargest, kLargest}), INFINITY);
  EXPECT_EQ(value(kNorm, {-kSmallest}), kSmallest);
  EXPECT_EQ(value(kNorm, std::vector<double>(4, kSmallest)), 2 * kSmallest);
  EXPECT_EQ(value(kNorm, {3e300, 4e300}), 5e300);
  EXPECT_EQ(value(kNorm, {3 * 0x1p-600, 4 * 0x1p-600}), 5 * 0x1p-600);
  EXPECT_EQ(value(kSum, {}), 0);
  EXPECT_EQ(value(kNorm, {}), 0);
}

TEST_P(OrderFree, OtherCallsRefuseThem) {
  const double x[4] = {};
  const int64_t offsets[2] = {0, 4};
  const int32_t index[4] = {};
  double result[4];
  for (const gpumem_reduce_op op : {GPUMEM_SUM_ORDER_FREE, GPUMEM_NRM2_ORDER_FREE}) {
    EXPECT_TRUE(refused(GPUMEM_UNSUPPORTED,
                        gpumem_reduce_axis(ctx, GPUMEM_F64, op, GPUMEM_AXIS_ROWS, x, 2, 2, 2, 1, 0, result), {"op"}));
    EXPECT_TRUE(
        refused(GPUMEM_UNSUPPORTED, gpumem_reduce_segments(ctx, GPUMEM_F64, op, x, 4, offsets, 1, result), {"op"}));
    EXPECT_TRUE(refused(GPUMEM_UNSUPPORTED,
                        gpumem_reduce_by_index(ctx, GPUMEM_F64, op, x, GPUMEM_I32, index, 4, result, 1), {"op"}));
    const int64_t four = 4;
    EXPECT_TRUE(refused(GPUMEM_UNSUPPORTED,
                        gpumem_reduce_axes(ctx, GPUMEM_F64, op, 1, &four, x, nullptr, 1, result, GPUMEM_F64), {"op"}));
    EXPECT_TRUE(refused(GPUMEM_UNSUPPORTED, gpumem_reduce(ctx, GPUMEM_I32, op, x, 4, 1, result), {"dtype"}));
    const int64_t many[] = {int64_t{1} << 21, int64_t{1} << 21};
    const int64_t zeros[] = {0, 0};
    EXPECT_TRUE(
        refused(GPUMEM_UNSUPPORTED, gpumem_reduce_view(ctx, GPUMEM_F64, op, 2, many, x, zeros, result), {"2^42"}));
  }
  const int64_t two = 2;
  EXPECT_TRUE(refused(GPUMEM_UNSUPPORTED,
                      gpumem_dot_order_free(ctx, GPUMEM_F16, 1, &two, x, nullptr, x, nullptr, result), {"dtype"}));
}

INSTANTIATE_TEST_SUITE_P(On, OrderFree, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
