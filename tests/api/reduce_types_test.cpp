// Reductions of every type: known values at the ends of the types, ties, pairs, NaN, infinities and zeros of both signs.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "support/contexts.hpp"
#include "support/memory.hpp"
#include "support/reductions.hpp"

namespace gpumem_test {
namespace {

template <class T>
constexpr gpumem_dtype kType = -1;
template <>
constexpr gpumem_dtype kType<int8_t> = GPUMEM_I8;
template <>
constexpr gpumem_dtype kType<uint8_t> = GPUMEM_U8;
template <>
constexpr gpumem_dtype kType<int16_t> = GPUMEM_I16;
template <>
constexpr gpumem_dtype kType<uint16_t> = GPUMEM_U16;
template <>
constexpr gpumem_dtype kType<int32_t> = GPUMEM_I32;
template <>
constexpr gpumem_dtype kType<int64_t> = GPUMEM_I64;
template <>
constexpr gpumem_dtype kType<uint64_t> = GPUMEM_U64;
template <>
constexpr gpumem_dtype kType<double> = GPUMEM_F64;

constexpr uint64_t kNan = 0x7FF8000000000000;
constexpr double kInf = std::numeric_limits<double>::infinity();

class ReduceTypes : public OnEachContext {
 protected:
  template <class T>
  Outcome of(gpumem_reduce_op op, const std::vector<T>& x) {
    return outcome_of(ctx, {kType<T>, op, x.data(), static_cast<int64_t>(x.size())}, ++calls_ % 2 == 0);
  }
  template <class T>
  void expect(uint64_t value, gpumem_reduce_op op, const std::vector<T>& x) {
    EXPECT_TRUE(same({GPUMEM_OK, {value, 0}}, of(op, x))) << op_name(op);
  }
  template <class T>
  void expect_overflow(gpumem_reduce_op op, const std::vector<T>& x) {
    EXPECT_TRUE(same({GPUMEM_OVERFLOW, {}}, of(op, x))) << op_name(op);
  }
  void expect_bits(double value, gpumem_reduce_op op, const std::vector<double>& x) {
    expect(std::bit_cast<uint64_t>(value), op, x);
  }

