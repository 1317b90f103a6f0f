// The reference itself, on what can be worked out by hand.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <vector>

#include "support/random.hpp"
#include "support/reductions.hpp"
#include "support/wide.hpp"

namespace gpumem_test {
namespace {

template <class T>
Outcome of(gpumem_dtype dtype, gpumem_reduce_op op, const std::vector<T>& x) {
  return reference(op, {dtype, x.data(), static_cast<int64_t>(x.size()), 1});
}

double value(const Outcome& outcome) { return std::bit_cast<double>(outcome.words[0]); }

TEST(Reference, DecodesHalvesAndBrainFloats) {
  const std::vector<uint16_t> halves = {0x3C00, 0xC000, 0x7BFF, 0x0001, 0x03FF, 0x0400, 0x8000, 0x7C00, 0xFC00, 0x7E00};
  const double expected[] = {1, -2, 65504, 0x1p-24, 0x3FFp-24, 0x1p-14, -0.0, INFINITY, -INFINITY, NAN};
  const std::vector<uint16_t> brains = {0x3F80, 0xC000, 0x7F7F, 0x0001, 0x007F, 0x0080, 0x8000, 0x7F80, 0xFF80, 0x7FC0};
  const double of_brains[] = {1, -2, 0x1.FEp127, 0x1p-133, 0x7Fp-133, 0x1p-126, -0.0, INFINITY, -INFINITY, NAN};
  for (int64_t i = 0; i < 10; ++i) {
    const double half = element({GPUMEM_F16, halves.data(), 10, 1}, i);
    const double brain = element({GPUMEM_BF16, brains.data(), 10, 1}, i);
    EXPECT_TRUE(i == 9 ? std::isnan(half) : half == expected[i] && std::signbit(half) == std::signbit(expected[i]))
        << i;
    EXPECT_TRUE(i == 9 ? std::isnan(brain) : brain == of_brains[i] && std::signbit(brain) == std::signbit(of_brains[i]))
        << i;
  }
}

TEST(Reference, DecodesAsTheMachineDoes) {
  Random random(2);
  for (int i = 0; i < 100000; ++i) {
    const uint64_t word = random.bits();
    const auto single = std::bit_cast<float>(static_cast<uint32_t>(word));
    const auto twofold = std::bit_cast<double>(word);
    const double a = element({GPUMEM_F32, &single, 1, 1}, 0);
    const double b = element({GPUMEM_F64, &twofold, 1, 1}, 0);
    ASSERT_TRUE(std::isnan(single) ? std::isnan(a) : a == double{single}) << hex(word);
    ASSERT_TRUE(std::isnan(twofold) ? std::isnan(b) : std::bit_cast<uint64_t>(b) == word) << hex(word);
  }
}

TEST(Reference, CountsInManyWords) {
  Random random(3);
  for (int i = 0; i < 10000; ++i) {
    const uint64_t a = random.bits() >> random.below(64);
    const uint64_t b = random.bits() >> random.below(64);
    const TwoWords product = TwoWords{a} * b;
    const Wide wide = Wide(a).times(b);
    EXPECT_EQ(wide.low(), static_cast<uint64_t>(product));
    EXPECT_EQ(wide.fits_word(), product >> 64 == 0);
    Wide sum = wide;
    for (int times = 1; times < 7; ++times) sum.add(wide);
    EXPECT_FALSE(sum < Wide(a).times(b).times(7) || Wide(a).times(b).times(7) < sum);
    EXPECT_EQ(sum.minus(Wide(a).times(b).times(6)).low(), wide.low());
  }
}

TEST(Reference, SumsExactly) {
  EXPECT_EQ(exact_sum({}), 0);
  EXPECT_EQ(exact_sum({1, -1}), 0);
  EXPECT_EQ(exact_sum({0x1p-1074, 0x1p-1074}), 0x1p-1073);
  EXPECT_EQ(exact_sum({1e308, 1e308, -1e308, 5e-324, -1e308}), 5e-324);
  EXPECT_EQ(exact_sum({1, 0x1p-53}), 1) << "a tie goes to the even one";
  EXPECT_EQ(exact_sum({1, 0x1p-53, 0x1p-1074}), 1 + 0x1p-52);
  EXPECT_EQ(exact_sum({1 + 0x1p-52, 0x1p-53}), 1 + 0x1p-51);
  EXPECT_EQ(exact_sum({-0x1.FFFFFFFFFFFFFp0, -0x1p-53}), -2);
  EXPECT_EQ(exact_sum({0x1.FFFFFFFFFFFFFp1023, -0x1p970}), 0x1.FFFFFFFFFFFFEp1023);
}

// The order, seen in sums whose roundings differ with it.
TEST(Reference, KeepsTheDocumentedOrder) {
  const double big = 0x1p53;
  // Terms 0 and 128 share a lane, 0 and 64 meet in the first fold, 0 and 1 in the last.
  std::vector<double> x(1024, 0);
  x[0] = big;
  x[1] = 1;
  x[65] = 1;  // meets x[1] first, so their sum is 2 when it comes to the big one
  EXPECT_EQ(value(of(GPUMEM_F64, GPUMEM_SUM, x)), big + 2);
  x[65] = 0;
  x[2] = 1;  // 0 + 2 come before 0 + 1
  EXPECT_EQ(value(of(GPUMEM_F64, GPUMEM_SUM, x)), big);
  x[2] = 0;
  x[129] = 1;  // in the lane of x[1]
  EXPECT_EQ(value(of(GPUMEM_F64, GPUMEM_SUM, x)), big + 2);
  // Leaves 1, 2 and 3: 0 + 1 first, then 2 + 3, then both.
  std::vector<double> leaves(4096, 0);
  leaves[0] = big;
  leaves[2048] = 1;
  leaves[3072] = 1;
  EXPECT_EQ(value(of(GPUMEM_F64, GPUMEM_SUM, leaves)), big + 2);
  leaves[3072] = 0;
  leaves[1024] = 1;
  EXPECT_EQ(value(of(GPUMEM_F64, GPUMEM_SUM, leaves)), big);
  EXPECT_EQ(value(of(GPUMEM_F64, GPUMEM_SUM_COMPENSATED, leaves)), big + 2);
}

TEST(Reference, MultipliesInTheDocumentedOrder) {
  EXPECT_EQ(value(of(GPUMEM_F64, GPUMEM_PROD, std::vector<double>{0x1p600, 0x1p600, 0x1p-600, 0x1p-600})), 1);
  EXPECT_TRUE(
      std::isnan(value(of(GPUMEM_F64, GPUMEM_PROD, std::vector<double>{0x1p600, 0x1p-600, 0x1p600, 0x1p-600}))));
  EXPECT_EQ(of(GPUMEM_I64, GPUMEM_PROD, std::vector<int64_t>{INT64_MIN, -1}).status, GPUMEM_OVERFLOW);
  EXPECT_EQ(of(GPUMEM_I64, GPUMEM_PROD, std::vector<int64_t>{INT64_MIN, 1}).words[0], uint64_t{1} << 63);
  EXPECT_EQ(of(GPUMEM_I64, GPUMEM_PROD, std::vector<int64_t>{INT64_MIN, -1, 0}).words[0], 0);
  EXPECT_EQ(of(GPUMEM_U64, GPUMEM_PROD, std::vector<uint64_t>{UINT64_MAX, 2}).status, GPUMEM_OVERFLOW);
  EXPECT_EQ(of(GPUMEM_I8, GPUMEM_PROD, std::vector<int8_t>{}).words[0], 1);
  EXPECT_EQ(value(of(GPUMEM_F32, GPUMEM_PROD, std::vector<float>{})), 1);
}

TEST(Reference, KnowsTheEndsOfIntegers) {
  const std::vector<int64_t> low = {INT64_MIN};
  EXPECT_EQ(of(GPUMEM_I64, GPUMEM_SUM, low).words[0], uint64_t{1} << 63);
  EXPECT_EQ(of(GPUMEM_I64, GPUMEM_SUM_ABS, low).status, GPUMEM_OVERFLOW);
  EXPECT_EQ(of(GPUMEM_I64, GPUMEM_MAX_ABS, low).status, GPUMEM_OVERFLOW);
  EXPECT_EQ(of(GPUMEM_I64, GPUMEM_SUM_CUBES, low).status, GPUMEM_OVERFLOW);
  EXPECT_EQ(of(GPUMEM_I64, GPUMEM_SUM, std::vector<int64_t>{INT64_MAX, 1}).status, GPUMEM_OVERFLOW);
  EXPECT_EQ(of(GPUMEM_I64, GPUMEM_SUM, std::vector<int64_t>{INT64_MAX, 1, -1}).words[0], INT64_MAX);
  EXPECT_EQ(of(GPUMEM_U64, GPUMEM_SUM, std::vector<uint64_t>{UINT64_MAX}).words[0], UINT64_MAX);
  EXPECT_EQ(of(GPUMEM_U64, GPUMEM_SUM, std::vector<uint64_t>{UINT64_MAX, 1}).status, GPUMEM_OVERFLOW);
  EXPECT_EQ(of(GPUMEM_I8, GPUMEM_SUM_CUBES, std::vector<int8_t>{-128, 2}).words[0],
            static_cast<uint64_t>(int64_t{-2097144}));
  EXPECT_EQ(of(GPUMEM_I16, GPUMEM_MIN, std::vector<int16_t>{5, -3, 7}).words[0], static_cast<uint64_t>(int64_t{-3}));
}

TEST(Reference, TakesNormsOfEverySize) {
  EXPECT_EQ(value(of(GPUMEM_F64, GPUMEM_NRM2, std::vector<double>{3, 4})), 5);
  EXPECT_EQ(value(of(GPUMEM_F64, GPUMEM_NRM2, std::vector<double>{3e300, 4e300})), 5e300);
  EXPECT_EQ(value(of(GPUMEM_F64, GPUMEM_NRM2, std::vector<double>{0x1p-1074})), 0x1p-1074);
  EXPECT_EQ(value(of(GPUMEM_F64, GPUMEM_NRM2, std::vector<double>{0x1.FFFFFFFFFFFFFp1023})), 0x1.FFFFFFFFFFFFFp1023);
  EXPECT_EQ(value(of(GPUMEM_F32, GPUMEM_NRM2, std::vector<float>{3e38f, 0})), double{3e38f});
}

}  // namespace
}  // namespace gpumem_test
