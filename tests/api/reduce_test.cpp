// gpumem_reduce_i32: known values, exactness at the ends of int64_t, outcomes. Other types are reduce_types_test.cpp's matter;
// shapes, strides and kinds of memory the conformance tests'.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "support/contexts.hpp"
#include "support/memory.hpp"
#include "support/pages.hpp"

namespace gpumem_test {
namespace {

constexpr int64_t kPoison = 0x5A5A5A5A5A5A5A5A;
constexpr gpumem_reduce_op kOps[] = {GPUMEM_SUM,         GPUMEM_MIN,       GPUMEM_MAX,    GPUMEM_SUM_ABS,
                                     GPUMEM_SUM_SQUARES, GPUMEM_SUM_CUBES, GPUMEM_MAX_ABS};

class Reduce : public OnEachContext {
 protected:
  // The value, or the poison it was set to before where the status is not OK.
  int64_t reduce(gpumem_reduce_op op, const std::vector<int32_t>& x, gpumem_status expected = GPUMEM_OK) {
    int64_t result = kPoison;
    EXPECT_TRUE(gives(expected, gpumem_reduce_i32(ctx, op, x.data(), static_cast<int64_t>(x.size()), 1, &result)));
    return result;
  }
  void expect_overflow(gpumem_reduce_op op, const std::vector<int32_t>& x) {
    EXPECT_EQ(reduce(op, x, GPUMEM_OVERFLOW), kPoison) << "the result was touched";
  }
};

TEST_P(Reduce, KnownValues) {
  const std::vector<int32_t> x = {3, -7, 2, 0, -7, 5};
  EXPECT_EQ(reduce(GPUMEM_SUM, x), -4);
  EXPECT_EQ(reduce(GPUMEM_MIN, x), -7);
  EXPECT_EQ(reduce(GPUMEM_MAX, x), 5);
  EXPECT_EQ(reduce(GPUMEM_SUM_ABS, x), 24);
  EXPECT_EQ(reduce(GPUMEM_SUM_SQUARES, x), 9 + 49 + 4 + 49 + 25);
  EXPECT_EQ(reduce(GPUMEM_SUM_CUBES, x), 27 - 343 + 8 - 343 + 125);
  EXPECT_EQ(reduce(GPUMEM_MAX_ABS, x), 7);
}

TEST_P(Reduce, TheLowestInteger) {
  const std::vector<int32_t> one = {INT32_MIN};
  EXPECT_EQ(reduce(GPUMEM_SUM, one), INT32_MIN);
  EXPECT_EQ(reduce(GPUMEM_MIN, one), INT32_MIN);
  EXPECT_EQ(reduce(GPUMEM_MAX, one), INT32_MIN);
  EXPECT_EQ(reduce(GPUMEM_SUM_ABS, one), int64_t{1} << 31);
  EXPECT_EQ(reduce(GPUMEM_SUM_SQUARES, one), int64_t{1} << 62);
  expect_overflow(GPUMEM_SUM_CUBES, one);
  EXPECT_EQ(reduce(GPUMEM_MAX_ABS, one), int64_t{1} << 31);
  const std::vector<int32_t> many(100000, INT32_MIN);
  EXPECT_EQ(reduce(GPUMEM_SUM, many), int64_t{INT32_MIN} * 100000);
  EXPECT_EQ(reduce(GPUMEM_SUM_ABS, many), -int64_t{INT32_MIN} * 100000);
  EXPECT_EQ(reduce(GPUMEM_MAX_ABS, many), int64_t{1} << 31);
  EXPECT_EQ(reduce(GPUMEM_MAX_ABS, {INT32_MAX, INT32_MIN, INT32_MAX}), int64_t{1} << 31);
  EXPECT_EQ(reduce(GPUMEM_MAX_ABS, {INT32_MAX, -INT32_MAX}), INT32_MAX);
}

TEST_P(Reduce, TheHighestInteger) {
  const std::vector<int32_t> many(100000, INT32_MAX);
  EXPECT_EQ(reduce(GPUMEM_SUM, many), int64_t{INT32_MAX} * 100000);
  EXPECT_EQ(reduce(GPUMEM_MIN, many), INT32_MAX);
  EXPECT_EQ(reduce(GPUMEM_MAX, many), INT32_MAX);
  EXPECT_EQ(reduce(GPUMEM_SUM_SQUARES, {INT32_MAX, INT32_MAX}), 2 * (int64_t{INT32_MAX} * INT32_MAX));
}

// Integers whose squares add up to `rest`: the largest square each time, so that few are needed.
std::vector<int32_t> squares_of(int64_t rest) {
  std::vector<int32_t> x;
  while (rest > 0) {
    int64_t root = std::min<int64_t>(INT32_MAX, static_cast<int64_t>(__builtin_sqrtl(static_cast<long double>(rest))));
    while (root * root > rest) --root;
    x.push_back(static_cast<int32_t>(x.size() % 2 == 0 ? root : -root));
    rest -= root * root;
  }
  return x;
}

TEST_P(Reduce, SquaresOverflowExactlyPastTheLargest) {
  std::vector<int32_t> x = squares_of(INT64_MAX);
  EXPECT_EQ(reduce(GPUMEM_SUM_SQUARES, x), INT64_MAX);
  x.push_back(1);
  expect_overflow(GPUMEM_SUM_SQUARES, x);
  x.back() = 0;
  EXPECT_EQ(reduce(GPUMEM_SUM_SQUARES, x), INT64_MAX);
  expect_overflow(GPUMEM_SUM_SQUARES, {INT32_MIN, INT32_MIN});
  // 4 x 2^62: a sum modulo 2^64 would be 0.
  expect_overflow(GPUMEM_SUM_SQUARES, std::vector<int32_t>(4, INT32_MIN));
  expect_overflow(GPUMEM_SUM_SQUARES, std::vector<int32_t>(65536, INT32_MIN));
}

TEST_P(Reduce, CubesOverflowExactlyPastTheEnds) {
  constexpr int32_t kRoot = 1 << 21;  // its cube is 2^63
  expect_overflow(GPUMEM_SUM_CUBES, {kRoot});
  EXPECT_EQ(reduce(GPUMEM_SUM_CUBES, {kRoot, -1}), INT64_MAX);
  EXPECT_EQ(reduce(GPUMEM_SUM_CUBES, {-kRoot}), INT64_MIN);
  expect_overflow(GPUMEM_SUM_CUBES, {-kRoot, -1});
  EXPECT_EQ(reduce(GPUMEM_SUM_CUBES, {-kRoot, 1}), INT64_MIN + 1);
  // 2 x 2^63: a sum modulo 2^64 would be 0.
  expect_overflow(GPUMEM_SUM_CUBES, {kRoot, kRoot});
  expect_overflow(GPUMEM_SUM_CUBES, std::vector<int32_t>(65536, kRoot));
}

TEST_P(Reduce, CubesMayLeave64BitsOnTheWay) {
  EXPECT_EQ(reduce(GPUMEM_SUM_CUBES, {INT32_MAX, -INT32_MAX}), 0);
  EXPECT_EQ(reduce(GPUMEM_SUM_CUBES, {INT32_MAX, INT32_MAX, 5, -INT32_MAX, -INT32_MAX}), 125);
  // (2^31)^3 = 8 x (2^30)^3
  std::vector<int32_t> x(9, 1 << 30);
  x[4] = INT32_MIN;
  EXPECT_EQ(reduce(GPUMEM_SUM_CUBES, x), 0);
  // All the large ones first: the sum climbs to 2^93 x 20000 before it comes back.
  std::vector<int32_t> far(20000, INT32_MAX);
  far.resize(40000, -INT32_MAX);
  far.push_back(-3);
  EXPECT_EQ(reduce(GPUMEM_SUM_CUBES, far), -27);
  far.push_back(1 << 21);
  EXPECT_EQ(reduce(GPUMEM_SUM_CUBES, far), INT64_MAX - 26);
  far.insert(far.end(), 9, 2);
  expect_overflow(GPUMEM_SUM_CUBES, far);
}

TEST_P(Reduce, OfNothing) {
  const std::vector<int32_t> x(4, 9);
  for (const int32_t* p : {static_cast<const int32_t*>(nullptr), x.data()}) {
    for (const gpumem_reduce_op op : kOps) {
      const bool is_sum = op != GPUMEM_MIN && op != GPUMEM_MAX && op != GPUMEM_MAX_ABS;
      int64_t result = kPoison;
      const gpumem_status status = gpumem_reduce_i32(ctx, op, p, 0, 1, &result);
      if (is_sum) {
        EXPECT_TRUE(ok(status)) << op;
        EXPECT_EQ(result, 0) << op;
      } else {
        EXPECT_TRUE(refused(GPUMEM_EMPTY, status, {"n", "0"})) << op;
        EXPECT_EQ(result, kPoison) << op;
      }
    }
  }
}

TEST_P(Reduce, TheResultMayLieInAnyMemory) {
  const std::vector<int32_t> x = {1, 2, 3};
  for (const gpumem_memory_kind kind : kAllKinds) {
    GuardedBuffer result(ctx, kind, sizeof(int64_t));
    auto* const p = reinterpret_cast<int64_t*>(result.data());
    ASSERT_TRUE(ok(gpumem_reduce_i32(ctx, GPUMEM_SUM, x.data(), 3, 1, p))) << kind_name(kind);
    const int64_t expected = 6;
    std::memcpy(result.image(), &expected, sizeof expected);
    EXPECT_TRUE(result.intact()) << kind_name(kind);
    EXPECT_TRUE(gives(GPUMEM_OVERFLOW,
                      gpumem_reduce_i32(ctx, GPUMEM_SUM_CUBES, std::vector<int32_t>(2, INT32_MAX).data(), 2, 1, p)));
    EXPECT_TRUE(gives(GPUMEM_EMPTY, gpumem_reduce_i32(ctx, GPUMEM_MIN, x.data(), 0, 1, p)));
    EXPECT_TRUE(result.intact()) << kind_name(kind) << ": a failure touched the result";
    const Memory short_memory(ctx, kind == GPUMEM_MEMORY_PAGEABLE ? GPUMEM_MEMORY_PINNED : kind, 7);
    EXPECT_TRUE(refused(GPUMEM_OUT_OF_RANGE,
                        gpumem_reduce_i32(ctx, GPUMEM_SUM, x.data(), 3, 1, static_cast<int64_t*>(short_memory.get())),
                        {"result"}));
  }
}

TEST_P(Reduce, RefusesBadArguments) {
  const std::vector<int32_t> x(10, 1);
  int64_t result = kPoison;
  const auto call = [&](gpumem_reduce_op op, const int32_t* p, int64_t n, int64_t stride) {
    return gpumem_reduce_i32(ctx, op, p, n, stride, &result);
  };
  for (const gpumem_reduce_op op : {-1, 9, 16, INT32_MAX, INT32_MIN}) {
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, call(op, x.data(), 10, 1), {"op", std::to_string(op)}));
    EXPECT_TRUE(gives(GPUMEM_INVALID_ARGUMENT, call(op, x.data(), 0, 1)));
  }
  for (const gpumem_reduce_op op : kOps) {
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, call(op, x.data(), -1, 1), {"n", "-1"}));
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, call(op, x.data(), 10, 0), {"stride", "0"}));
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, call(op, x.data(), 10, -2), {"stride", "-2"}));
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, call(op, nullptr, 10, 1), {"x", "NULL"}));
  }
  EXPECT_TRUE(gives(GPUMEM_INVALID_ARGUMENT, call(GPUMEM_SUM, x.data(), INT64_MIN, 1)));
  EXPECT_TRUE(gives(GPUMEM_INVALID_ARGUMENT, call(GPUMEM_SUM, x.data(), 10, INT64_MIN)));
  EXPECT_EQ(result, kPoison);
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_reduce_i32(ctx, GPUMEM_SUM, x.data(), 10, 1, nullptr),
                      {"result", "NULL"}));
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_reduce_i32(nullptr, GPUMEM_SUM, x.data(), 10, 1, &result),
                      {"ctx", "NULL"}));
}