 private:
  int calls_ = 0;
};

constexpr uint64_t word(int64_t value) { return static_cast<uint64_t>(value); }

TEST_P(ReduceTypes, SumsOf64BitsEndAtTheLimits) {
  const std::vector<int64_t> most = {INT64_MAX};
  expect(INT64_MAX, GPUMEM_SUM, most);
  expect_overflow<int64_t>(GPUMEM_SUM, {INT64_MAX, 1});
  expect<int64_t>(INT64_MAX, GPUMEM_SUM, {INT64_MAX, 1, -1});
  expect<int64_t>(word(INT64_MIN), GPUMEM_SUM, {INT64_MIN});
  expect_overflow<int64_t>(GPUMEM_SUM, {INT64_MIN, -1});
  expect<int64_t>(word(INT64_MIN), GPUMEM_SUM, {INT64_MIN, -1, 1});
  expect<int64_t>(word(-1), GPUMEM_SUM, {INT64_MIN, INT64_MAX});
  // 2 x 2^63: a sum modulo 2^64 would be 0.
  expect_overflow<int64_t>(GPUMEM_SUM, {INT64_MIN, INT64_MIN});
  expect<int64_t>(0, GPUMEM_SUM, {INT64_MIN, INT64_MIN, INT64_MAX, INT64_MAX, 2});
  std::vector<int64_t> far(70000, INT64_MAX);
  far.resize(140000, -INT64_MAX);
  far.push_back(INT64_MAX);
  expect(INT64_MAX, GPUMEM_SUM, far);
  far.push_back(1);
  expect_overflow(GPUMEM_SUM, far);
  expect<uint64_t>(UINT64_MAX, GPUMEM_SUM, {UINT64_MAX});
  expect<uint64_t>(UINT64_MAX, GPUMEM_SUM, {UINT64_MAX - 7, 7});
  expect_overflow<uint64_t>(GPUMEM_SUM, {UINT64_MAX, 1});
  expect_overflow(GPUMEM_SUM, std::vector<uint64_t>(65536, UINT64_MAX));
  expect_overflow<uint64_t>(GPUMEM_SUM, {uint64_t{1} << 63, uint64_t{1} << 63});
}

TEST_P(ReduceTypes, MagnitudesOfTheLowestInteger) {
  expect_overflow<int64_t>(GPUMEM_MAX_ABS, {INT64_MIN});
  expect_overflow<int64_t>(GPUMEM_MAX_ABS, {1, INT64_MIN, INT64_MAX});
  expect_overflow<int64_t>(GPUMEM_SUM_ABS, {INT64_MIN});
  expect<int64_t>(INT64_MAX, GPUMEM_MAX_ABS, {INT64_MIN + 1, 3});
  expect<int64_t>(INT64_MAX, GPUMEM_SUM_ABS, {INT64_MIN + 1});
  expect_overflow<int64_t>(GPUMEM_SUM_ABS, {INT64_MIN + 1, 1});
  expect<int8_t>(128, GPUMEM_MAX_ABS, {-128, 127});
  expect<int8_t>(255, GPUMEM_SUM_ABS, {-128, 127});
  expect<int16_t>(32768, GPUMEM_MAX_ABS, {-32768});
  expect<uint64_t>(UINT64_MAX, GPUMEM_MAX_ABS, {0, UINT64_MAX});
}

TEST_P(ReduceTypes, SquaresAndCubesOf64BitsMayLeave128BitsOnTheWay) {
  // (2^63)^3 and its like cancel; what is left fits, or does not.
  expect<int64_t>(0, GPUMEM_SUM_CUBES, {INT64_MAX, -INT64_MAX});
  expect<int64_t>(27, GPUMEM_SUM_CUBES, {INT64_MAX, INT64_MAX, 3, -INT64_MAX, -INT64_MAX});
  expect_overflow<int64_t>(GPUMEM_SUM_CUBES, {INT64_MIN});
  expect_overflow<int64_t>(GPUMEM_SUM_CUBES, {INT64_MAX});
  // (2^62)^3 x 8 = (2^63)^3, which is -(INT64_MIN)^3.
  std::vector<int64_t> x(9, int64_t{1} << 62);
  x[4] = INT64_MIN;
  expect<int64_t>(0, GPUMEM_SUM_CUBES, x);
  std::vector<int64_t> far(30000, INT64_MAX);
  far.resize(60000, -INT64_MAX);
  far.push_back(-(int64_t{1} << 21));  // its cube is -2^63
  expect<int64_t>(word(INT64_MIN), GPUMEM_SUM_CUBES, far);
  far.push_back(-1);
  expect_overflow(GPUMEM_SUM_CUBES, far);
  far.push_back(1);
  far.push_back(int64_t{1} << 21);
  far.push_back(int64_t{1} << 21);
  expect_overflow(GPUMEM_SUM_CUBES, far);
  far.push_back(-1);
  expect<int64_t>(INT64_MAX, GPUMEM_SUM_CUBES, far);
  // A sum modulo 2^64, 2^128 or 2^192 of these would be 0.
  expect_overflow<int64_t>(GPUMEM_SUM_SQUARES, {int64_t{1} << 32});
  expect_overflow(GPUMEM_SUM_SQUARES, std::vector<int64_t>(4, INT64_MIN));
  expect_overflow(GPUMEM_SUM_CUBES, std::vector<int64_t>(8, INT64_MIN));
  expect_overflow<uint64_t>(GPUMEM_SUM_SQUARES, {uint64_t{1} << 32});
  expect<uint64_t>(word(int64_t{-1} << 33) + 1, GPUMEM_SUM_SQUARES, {UINT32_MAX});
  expect_overflow(GPUMEM_SUM_SQUARES, std::vector<uint64_t>(4, uint64_t{1} << 63));
  expect_overflow(GPUMEM_SUM_CUBES, std::vector<uint64_t>(8, uint64_t{1} << 63));
  expect_overflow(GPUMEM_SUM_CUBES, std::vector<uint64_t>(70000, UINT64_MAX));
  expect<uint64_t>(uint64_t{1} << 63, GPUMEM_SUM_CUBES, {uint64_t{1} << 21});
  expect_overflow<uint64_t>(GPUMEM_SUM_CUBES, {uint64_t{1} << 21, uint64_t{1} << 21});
}

TEST_P(ReduceTypes, SquaresEndAtTheLimits) {
  // 3037000499^2 is the last square in int64_t, 4294967295^2 in uint64_t.
  constexpr int64_t kRoot = 3037000499;
  expect<int64_t>(word(kRoot * kRoot), GPUMEM_SUM_SQUARES, {-kRoot});
  expect_overflow<int64_t>(GPUMEM_SUM_SQUARES, {kRoot + 1});
  std::vector<int64_t> exactly = {kRoot};
  for (int64_t rest = INT64_MAX - kRoot * kRoot; rest > 0;) {
    auto root = static_cast<int64_t>(std::sqrt(static_cast<double>(rest)));
    while (root * root > rest) --root;
    exactly.push_back(-root);
    rest -= root * root;
  }
  expect(INT64_MAX, GPUMEM_SUM_SQUARES, exactly);
  exactly.push_back(1);
  expect_overflow(GPUMEM_SUM_SQUARES, exactly);
}

TEST_P(ReduceTypes, SmallTypesAreWidenedBeforeTheyAreMultiplied) {
  expect<int8_t>(word(-128), GPUMEM_SUM, {-128});
  expect<int8_t>(16384, GPUMEM_SUM_SQUARES, {-128});
  expect<int8_t>(word(-2097152), GPUMEM_SUM_CUBES, {-128});
  expect<uint8_t>(16581375, GPUMEM_SUM_CUBES, {255});
  expect<uint16_t>(uint64_t{65535} * 65535 * 65535, GPUMEM_SUM_CUBES, {65535});
  expect<int16_t>(word(-(int64_t{1} << 45)), GPUMEM_SUM_CUBES, {-32768});
  expect(uint64_t{255} * 1000000, GPUMEM_SUM, std::vector<uint8_t>(1000000, 255));
  expect(word(-128 * int64_t{1000000}), GPUMEM_SUM, std::vector<int8_t>(1000000, -128));
  expect(uint64_t{255 * 255 * 255} * 1000000, GPUMEM_SUM_CUBES, std::vector<uint8_t>(1000000, 255));
}

TEST_P(ReduceTypes, TheLowestIndexAmongEqualsIsGiven) {
  std::vector<int64_t> x(5000, 7);
  EXPECT_TRUE(same({GPUMEM_OK, {7, 0}}, of(GPUMEM_ARG_MIN, x)));
  EXPECT_TRUE(same({GPUMEM_OK, {7, 0}}, of(GPUMEM_ARG_MAX, x)));
  for (const size_t at : {size_t{4999}, size_t{3000}, size_t{1025}, size_t{130}, size_t{5}, size_t{0}}) {
    x[at] = -9;
    EXPECT_TRUE(same({GPUMEM_OK, {word(-9), at}}, of(GPUMEM_ARG_MIN, x)));
  }
  x.assign(70000, INT64_MIN);
  EXPECT_TRUE(same({GPUMEM_OK, {word(INT64_MIN), 0}}, of(GPUMEM_ARG_MAX, x))) << "the value that nothing is below";
  EXPECT_TRUE(same({GPUMEM_OK, {UINT64_MAX, 0}}, of(GPUMEM_ARG_MIN, std::vector<uint64_t>(70000, UINT64_MAX))));
  EXPECT_TRUE(
      same({GPUMEM_OK, {std::bit_cast<uint64_t>(kInf), 0}}, of(GPUMEM_ARG_MIN, std::vector<double>(70000, kInf))));
  EXPECT_TRUE(
      same({GPUMEM_OK, {std::bit_cast<uint64_t>(-kInf), 0}}, of(GPUMEM_ARG_MAX, std::vector<double>(70000, -kInf))));
}

TEST_P(ReduceTypes, TheFirstOfTheLargestMagnitudesIsGiven) {
  std::vector<double> x(5000, 7);
  EXPECT_TRUE(same({GPUMEM_OK, {std::bit_cast<uint64_t>(7.0), 0}}, of(GPUMEM_ARG_MAX_ABS, x)));
  x[4999] = 9;
  for (const size_t at : {size_t{3000}, size_t{1025}, size_t{130}, size_t{5}, size_t{0}}) {
    x[at] = at % 2 == 0 ? -9 : 9;
    EXPECT_TRUE(same({GPUMEM_OK, {std::bit_cast<uint64_t>(9.0), at}}, of(GPUMEM_ARG_MAX_ABS, x)));
  }
  x.assign(70000, -0.0);
  x[0] = 0.0;
  EXPECT_TRUE(same({GPUMEM_OK, {0, 0}}, of(GPUMEM_ARG_MAX_ABS, x)));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(same({GPUMEM_OK, {kNan, 1}}, of<double>(GPUMEM_ARG_MAX_ABS, {-kInf, -nan, nan, kInf})));
  EXPECT_TRUE(same({GPUMEM_OK, {128, 1}}, of<int8_t>(GPUMEM_ARG_MAX_ABS, {127, -128, -127, -128})));
  EXPECT_TRUE(same({GPUMEM_OK, {255, 2}}, of<uint8_t>(GPUMEM_ARG_MAX_ABS, {128, 127, 255, 255})));
  EXPECT_TRUE(same({GPUMEM_OK, {uint64_t{1} << 31, 1}}, of<int32_t>(GPUMEM_ARG_MAX_ABS, {INT32_MAX, INT32_MIN})));
  EXPECT_TRUE(same({GPUMEM_OK, {INT64_MAX, 1}}, of<int64_t>(GPUMEM_ARG_MAX_ABS, {3, -INT64_MAX, INT64_MAX})));
  EXPECT_TRUE(same({GPUMEM_OVERFLOW, {}}, of<int64_t>(GPUMEM_ARG_MAX_ABS, {3, INT64_MIN, INT64_MAX})));
}

TEST_P(ReduceTypes, IndicesCountTheStridedSequence) {
  std::vector<int32_t> x(3 * 1000, -100);
  for (size_t i = 0; i < 1000; ++i) x[3 * i] = static_cast<int32_t>(i == 613 ? -5 : 5);
  int64_t value = 0;
  int64_t index = -1;
  ASSERT_TRUE(ok(gpumem_argreduce_i32(ctx, GPUMEM_MIN, x.data(), 1000, 3, &value, &index)));
  EXPECT_EQ(value, -5);
  EXPECT_EQ(index, 613);
  index = -1;
  ASSERT_TRUE(ok(gpumem_argreduce_i32(ctx, GPUMEM_MIN, x.data(), 1000, 3, nullptr, &index))) << "value may be NULL";
  EXPECT_EQ(index, 613);
  index = -1;
  ASSERT_TRUE(ok(gpumem_argreduce(ctx, GPUMEM_I32, GPUMEM_MAX, x.data(), 1000, 3, nullptr, &index)));
  EXPECT_EQ(index, 0);
}

TEST_P(ReduceTypes, NaNsAndZerosHaveTheirOrder) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double other_nan = std::bit_cast<double>(uint64_t{0xFFF4000000000123});
  for (const gpumem_reduce_op op :
       {GPUMEM_MIN, GPUMEM_MAX, GPUMEM_MAX_ABS, GPUMEM_SUM, GPUMEM_SUM_ABS, GPUMEM_SUM_SQUARES, GPUMEM_SUM_CUBES,
        GPUMEM_SUM_COMPENSATED, GPUMEM_NRM2, GPUMEM_PROD}) {
    for (const double bad : {nan, other_nan, -nan}) {
      expect(kNan, op, std::vector<double>{1, bad, kInf});
      expect(kNan, op, std::vector<double>{bad});
      std::vector<double> x(20000, 1);
      x[19876] = bad;
      expect(kNan, op, x);
    }
  }
  EXPECT_TRUE(same({GPUMEM_OK, {kNan, kNan}}, of<double>(GPUMEM_MIN_MAX, {1, other_nan, 2})));
  EXPECT_TRUE(same({GPUMEM_OK, {kNan, 2}}, of<double>(GPUMEM_ARG_MIN, {1, -kInf, nan, -5, other_nan})));
  EXPECT_TRUE(same({GPUMEM_OK, {kNan, 1}}, of<double>(GPUMEM_ARG_MAX, {1, other_nan, nan, kInf})));
  // -0 is less than +0.
  expect_bits(-0.0, GPUMEM_MIN, {0.0, -0.0, 0.0});
  expect_bits(0.0, GPUMEM_MAX, {-0.0, 0.0, -0.0});
  expect_bits(-0.0, GPUMEM_MAX, {-0.0, -0.0});
  expect_bits(0.0, GPUMEM_MAX_ABS, {-0.0, -0.0});
  EXPECT_TRUE(same({GPUMEM_OK, {uint64_t{1} << 63, 0}}, of<double>(GPUMEM_MIN_MAX, {0.0, -0.0})));
  EXPECT_TRUE(same({GPUMEM_OK, {uint64_t{1} << 63, 2}}, of<double>(GPUMEM_ARG_MIN, {0.0, 0.0, -0.0, 0.0, -0.0})));
  EXPECT_TRUE(same({GPUMEM_OK, {0, 1}}, of<double>(GPUMEM_ARG_MAX, {-0.0, 0.0, -0.0, 0.0})));
  // A sum of zeros is +0.
  for (const gpumem_reduce_op op :
       {GPUMEM_SUM, GPUMEM_SUM_ABS, GPUMEM_SUM_SQUARES, GPUMEM_SUM_CUBES, GPUMEM_SUM_COMPENSATED, GPUMEM_NRM2}) {
    expect_bits(0.0, op, {-0.0});
    expect_bits(0.0, op, std::vector<double>(3000, -0.0));
  }
  expect_bits(0.0, GPUMEM_SUM, {1.5, -1.5});
}

TEST_P(ReduceTypes, NaNsAreSkipped) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double other_nan = std::bit_cast<double>(uint64_t{0xFFF4000000000123});
  const std::vector<double> x = {nan, 2, -0.0, other_nan, 0.0, -7, 2, -nan};
  expect_bits(-3, GPUMEM_SUM_VALID, x);
  expect_bits(5, GPUMEM_COUNT_VALID, x);
  expect_bits(-7, GPUMEM_MIN_VALID, x);
  expect_bits(2, GPUMEM_MAX_VALID, x);
  EXPECT_TRUE(same({GPUMEM_OK, {std::bit_cast<uint64_t>(-7.0), 5}}, of(GPUMEM_ARG_MIN_VALID, x)));
  EXPECT_TRUE(same({GPUMEM_OK, {std::bit_cast<uint64_t>(2.0), 1}}, of(GPUMEM_ARG_MAX_VALID, x)));
  EXPECT_TRUE(same({GPUMEM_OK, {uint64_t{1} << 63, 2}}, of<double>(GPUMEM_ARG_MIN_VALID, {nan, 0.0, -0.0, -0.0})));
  EXPECT_TRUE(same({GPUMEM_OK, {0, 2}}, of<double>(GPUMEM_ARG_MAX_VALID, {nan, -0.0, 0.0, 0.0})));
  // Infinities are numbers.
  expect_bits(kInf, GPUMEM_SUM_VALID, {nan, kInf, 1});
  expect(kNan, GPUMEM_SUM_VALID, std::vector<double>{kInf, nan, -kInf});
  expect_bits(2, GPUMEM_COUNT_VALID, {kInf, nan, -kInf});
  EXPECT_TRUE(same({GPUMEM_OK, {std::bit_cast<uint64_t>(kInf), 1}}, of<double>(GPUMEM_ARG_MIN_VALID, {nan, kInf})));
  EXPECT_TRUE(same({GPUMEM_OK, {std::bit_cast<uint64_t>(-kInf), 1}}, of<double>(GPUMEM_ARG_MAX_VALID, {nan, -kInf})));
  for (const size_t n : {1, 2, 7, 130, 1024, 1025, 20000}) {
    std::vector<double> none(n, other_nan);
    expect_bits(0, GPUMEM_SUM_VALID, none);
    expect_bits(0, GPUMEM_COUNT_VALID, none);
    for (const gpumem_reduce_op op : {GPUMEM_MIN_VALID, GPUMEM_MAX_VALID}) expect(kNan, op, none);
    for (const gpumem_reduce_op op : {GPUMEM_ARG_MIN_VALID, GPUMEM_ARG_MAX_VALID}) {
      EXPECT_TRUE(same({GPUMEM_OK, {kNan, 0}}, of(op, none))) << n;
    }
    none.back() = -3;
    expect_bits(-3, GPUMEM_SUM_VALID, none);
    expect_bits(1, GPUMEM_COUNT_VALID, none);
    for (const gpumem_reduce_op op : {GPUMEM_MIN_VALID, GPUMEM_MAX_VALID}) expect_bits(-3, op, none);
    for (const gpumem_reduce_op op : {GPUMEM_ARG_MIN_VALID, GPUMEM_ARG_MAX_VALID}) {
      EXPECT_TRUE(same({GPUMEM_OK, {std::bit_cast<uint64_t>(-3.0), n - 1}}, of(op, none))) << n;
    }
    expect_bits(static_cast<double>(n), GPUMEM_COUNT_VALID, std::vector<double>(n, 0.0));
  }
}

