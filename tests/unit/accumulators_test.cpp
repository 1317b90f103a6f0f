// The accumulators of integers, and the table of the operations that they stand in.
#include "kernels/accumulators.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "kernels/nodes.hpp"
#include "kernels/values.hpp"
#include "support/random.hpp"

namespace gpumem {
namespace {

using gpumem_test::Random;

ReduceValue product_of(gpumem_dtype dtype, const IntegerProductNode& node) {
  return value_of(dtype, GPUMEM_PROD, node);
}
std::array<uint64_t, 4> words(const ReduceNode& n) { return {n.word[0], n.word[1], n.word[2], n.word[3]}; }

// Factors of any size, next to powers of 2, and now and then 0, 1 or -1.
IntegerProductNode random_factor(Random& random) {
  const uint64_t top = random.below(64);
  const uint64_t near = (uint64_t{1} << top) - 1 + random.below(3);
  const uint64_t magnitude = random.below(5) == 0 ? random.below(2) : random.below(2) == 0 ? near : near >> 1;
  return {magnitude, random.below(2) != 0};
}

TEST(Accumulators, ProductsAreTheSameInAnyOrder) {
  Random random(1);
  int overflows = 0;
  int zeros = 0;
  for (int round = 0; round < 20000; ++round) {
    const IntegerProductNode a = random_factor(random);
    const IntegerProductNode b = random_factor(random);
    const IntegerProductNode c = random_factor(random);
    const IntegerProductNode left = combine(combine(a, b), c);
    EXPECT_EQ(words(left.stored()), words(combine(a, combine(b, c)).stored()));
    EXPECT_EQ(words(left.stored()), words(combine(combine(c, a), b).stored()));
    EXPECT_EQ(words(IntegerProductNode(left.stored()).stored()), words(left.stored()));
    EXPECT_EQ(words(combine(left, IntegerProductNode()).stored()), words(left.stored())) << "1 changes nothing";
    overflows += static_cast<int>(left.overflowed);
    zeros += left.magnitude == 0 ? 1 : 0;
  }
  EXPECT_GT(overflows, 1000);
  EXPECT_GT(zeros, 1000);
}

// Two factors are multiplied in 128 bits.
TEST(Accumulators, ProductsFitOrDoNot) {
  Random random(2);
  for (int round = 0; round < 20000; ++round) {
    const IntegerProductNode a = random_factor(random);
    const IntegerProductNode b = random_factor(random);
    const auto magnitude = static_cast<Uint128>(a.magnitude) * b.magnitude;
    const bool negative = a.negative != b.negative;
    const Uint128 most = (Uint128{1} << 63) - (negative ? 0 : 1);
    const ReduceValue value = product_of(GPUMEM_I64, combine(a, b));
    ASSERT_EQ(value.status, magnitude <= most ? GPUMEM_OK : GPUMEM_OVERFLOW);
    if (value.status == GPUMEM_OK) {
      const auto expected = static_cast<uint64_t>(magnitude);
      EXPECT_EQ(value.word[0], negative ? 0 - expected : expected);
    }
    const ReduceValue without_sign =
        product_of(GPUMEM_U64, combine(IntegerProductNode(a.magnitude, false), {b.magnitude, false}));
    EXPECT_EQ(without_sign.status, magnitude >> 64 == 0 ? GPUMEM_OK : GPUMEM_OVERFLOW);
  }
}

// Each way of adding up powers gives what the plain one does.
TEST(Accumulators, SumsOfPowersAgree) {
  Random random(3);
  IntegerNode squares;
  IntegerNode cubes;
  SplitSum split_squares{};
  SplitSum split_cubes{};
  IntegerNode squares32;
  IntegerNode cubes32;
  HalfSums<uint64_t> halves;
  CubeSums narrow;
  for (int round = 0; round < 20000; ++round) {
    const auto v = static_cast<int64_t>(random.bits());
    const auto bits = static_cast<uint64_t>(v);
    squares = combine(squares, integer_term(GPUMEM_I64, GPUMEM_SUM_SQUARES, bits));
    cubes = combine(cubes, integer_term(GPUMEM_I64, GPUMEM_SUM_CUBES, bits));
    split_squares.add_square(square_of(unsigned_magnitude(v)));
    const Cube cube = cube_of(unsigned_magnitude(v));
    split_cubes.add(cube.low, cube.high, v < 0);
    const auto small = static_cast<int32_t>(v);
    const auto extended = static_cast<uint64_t>(int64_t{small});
    squares32 = combine(squares32, integer_term(GPUMEM_I32, GPUMEM_SUM_SQUARES, extended));
    cubes32 = combine(cubes32, integer_term(GPUMEM_I32, GPUMEM_SUM_CUBES, extended));
    halves.add(term_of<Addend::square, uint64_t>(small));
    narrow.add(unsigned_magnitude(small), small < 0);
  }
  EXPECT_EQ(words(split_squares.stored()), words(squares.stored()));
  EXPECT_EQ(words(split_cubes.stored()), words(cubes.stored()));
  EXPECT_EQ(words(IntegerNode(joined_halves(halves.low, halves.high)).stored()), words(squares32.stored()));
  EXPECT_EQ(words(IntegerNode(narrow.total()).stored()), words(cubes32.stored()));
}

TEST(Operations, HaveNamesAndAnEmptyValueOrNone) {
  int count = 0;
  for (gpumem_reduce_op op = -2; op < 40; ++op) {
    if (!is_operation(op)) {
      EXPECT_EQ(operation_traits(op).word, nullptr) << op;
      continue;
    }
    ++count;
    EXPECT_LE(op, kLastOperation);
    EXPECT_NE(operation_traits(op).word, nullptr) << op;
    const bool extreme = is_search(op) || op == GPUMEM_MIN || op == GPUMEM_MAX || op == GPUMEM_MAX_ABS ||
                         op == GPUMEM_MIN_MAX || op == GPUMEM_MIN_VALID || op == GPUMEM_MAX_VALID;
    for (gpumem_dtype dtype = 0; dtype < kDtypes; ++dtype) {
      EXPECT_EQ(has_empty_value(dtype, op), !extreme) << op;
      const uint64_t one = is_floating(dtype) ? 0x3FF0000000000000 : 1;
      EXPECT_EQ(empty_word(dtype, op), op == GPUMEM_PROD ? one : 0) << op << " " << dtype;
    }
  }
  EXPECT_EQ(count, 24);
  EXPECT_EQ(kLastOperation, GPUMEM_DOT_ORDER_FREE);
}

}  // namespace
}  // namespace gpumem