TEST_P(Reduce, RefusesProductsThatLeaveInt64) {
  const std::vector<int32_t> x(10, 1);
  int64_t result = kPoison;
  struct Shape {
    int64_t n, stride;
  };
  for (const Shape& s : {Shape{INT64_MAX, 1}, Shape{INT64_MAX, INT64_MAX}, Shape{int64_t{1} << 40, int64_t{1} << 40},
                         Shape{3, INT64_MAX / 2}, Shape{2, INT64_MAX / 2}, Shape{INT64_MAX / 4 + 1, 1}}) {
    EXPECT_TRUE(gives(GPUMEM_INVALID_ARGUMENT, gpumem_reduce_i32(ctx, GPUMEM_SUM, x.data(), s.n, s.stride, &result)))
        << s.n << " x " << s.stride;
  }
  EXPECT_NE(gpumem_reduce_i32(ctx, GPUMEM_SUM, x.data(), INT64_MAX / 4, 1, &result), GPUMEM_OK);
  EXPECT_EQ(result, kPoison);
}

TEST_P(Reduce, OneElementHasNoUseForItsStride) {
  const std::vector<int32_t> x = {77};
  int64_t result = 0;
  EXPECT_TRUE(ok(gpumem_reduce_i32(ctx, GPUMEM_SUM, x.data(), 1, INT64_MAX, &result)));
  EXPECT_EQ(result, 77);
}