TEST_P(ReduceTypes, ProductsOfIntegersEndAtTheLimits) {
  constexpr int64_t k62 = int64_t{1} << 62;
  const std::vector<int64_t> most = {49, 73, 127, 337, 92737, 649657};
  expect(INT64_MAX, GPUMEM_PROD, most);
  expect<int64_t>(word(-7), GPUMEM_PROD, {-7});
  expect<int64_t>(word(INT64_MIN), GPUMEM_PROD, {INT64_MIN});
  expect<int64_t>(word(INT64_MIN), GPUMEM_PROD, {k62, -2});
  expect<int64_t>(word(INT64_MIN), GPUMEM_PROD, {-k62, 2});
  expect<int64_t>(word(INT64_MIN), GPUMEM_PROD, {INT64_MIN, -1, -1});
  expect_overflow<int64_t>(GPUMEM_PROD, {k62, 2});
  expect_overflow<int64_t>(GPUMEM_PROD, {-k62, -2});
  expect_overflow<int64_t>(GPUMEM_PROD, {INT64_MIN, -1});
  expect_overflow<int64_t>(GPUMEM_PROD, {INT64_MIN, INT64_MIN, -1});
  // 2^64: a product modulo 2^64 would be 0.
  expect_overflow<int64_t>(GPUMEM_PROD, {int64_t{1} << 32, int64_t{1} << 32});
  expect_overflow<uint64_t>(GPUMEM_PROD, {uint64_t{1} << 32, uint64_t{1} << 32});
  expect<uint64_t>(uint64_t{1} << 63, GPUMEM_PROD, {uint64_t{1} << 32, uint64_t{1} << 31});
  expect<uint64_t>(UINT64_MAX, GPUMEM_PROD, {3, 5, 17, 257, 641, 65537, 6700417});
  expect_overflow<uint64_t>(GPUMEM_PROD, {3, 5, 17, 257, 641, 65537, 6700417, 2});
  expect_overflow<uint64_t>(GPUMEM_PROD, {UINT64_MAX, UINT64_MAX});
  expect(word(INT64_MIN), GPUMEM_PROD, std::vector<int8_t>(9, -128));
  expect_overflow(GPUMEM_PROD, std::vector<int8_t>(10, -128));
  expect(uint64_t{1} << 63, GPUMEM_PROD, std::vector<uint8_t>(9, 128));
  expect(uint64_t{65535} * 65535 * 65535, GPUMEM_PROD, std::vector<uint16_t>(3, 65535));
  expect<int16_t>(word(-32768) * 32767, GPUMEM_PROD, {-32768, 32767});
}

