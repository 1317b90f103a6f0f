// Reductions of views: what is special about their arguments. Their values are the conformance tests' matter.
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "support/contexts.hpp"
#include "support/explain.hpp"
#include "support/memory.hpp"
#include "support/pages.hpp"
#include "support/reductions.hpp"

namespace gpumem_test {
namespace {

class ReduceView : public OnEachContext {
 protected:
  void TearDown() override {}  // no count of what is left: the members still live

  double sum(int32_t rank, const int64_t* extents, const int64_t* strides) {
    double result = -1;
    EXPECT_TRUE(ok(gpumem_reduce_view(ctx, GPUMEM_F64, GPUMEM_SUM, rank, extents, numbers.data(), strides, &result)));
    return result;
  }
  // Nothing is written by a call that is refused, blocking or enqueued.
  void no(gpumem_status expected, const ViewReduction& r, std::initializer_list<std::string> words) {
    auto* const out = static_cast<uint64_t*>(results.get());
    for (const bool enqueued : {false, true}) {
      std::fill_n(out, 4, kUntouched);
      const gpumem_status status =
          enqueued ? run_async(ctx, r, out, reinterpret_cast<gpumem_status*>(out + 3), nullptr) : run(ctx, r, out);
      EXPECT_TRUE(refused(expected, status, words)) << (enqueued ? "enqueued" : "blocking");
      EXPECT_TRUE(ok(gpumem_stream_synchronize(ctx, nullptr)));
      for (int i = 0; i < 4; ++i) EXPECT_EQ(out[i], kUntouched);
    }
  }
  static std::vector<double> first_numbers() {
    std::vector<double> x(60);
    std::iota(x.begin(), x.end(), 1.0);
    return x;
  }