TEST_P(Reduce, RangesEndWithTheirAllocation) {
  for (const gpumem_memory_kind kind : {GPUMEM_MEMORY_PINNED, GPUMEM_MEMORY_DEVICE, GPUMEM_MEMORY_MANAGED}) {
    const Memory memory(ctx, kind, 400);
    const auto* x = static_cast<const int32_t*>(memory.get());
    const Bytes zeros(400);
    upload(ctx, memory.get(), zeros.data(), 400);
    int64_t result = kPoison;
    EXPECT_TRUE(
        refused(GPUMEM_OUT_OF_RANGE, gpumem_reduce_i32(ctx, GPUMEM_SUM, x, 101, 1, &result), {"x", "404", "400"}));
    EXPECT_TRUE(gives(GPUMEM_OUT_OF_RANGE, gpumem_reduce_i32(ctx, GPUMEM_SUM, x, 51, 2, &result)));
    EXPECT_TRUE(gives(GPUMEM_OUT_OF_RANGE, gpumem_reduce_i32(ctx, GPUMEM_SUM, x + 1, 100, 1, &result)));
    EXPECT_TRUE(gives(GPUMEM_OUT_OF_RANGE, gpumem_reduce_i32(ctx, GPUMEM_SUM, x, INT64_MAX / 4, 1, &result)));
    EXPECT_EQ(result, kPoison);
    EXPECT_TRUE(ok(gpumem_reduce_i32(ctx, GPUMEM_SUM, x, 50, 2, &result)))
        << "the last stride reaches past, not the data";
    EXPECT_TRUE(ok(gpumem_reduce_i32(ctx, GPUMEM_SUM, x, 100, 1, &result)));
  }
}

TEST_P(Reduce, UnreadableMemoryIsRefused) {
  const FencedPages pages(4096);
  int64_t result = kPoison;
  const auto* end = reinterpret_cast<const int32_t*>(pages.end());
  EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, gpumem_reduce_i32(ctx, GPUMEM_SUM, end, 1, 1, &result), {"x"}));
  const gpumem_status tail = gpumem_reduce_i32(ctx, GPUMEM_SUM, end - 4, 5, 1, &result);
  EXPECT_TRUE(tail == GPUMEM_OUT_OF_RANGE || tail == GPUMEM_INVALID_POINTER) << gpumem_status_name(tail);
  const std::vector<int32_t> x(4, 1);
  EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER,
                      gpumem_reduce_i32(ctx, GPUMEM_SUM, x.data(), 4, 1, reinterpret_cast<int64_t*>(pages.end())),
                      {"result"}));
  EXPECT_EQ(result, kPoison);
  EXPECT_TRUE(ok(gpumem_reduce_i32(ctx, GPUMEM_SUM, end - 4, 4, 1, &result)));
}

INSTANTIATE_TEST_SUITE_P(On, Reduce, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