// A factor 0 takes an overflow back, wherever either lies.
TEST_P(ReduceTypes, ProductsWithZerosAreZero) {
  expect<int64_t>(0, GPUMEM_PROD, {INT64_MIN, INT64_MIN, 0});
  expect<int64_t>(0, GPUMEM_PROD, {0, INT64_MIN, INT64_MIN});
  for (const int64_t n : {40, 3000, 140001}) {
    std::vector<int32_t> x(static_cast<size_t>(n), -1);
    expect(word(n % 2 == 0 ? 1 : -1), GPUMEM_PROD, x);
    for (size_t i = 0; i < 31; ++i) x[i] = 4;
    expect(word(n % 2 == 0 ? -1 : 1) << 62, GPUMEM_PROD, x);
    x[static_cast<size_t>(n) - 1] = 2;
    EXPECT_EQ(of(GPUMEM_PROD, x).status, n % 2 == 0 ? GPUMEM_OVERFLOW : GPUMEM_OK) << "2^63 or -2^63";
    x[static_cast<size_t>(n) / 2] = -8;
    expect_overflow(GPUMEM_PROD, x);
    for (const size_t zero : {size_t{0}, static_cast<size_t>(n) / 3 * 2, static_cast<size_t>(n) - 1}) {
      std::vector<int32_t> with_zero = x;
      with_zero[zero] = 0;
      expect(0, GPUMEM_PROD, with_zero);
    }
  }
}