  std::vector<double> numbers = first_numbers();
  Memory results{ctx, GPUMEM_MEMORY_PINNED, 64};
};

TEST_P(ReduceView, KnownValues) {
  const int64_t extents[] = {2, 3};
  const int64_t strides[] = {10, 2};
  EXPECT_EQ(sum(2, extents, strides), 1 + 3 + 5 + 11 + 13 + 15);
  EXPECT_EQ(sum(2, extents, nullptr), 1 + 2 + 3 + 4 + 5 + 6);
  EXPECT_EQ(sum(0, nullptr, nullptr), 1) << "one element";
  const int64_t again[] = {0, 1};
  EXPECT_EQ(sum(2, extents, again), 2 * (1 + 2 + 3)) << "elements that repeat";
  const int64_t single[] = {3, 1};
  const int64_t any[] = {2, INT64_MAX};
  EXPECT_EQ(sum(2, single, any), 1 + 3 + 5) << "the stride of an axis of extent 1 is not used";
  double value = 0;
  int64_t index = 0;
  EXPECT_TRUE(
      ok(gpumem_argreduce_view(ctx, GPUMEM_F64, GPUMEM_MAX, 2, extents, numbers.data(), strides, &value, &index)));
  EXPECT_EQ(value, 15);
  EXPECT_EQ(index, 5) << "the position in row-major order";
  EXPECT_TRUE(
      ok(gpumem_argreduce_view(ctx, GPUMEM_F64, GPUMEM_MIN, 2, extents, numbers.data(), again, nullptr, &index)));
  EXPECT_EQ(index, 0);
  EXPECT_TRUE(ok(gpumem_dot_view_f64(ctx, 2, extents, numbers.data(), strides, numbers.data(), nullptr, &value)));
  EXPECT_EQ(value, 1 * 1 + 3 * 2 + 5 * 3 + 11 * 4 + 13 * 5 + 15 * 6);
  const int64_t pair[] = {2, 1};
  const int64_t apart[] = {1, 7};
  EXPECT_TRUE(ok(gpumem_nrm2_view_f64(ctx, 2, pair, numbers.data() + 2, apart, &value)));
  EXPECT_EQ(value, 5);
}

TEST_P(ReduceView, OfNoElements) {
  const int64_t none[] = {INT64_MAX, 0, INT64_MAX};
  for (const gpumem_dtype dtype : {GPUMEM_I32, GPUMEM_F64}) {
    int64_t result = -1;
    EXPECT_TRUE(ok(gpumem_reduce_view(ctx, dtype, GPUMEM_SUM, 3, none, nullptr, nullptr, &result)));
    EXPECT_EQ(result, 0);
    no(GPUMEM_EMPTY, {dtype, GPUMEM_MIN, 3, none, nullptr}, {});
    no(GPUMEM_EMPTY, {dtype, GPUMEM_ARG_MAX, 3, none, nullptr}, {});
  }
  double value = -1;
  EXPECT_TRUE(ok(gpumem_dot_view_f32(ctx, 3, none, nullptr, nullptr, nullptr, nullptr, &value)));
  EXPECT_EQ(value, 0);
}

TEST_P(ReduceView, Refusals) {
  const int64_t two[] = {2, 2};
  const int64_t negative[] = {2, -2};
  const int64_t large[] = {INT64_MAX / 2, 3};
  const int64_t far[] = {1, INT64_MAX / 4};
  for (const gpumem_reduce_op op : {GPUMEM_SUM, GPUMEM_ARG_MIN, GPUMEM_DOT, GPUMEM_NRM2}) {
    ViewReduction r{GPUMEM_F64, op, 2, two, numbers.data(), nullptr, numbers.data(), nullptr};
    const auto with = [&](auto change) {
      ViewReduction wrong = r;
      change(wrong);
      return wrong;
    };
    using R = ViewReduction;
    no(GPUMEM_INVALID_ARGUMENT, with([&](R& w) { w.rank = -1; }), {"ndim", "-1"});
    no(GPUMEM_INVALID_ARGUMENT, with([&](R& w) { w.rank = 9; }), {"ndim", "9"});
    no(GPUMEM_INVALID_ARGUMENT, with([&](R& w) { w.extents = nullptr; }), {"extents", "NULL"});
    no(GPUMEM_INVALID_ARGUMENT, with([&](R& w) { w.extents = negative; }), {"extents[1]", "-2"});
    no(GPUMEM_INVALID_ARGUMENT, with([&](R& w) { w.strides = negative; }), {"x_strides[1]", "-2"});
    no(GPUMEM_INVALID_ARGUMENT, with([&](R& w) { w.extents = large; }), {"extents"});
    no(GPUMEM_INVALID_ARGUMENT, with([&](R& w) { w.strides = far; }), {"bytes of x"});
    no(GPUMEM_INVALID_ARGUMENT, with([&](R& w) { w.x = nullptr; }), {"x"});
    if (op != GPUMEM_DOT) continue;
    no(GPUMEM_INVALID_ARGUMENT, with([&](R& w) { w.y_strides = negative; }), {"y_strides[1]", "-2"});
    no(GPUMEM_INVALID_ARGUMENT, with([&](R& w) { w.y_strides = far; }), {"bytes of y"});
    no(GPUMEM_INVALID_ARGUMENT, with([&](R& w) { w.y = nullptr; }), {"y"});
  }
  no(GPUMEM_UNSUPPORTED, {GPUMEM_F32, GPUMEM_SUM_COMPENSATED, 2, two, numbers.data()}, {"dtype"});
}

TEST_P(ReduceView, OfRangesPastTheirAllocation) {
  const Memory block(ctx, GPUMEM_MEMORY_DEVICE, 80);
  upload(ctx, block.get(), numbers.data(), 80);
  const int64_t extents[] = {2, 4};
  const int64_t reaches[] = {6, 1};
  const int64_t exceeds[] = {7, 1};
  no(GPUMEM_OUT_OF_RANGE, {GPUMEM_F64, GPUMEM_SUM, 2, extents, block.get(), exceeds}, {"x"});
  double result = 0;
  EXPECT_TRUE(ok(gpumem_reduce_view(ctx, GPUMEM_F64, GPUMEM_SUM, 2, extents, block.get(), reaches, &result)));
  EXPECT_EQ(result, 1 + 2 + 3 + 4 + 7 + 8 + 9 + 10);
}

TEST_P(ReduceView, OfElementsUpToTheLastOneOfAPage) {
  const FencedPages pages(4096);
  const auto* const x = pages.end() - 16;
  const int64_t extents[] = {2, 8};
  const int64_t strides[] = {8, 1};
  uint64_t result = 0;
  EXPECT_TRUE(ok(gpumem_reduce_view(ctx, GPUMEM_U8, GPUMEM_SUM, 2, extents, x, strides, &result)));
  const int64_t past[] = {9, 1};
  EXPECT_TRUE(refused(GPUMEM_OUT_OF_RANGE, gpumem_reduce_view(ctx, GPUMEM_U8, GPUMEM_SUM, 2, extents, x, past, &result),
                      {"x"}));
}

TEST_P(ReduceView, IsDescribed) {
  const int64_t extents[] = {2, 3};
  const int64_t strides[] = {10, 2};
  EXPECT_EQ(sum(2, extents, strides), 48);
  char line[256];
  EXPECT_TRUE(ok(gpumem_last_problem(line, sizeof line, nullptr)));
  EXPECT_STREQ(line, "reduce dtype=f64 op=sum extents=2x3 strides=10,2 x=pageable");
  Explained explained;
  EXPECT_TRUE(ok(explain(ctx, line, explained)));
  EXPECT_EQ(explained.variant, "host_strided");
  EXPECT_EQ(sum(2, extents, nullptr), 21);
  EXPECT_TRUE(ok(gpumem_last_problem(line, sizeof line, nullptr)));
  EXPECT_STREQ(line, "reduce dtype=f64 op=sum extents=2x3 x=pageable");
  EXPECT_TRUE(ok(explain(ctx, line, explained)));
  EXPECT_EQ(explained.variant, "host_vector") << "one axis without padding is an ordinary sequence";
}

INSTANTIATE_TEST_SUITE_P(On, ReduceView, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
