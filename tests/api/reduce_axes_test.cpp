// Reductions of some axes of a view: what is special about their arguments. Their values are the conformance tests' matter.
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "support/contexts.hpp"
#include "support/explain.hpp"
#include "support/memory.hpp"
#include "support/reductions.hpp"

namespace gpumem_test {
namespace {

constexpr int64_t kTwoByThree[] = {2, 3};

class ReduceAxes : public OnEachContext {
 protected:
  void TearDown() override {}  // no count of what is left: the members still live

  std::vector<double> sums(const std::vector<int64_t>& extents, const int64_t* strides, int32_t axes, size_t count) {
    std::vector<double> result(count + 1, -1);
    EXPECT_TRUE(ok(gpumem_reduce_axes(ctx, GPUMEM_F64, GPUMEM_SUM, static_cast<int32_t>(extents.size()), extents.data(),
                                      numbers.data(), strides, axes, result.data(), GPUMEM_F64)));
    EXPECT_EQ(result.back(), -1) << "written past the results";
    result.pop_back();
    return result;
  }
  // Nothing is written by a call that is refused, blocking or enqueued.
  void no(gpumem_status expected, const AxesReduction& r, std::initializer_list<std::string> words,
          int64_t offset = 0) {
    auto* const out = static_cast<uint64_t*>(results.get());
    for (const bool enqueued : {false, true}) {
      std::fill_n(out, 4, kUntouched);
      const CallForm form{enqueued, nullptr, reinterpret_cast<gpumem_status*>(out + 3)};
      EXPECT_TRUE(refused(expected, reductions::run_as(form, ctx, r, results.bytes() + offset), words))
          << (enqueued ? "enqueued" : "blocking");
      EXPECT_TRUE(ok(gpumem_stream_synchronize(ctx, nullptr)));
      for (int i = 0; i < 4; ++i) EXPECT_EQ(out[i], kUntouched);
    }
  }
  template <class Change>
  AxesReduction with(const Change& change) const {
    AxesReduction r{GPUMEM_F32, GPUMEM_SUM, 2, kTwoByThree, numbers.data(), nullptr, 1, GPUMEM_F64};
    change(r);
    return r;
  }
  static std::vector<double> first_numbers() {
    std::vector<double> x(60);
    std::iota(x.begin(), x.end(), 1.0);
    return x;
  }