// In the order of sums: 0 meets 2 before 1, and 128 before either.
TEST_P(ReduceTypes, ProductsOfFloatsKeepTheOrder) {
  expect_bits(1, GPUMEM_PROD, {0x1p600, 0x1p600, 0x1p-600, 0x1p-600});
  expect(kNan, GPUMEM_PROD, std::vector<double>{0x1p600, 0x1p-600, 0x1p600, 0x1p-600});
  std::vector<double> x(129, 1);
  x[0] = x[1] = 0x1p600;
  x[64] = 0x1p-600;
  x[128] = 0x1p500;
  expect_bits(kInf, GPUMEM_PROD, x);
  std::swap(x[64], x[128]);
  x[65] = 0x1p-700;
  expect_bits(0x1p400, GPUMEM_PROD, x);
  std::vector<double> leaves(4096, 1);
  leaves[0] = leaves[2048] = 0x1p600;
  leaves[1024] = leaves[3072] = 0x1p-600;
  expect_bits(1, GPUMEM_PROD, leaves);
  std::swap(leaves[1024], leaves[2048]);
  expect(kNan, GPUMEM_PROD, leaves);
  expect_bits(0x1p-1064, GPUMEM_PROD, {0x1p-1074, 0x1p10});
  expect_bits(0, GPUMEM_PROD, {0x1p-600, 0x1p-600});
  expect_bits(-0.0, GPUMEM_PROD, {-0.0, 5});
  expect_bits(0.0, GPUMEM_PROD, {-0.0, -5});
  expect_bits(-kInf, GPUMEM_PROD, {kInf, -2});
  expect_bits(kInf, GPUMEM_PROD, {1e308, 1e308});
  expect(kNan, GPUMEM_PROD, std::vector<double>{0, kInf});
}

TEST_P(ReduceTypes, InfinitiesCountAsArithmeticSays) {
  expect_bits(kInf, GPUMEM_SUM, {kInf, 1});
  expect_bits(-kInf, GPUMEM_SUM, {-kInf, 1e308});
  expect(kNan, GPUMEM_SUM, std::vector<double>{kInf, -kInf});
  expect(kNan, GPUMEM_SUM_CUBES, std::vector<double>{kInf, 5, -kInf});
  expect_bits(kInf, GPUMEM_SUM_SQUARES, {kInf, -kInf});
  expect_bits(kInf, GPUMEM_SUM_ABS, {kInf, -kInf});
  expect_bits(kInf, GPUMEM_SUM, {1e308, 1e308});
  expect_bits(kInf, GPUMEM_SUM_COMPENSATED, {1e308, 1e308});
  expect_bits(-kInf, GPUMEM_SUM_COMPENSATED, {-kInf, 1});
  expect(kNan, GPUMEM_SUM_COMPENSATED, std::vector<double>{kInf, -kInf});
  expect_bits(-kInf, GPUMEM_MIN, {1, -kInf});
  expect_bits(kInf, GPUMEM_MAX_ABS, {1, -kInf});
}

TEST_P(ReduceTypes, HalvesAndBrainFloatsBecomeDoubles) {
  const std::vector<uint16_t> halves = {0x3C00, 0x4000, 0xC200, 0x0001};  // 1, 2, -3, 2^-24
  const auto half = [&](gpumem_reduce_op op) {
    return std::bit_cast<double>(outcome_of(ctx, {GPUMEM_F16, op, halves.data(), 4}).words[0]);
  };
  EXPECT_EQ(half(GPUMEM_SUM), 0x1p-24);
  EXPECT_EQ(half(GPUMEM_SUM_ABS), 6 + 0x1p-24);
  EXPECT_EQ(half(GPUMEM_SUM_SQUARES), 14 + 0x1p-48);
  EXPECT_EQ(half(GPUMEM_MIN), -3);
  EXPECT_EQ(half(GPUMEM_MAX_ABS), 3);
  const std::vector<uint16_t> brains = {0x3F80, 0x4000, 0xC040, 0x0001};  // 1, 2, -3, 2^-133
  const auto brain = [&](gpumem_reduce_op op) {
    return std::bit_cast<double>(outcome_of(ctx, {GPUMEM_BF16, op, brains.data(), 4}).words[0]);
  };
  EXPECT_EQ(brain(GPUMEM_SUM_CUBES), 1 + 8 - 27);
  EXPECT_EQ(brain(GPUMEM_MAX), 2);
  EXPECT_EQ(brain(GPUMEM_MIN), -3);
  const std::vector<uint16_t> tiny = {0x0001, 0x8000};
  EXPECT_EQ(std::bit_cast<double>(outcome_of(ctx, {GPUMEM_BF16, GPUMEM_MAX, tiny.data(), 2}).words[0]), 0x1p-133);
  EXPECT_EQ(std::bit_cast<double>(outcome_of(ctx, {GPUMEM_F16, GPUMEM_SUM, tiny.data(), 2}).words[0]), 0x1p-24);
}

TEST_P(ReduceTypes, OfNothing) {
  const double somewhere = 0;
  for (const gpumem_dtype dtype : kAllTypes) {
    for (const gpumem_reduce_op op : kAllOps) {
      if (!has(dtype, op)) continue;
      for (const void* x : {static_cast<const void*>(nullptr), static_cast<const void*>(&somewhere)}) {
        const Outcome expected{needs_elements(op) ? GPUMEM_EMPTY : GPUMEM_OK, {empty_word(dtype, op), 0}};
        for (const bool typed : {false, true}) {
          EXPECT_TRUE(same(expected, outcome_of(ctx, {dtype, op, x, 0, 1, x, 1}, typed)))
              << op_name(op) << " of " << info_of(dtype).name;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(On, ReduceTypes, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