  using Numbers = std::vector<double>;
  using R = AxesReduction;
  Numbers numbers = first_numbers();
  Memory results{ctx, GPUMEM_MEMORY_PINNED, 64};
};

TEST_P(ReduceAxes, KnownValues) {
  EXPECT_EQ(sums({2, 3}, nullptr, 0b01, 3), Numbers({1 + 4, 2 + 5, 3 + 6}));
  EXPECT_EQ(sums({2, 3}, nullptr, 0b10, 2), Numbers({1 + 2 + 3, 4 + 5 + 6}));
  EXPECT_EQ(sums({2, 3}, nullptr, 0b11, 1), Numbers({21}));
  EXPECT_EQ(sums({2, 3}, nullptr, 0, 6), Numbers({1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(sums({}, nullptr, 0, 1), Numbers({1})) << "one element";
  EXPECT_EQ(sums({2, 3, 4}, nullptr, 0b101, 3), Numbers({68, 100, 132}));
  const int64_t transposed[] = {1, 10};
  EXPECT_EQ(sums({2, 3}, transposed, 0b01, 3), Numbers({1 + 2, 11 + 12, 21 + 22}));
  const int64_t again[] = {0, 1};
  EXPECT_EQ(sums({4, 2}, again, 0b01, 2), Numbers({4, 8})) << "elements that repeat";
  const int64_t unused[] = {2, INT64_MAX};
  EXPECT_EQ(sums({3, 1}, unused, 0b10, 3), Numbers({1, 3, 5})) << "the stride of an axis of extent 1 is not used";
  const float x[] = {1, 2, 3, 1 + 0x1p-20F, 2, 0x1p-10F};
  float rounded[3] = {-1, -1, -1};
  EXPECT_TRUE(
      ok(gpumem_reduce_axes(ctx, GPUMEM_F32, GPUMEM_MIN_MAX, 2, kTwoByThree, x, nullptr, 0b11, rounded, GPUMEM_F32)));
  EXPECT_EQ(rounded[0], 0x1p-10F);
  EXPECT_EQ(rounded[1], 3);
  EXPECT_EQ(rounded[2], -1);
}

TEST_P(ReduceAxes, OfNoElements) {
  const int64_t none[] = {2, 0, INT64_MAX};
  int64_t products[3] = {-1, -1, -1};
  const int64_t two[] = {2, 0};
  EXPECT_TRUE(
      ok(gpumem_reduce_axes(ctx, GPUMEM_I8, GPUMEM_PROD, 2, two, nullptr, nullptr, 0b10, products, GPUMEM_I64)));
  EXPECT_EQ(products[0], 1);
  EXPECT_EQ(products[1], 1);
  EXPECT_EQ(products[2], -1);
  float ones[3] = {-1, -1, -1};
  EXPECT_TRUE(ok(gpumem_reduce_axes(ctx, GPUMEM_F32, GPUMEM_PROD, 2, two, nullptr, nullptr, 0b10, ones, GPUMEM_F32)));
  EXPECT_EQ(ones[1], 1);
  EXPECT_EQ(ones[2], -1);
  no(GPUMEM_EMPTY, {GPUMEM_F32, GPUMEM_MIN, 3, none, nullptr, nullptr, 0b110, GPUMEM_F64}, {"minimum"});
  for (const gpumem_reduce_op op : {GPUMEM_SUM, GPUMEM_MIN}) {
    EXPECT_TRUE(ok(gpumem_reduce_axes(ctx, GPUMEM_F32, op, 3, none, nullptr, nullptr, 0b101, nullptr, GPUMEM_F64)))
        << "no results";
  }
}

TEST_P(ReduceAxes, WhatDoesNotFitIsZero) {
  const int64_t x[] = {INT64_MAX, 1, 5, 1, 2, 6};
  for (const int32_t axes : {0b01, 0b11}) {
    int64_t out[] = {-1, -1, -1};
    EXPECT_TRUE(refused(
        GPUMEM_OVERFLOW,
        gpumem_reduce_axes(ctx, GPUMEM_I64, GPUMEM_SUM, 2, kTwoByThree, x, nullptr, axes, out, GPUMEM_I64), {"sum"}));
    EXPECT_EQ(out[0], 0);
    EXPECT_EQ(out[1], axes == 0b01 ? 3 : -1);
  }
}

TEST_P(ReduceAxes, Refusals) {
  const int64_t negative[] = {2, -2};
  const int64_t large[] = {INT64_MAX / 2, 3};
  const int64_t far[] = {1, INT64_MAX / 4};
  no(GPUMEM_INVALID_ARGUMENT, with([&](R& w) { w.rank = -1; }), {"ndim", "-1"});
  no(GPUMEM_INVALID_ARGUMENT, with([&](R& w) { w.rank = 9; }), {"ndim", "9"});
  no(GPUMEM_INVALID_ARGUMENT, with([&](R& w) { w.extents = nullptr; }), {"extents", "NULL"});
  no(GPUMEM_INVALID_ARGUMENT, with([&](R& w) { w.extents = negative; }), {"extents[1]", "-2"});
  no(GPUMEM_INVALID_ARGUMENT, with([&](R& w) { w.strides = negative; }), {"x_strides[1]", "-2"});
  no(GPUMEM_INVALID_ARGUMENT, with([&](R& w) { w.extents = large; }), {"extents"});
  no(GPUMEM_INVALID_ARGUMENT, with([&](R& w) { w.strides = far; }), {"bytes of x"});
  no(GPUMEM_INVALID_ARGUMENT, with([&](R& w) { w.x = nullptr; }), {"x", "NULL"});
  no(GPUMEM_INVALID_ARGUMENT, with([&](R& w) { w.axes = 4; }), {"axes", "0x4", "2"});
  no(GPUMEM_INVALID_ARGUMENT, with([&](R& w) { w.axes = -1; }), {"axes"});
  no(GPUMEM_INVALID_ARGUMENT, with([&](R& w) { w.axes = 1, w.rank = 0; }), {"axes"});
  no(GPUMEM_INVALID_ARGUMENT, with([&](R& w) { w.dtype = 99; }), {"dtype", "99"});
  no(GPUMEM_INVALID_ARGUMENT, with([&](R& w) { w.op = GPUMEM_ARG_MIN; }), {"op"});
  no(GPUMEM_UNSUPPORTED, with([&](R& w) { w.op = GPUMEM_SUM_COMPENSATED; }), {"dtype"});
  no(GPUMEM_INVALID_ARGUMENT, with([&](R& w) { w.result_type = GPUMEM_I64; }), {"result_type", "f64", "or dtype"});
  no(GPUMEM_INVALID_ARGUMENT, with([&](R& w) { w.result_type = GPUMEM_F16; }), {"result_type"});
  no(GPUMEM_INVALID_ARGUMENT, with([&](R& w) { w.dtype = GPUMEM_U8; }), {"result_type", "u64"});
  no(GPUMEM_INVALID_ARGUMENT, with([&](R& w) { w.dtype = w.result_type = GPUMEM_I32; }), {"result_type", "i64"});
  no(GPUMEM_INVALID_ARGUMENT, with([&](R& w) { w.x = results.get(); }), {"result", "x"});
  for (const int32_t axes : {0b00, 0b01, 0b10, 0b11}) {
    no(GPUMEM_INVALID_ARGUMENT, with([&](R& w) { w.axes = axes; }), {"result", "8"}, 4);
    no(GPUMEM_INVALID_ARGUMENT, with([&](R& w) { w.axes = axes, w.result_type = GPUMEM_F32; }), {"result", "4"}, 2);
  }
}

TEST_P(ReduceAxes, OfRangesPastTheirAllocation) {
  const Memory block(ctx, GPUMEM_MEMORY_DEVICE, 80);
  const int64_t extents[] = {2, 4};
  const int64_t exceeds[] = {7, 1};
  no(GPUMEM_OUT_OF_RANGE, {GPUMEM_F64, GPUMEM_SUM, 2, extents, block.get(), exceeds, 1, GPUMEM_F64}, {"x"});
}

TEST_P(ReduceAxes, ResultsMayLieBetweenTheElements) {
  double x[] = {1, 2, -1, -1, 3, 4, -1, -1};
  const int64_t extents[] = {2, 2};
  const int64_t strides[] = {4, 1};
  EXPECT_TRUE(ok(gpumem_reduce_axes(ctx, GPUMEM_F64, GPUMEM_SUM, 2, extents, x, strides, 1, x + 2, GPUMEM_F64)));
  EXPECT_EQ(x[2], 4);
  EXPECT_EQ(x[3], 6);
}

// The copy of x would have 24 TB.
TEST_P(ReduceAxes, WithoutScratchMemory) {
  const int64_t extents[] = {int64_t{1} << 20, 3, int64_t{1} << 21};
  const int64_t strides[] = {0, 1, 0};
  const Memory x(ctx, GPUMEM_MEMORY_PINNED, 64);
  auto* const out = static_cast<uint64_t*>(results.get());
  std::fill_n(out, 8, kUntouched);
  EXPECT_EQ(gpumem_reduce_axes(ctx, GPUMEM_I32, GPUMEM_MAX, 3, extents, x.get(), strides, 0b101, out, GPUMEM_I64),
            GPUMEM_OUT_OF_MEMORY);
  auto* const status = reinterpret_cast<gpumem_status*>(out + 7);
  const gpumem_status at_once = gpumem_reduce_axes_async(ctx, GPUMEM_I32, GPUMEM_MAX, 3, extents, x.get(), strides,
                                                         0b101, out, GPUMEM_I64, status, nullptr);
  EXPECT_TRUE(ok(gpumem_stream_synchronize(ctx, nullptr)));
  EXPECT_EQ(on_cuda() ? *status : at_once, GPUMEM_OUT_OF_MEMORY);
  EXPECT_EQ(out[0], kUntouched);
}

TEST_P(ReduceAxes, IsDescribedByItsLines) {
  char line[256];
  EXPECT_EQ(sums({2, 3, 4}, nullptr, 0b101, 3), Numbers({68, 100, 132}));
  EXPECT_TRUE(ok(gpumem_last_problem(line, sizeof line, nullptr)));
  EXPECT_STREQ(line, "reduce_axis dtype=f64 op=sum axis=rows rows=3 cols=8 x=pageable");
  EXPECT_EQ(sums({2, 3, 4}, nullptr, 0b100, 6), Numbers({10, 26, 42, 58, 74, 90}));
  EXPECT_TRUE(ok(gpumem_last_problem(line, sizeof line, nullptr)));
  EXPECT_STREQ(line, "reduce_axis dtype=f64 op=sum axis=rows rows=6 cols=4 x=pageable");
  EXPECT_EQ(sums({2, 3}, nullptr, 0b11, 1), Numbers({21}));
  EXPECT_TRUE(ok(gpumem_last_problem(line, sizeof line, nullptr)));
  EXPECT_STREQ(line, "reduce dtype=f64 op=sum extents=2x3 x=pageable");
}

INSTANTIATE_TEST_SUITE_P(On, ReduceAxes, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
