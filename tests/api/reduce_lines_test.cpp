// gpumem_reduce_axis and gpumem_reduce_segments: known values, nothing to do, lines without elements, bad input. Shapes and
// kinds of memory are the conformance tests' matter.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "support/contexts.hpp"
#include "support/lines.hpp"
#include "support/memory.hpp"
#include "support/pages.hpp"
#include "support/random.hpp"

namespace gpumem_test {
namespace {

constexpr int64_t kPoison = 0x5A5A5A5A5A5A5A5A;
using Words = std::vector<int64_t>;

class ReduceLines : public OnEachContext {
 protected:
  // Status and results of both forms, which must be the same; `words` results are looked at, and two after them.
  template <class Problem>
  Words both(const Problem& problem, size_t words, gpumem_status expected = GPUMEM_OK) {
    Words blocking(words + 2, kPoison);
    EXPECT_TRUE(gives(expected, run(ctx, problem, blocking.data()))) << describe(problem);
    const Memory out(ctx, GPUMEM_MEMORY_PINNED, static_cast<int64_t>(words + 3) * 8);
    auto* const enqueued = static_cast<int64_t*>(out.get());
    std::fill_n(enqueued, words + 3, kPoison);
    auto* const status = reinterpret_cast<gpumem_status*>(enqueued + words + 2);
    const gpumem_status at_once = run_async(ctx, problem, enqueued, status, nullptr);
    EXPECT_TRUE(ok(gpumem_stream_synchronize(ctx, nullptr)));
    // What is known at once is not told again; after OK the word tells, even of nothing.
    EXPECT_TRUE(at_once == GPUMEM_OK ? *status == expected : at_once == expected)
        << describe(problem) << ": enqueued gave " << at_once << " and " << *status;
    EXPECT_EQ(Words(enqueued, enqueued + words + 2), blocking) << describe(problem);
    EXPECT_EQ(Words(blocking.end() - 2, blocking.end()), Words(2, kPoison)) << "written past the results";
    blocking.resize(words);
    return blocking;
  }
};

TEST_P(ReduceLines, KnownValues) {
  const std::vector<int32_t> x = {1, 2, 3, -99, 4, 5, 6, -99, 7, 8, 9, -99, 10, 11, 12};
  Axis a{GPUMEM_I32, GPUMEM_SUM, GPUMEM_AXIS_ROWS, x.data(), 4, 3, 4, 1, 0};
  EXPECT_EQ(both(a, 4), Words({6, 15, 24, 33}));
  a.axis = GPUMEM_AXIS_COLS;
  EXPECT_EQ(both(a, 3), Words({22, 26, 30}));
  a.op = GPUMEM_MIN_MAX;
  EXPECT_EQ(both(a, 6), Words({1, 10, 2, 11, 3, 12}));
  // Two matrices of two rows: apart, overlapping, the same twice.
  a = {GPUMEM_I32, GPUMEM_SUM, GPUMEM_AXIS_ROWS, x.data(), 2, 3, 4, 2, 8};
  EXPECT_EQ(both(a, 4), Words({6, 15, 24, 33}));
  a.batch_stride = 4;
  EXPECT_EQ(both(a, 4), Words({6, 15, 15, 24}));
  a.batch_stride = 0;
  EXPECT_EQ(both(a, 4), Words({6, 15, 6, 15}));
  a.axis = GPUMEM_AXIS_COLS;
  a.batch_stride = 8;
  EXPECT_EQ(both(a, 6), Words({5, 7, 9, 17, 19, 21}));
  const Words offsets = {0, 3, 3, 4, 11};
  Segmented s{GPUMEM_I32, GPUMEM_SUM, x.data(), 15, offsets.data(), 4};
  EXPECT_EQ(both(s, 4), Words({6, 0, -99, 4 + 5 + 6 - 99 + 7 + 8 + 9}));
  s.offsets = offsets.data() + 2;
  s.segments = 2;
  s.op = GPUMEM_MIN_MAX;
  EXPECT_EQ(both(s, 4), Words({-99, -99, -99, 9}));
}

TEST_P(ReduceLines, FirstPlaces) {
  const std::vector<int32_t> x = {5, 2, 2, 99, 7, 7, -7, 99, 0, -9, 9, 99};
  Axis a{GPUMEM_I32, GPUMEM_ARG_MIN, GPUMEM_AXIS_ROWS, x.data(), 3, 3, 4, 1, 0};
  EXPECT_EQ(both(a, 6), Words({2, -7, -9, 1, 2, 1}));
  a.op = GPUMEM_ARG_MAX;
  EXPECT_EQ(both(a, 6), Words({5, 7, 9, 0, 0, 2}));
  a.op = GPUMEM_ARG_MAX_ABS;
  EXPECT_EQ(both(a, 6), Words({5, 7, 9, 0, 0, 1}));
  a.axis = GPUMEM_AXIS_COLS;
  EXPECT_EQ(both(a, 6), Words({7, 9, 9, 1, 2, 2}));
  a.op = GPUMEM_ARG_MIN;
  a.batches = 2;
  a.batch_stride = 0;
  EXPECT_EQ(both(a, 12), Words({0, -9, -7, 0, -9, -7, 2, 2, 1, 2, 2, 1}));
  // The first NaN counts, and -0 is less than +0. Lines of one value have it at their start.
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> d = {1, nan, -nan, -5, 0.0, -0.0, 0.0, -0.0, nan, 3, nan, nan};
  const int64_t bits = INT64_C(0x7ff8000000000000);
  a = {GPUMEM_F64, GPUMEM_ARG_MIN, GPUMEM_AXIS_ROWS, d.data(), 3, 4, 4, 1, 0};
  EXPECT_EQ(both(a, 6), Words({bits, INT64_MIN, bits, 1, 1, 0}));
  a.op = GPUMEM_ARG_MAX;
  EXPECT_EQ(both(a, 6), Words({bits, 0, bits, 1, 0, 0}));
  const std::vector<double> missing = {1, nan, -nan, -5, 0.0, -0.0, 0.0, -0.0, nan, -nan, nan, nan};
  a = {GPUMEM_F64, GPUMEM_ARG_MIN_VALID, GPUMEM_AXIS_ROWS, missing.data(), 3, 4, 4, 1, 0};
  EXPECT_EQ(both(a, 6), Words({std::bit_cast<int64_t>(-5.0), INT64_MIN, bits, 3, 1, 0}));
  a.op = GPUMEM_ARG_MAX_VALID;
  EXPECT_EQ(both(a, 6), Words({std::bit_cast<int64_t>(1.0), 0, bits, 0, 0, 0}));
  for (const int byte : {0, 255}) {
    const Bytes same(40 * 40, static_cast<char>(byte));
    for (const gpumem_dtype dtype :
         {GPUMEM_I8, GPUMEM_U8, GPUMEM_I16, GPUMEM_U32, GPUMEM_F16, GPUMEM_F32, GPUMEM_I64}) {
      for (const gpumem_axis axis : {GPUMEM_AXIS_ROWS, GPUMEM_AXIS_COLS}) {
        for (const gpumem_reduce_op op : {GPUMEM_MIN, GPUMEM_MAX, GPUMEM_MAX_ABS, GPUMEM_MIN_VALID, GPUMEM_MAX_VALID}) {
          if (!has(dtype, op)) continue;
          Words index(7, -1);
          EXPECT_TRUE(
              ok(gpumem_argreduce_axis(ctx, dtype, op, axis, same.data(), 7, 7, 8, 1, 0, nullptr, index.data())));
          EXPECT_EQ(index, Words(7, 0)) << info_of(dtype).name << ", op " << op << ", bytes " << byte;
        }
      }
    }
  }
}

TEST_P(ReduceLines, NothingToDo) {
  const std::vector<int32_t> x(10, 1);
  for (const void* p : {static_cast<const void*>(x.data()), static_cast<const void*>(nullptr)}) {
    for (const gpumem_reduce_op op : {GPUMEM_SUM, GPUMEM_MIN, GPUMEM_MIN_MAX, GPUMEM_ARG_MIN}) {
      for (const gpumem_axis axis : {GPUMEM_AXIS_ROWS, GPUMEM_AXIS_COLS}) {
        EXPECT_EQ(both(Axis{GPUMEM_I32, op, axis, p, 2, 3, 3, 0, 6}, 2), Words(2, kPoison)) << "no batches";
        EXPECT_EQ(both(Axis{GPUMEM_I32, op, axis, p, 0, 0, 3, 5, 6}, 2), Words(2, kPoison)) << "no lines";
      }
      EXPECT_EQ(both(Axis{GPUMEM_I32, op, GPUMEM_AXIS_ROWS, p, 0, 3, 3, 2, 6}, 2), Words(2, kPoison));
      EXPECT_EQ(both(Axis{GPUMEM_I32, op, GPUMEM_AXIS_COLS, p, 3, 0, 3, 2, 6}, 2), Words(2, kPoison));
      if (op == GPUMEM_ARG_MIN) continue;
      const int64_t offset = 0;
      EXPECT_EQ(both(Segmented{GPUMEM_I32, op, p, p == nullptr ? 0 : 10, &offset, 0}, 2), Words(2, kPoison));
    }
  }
}

TEST_P(ReduceLines, LinesWithoutElements) {
  for (const gpumem_reduce_op op : {GPUMEM_ARG_MIN, GPUMEM_ARG_MAX, GPUMEM_ARG_MAX_ABS}) {
    EXPECT_EQ(both(Axis{GPUMEM_I32, op, GPUMEM_AXIS_COLS, nullptr, 0, 2, 2, 1, 0}, 4, GPUMEM_EMPTY), Words(4, kPoison));
  }
  for (const gpumem_dtype dtype : kAllTypes) {
    for (const gpumem_reduce_op op : kReduceOps) {
      if (!has(dtype, op)) continue;
      const gpumem_status expected = needs_elements(op) ? GPUMEM_EMPTY : GPUMEM_OK;
      const auto nothing = static_cast<int64_t>(empty_word(dtype, op));
      const Words sums(6, needs_elements(op) ? kPoison : nothing);
      EXPECT_EQ(both(Axis{dtype, op, GPUMEM_AXIS_ROWS, nullptr, 3, 0, 0, 2, 0}, 6, expected), sums) << op_name(op);
      EXPECT_EQ(both(Axis{dtype, op, GPUMEM_AXIS_COLS, nullptr, 0, 3, 3, 2, 0}, 6, expected), sums) << op_name(op);
      const Words offsets = {0, 0, 0, 0};
      const auto words = static_cast<size_t>(words_of(op)) * 3;
      EXPECT_EQ(both(Segmented{dtype, op, nullptr, 0, offsets.data(), 3}, words, expected), Words(words, nothing))
          << op_name(op);
    }
  }
}

TEST_P(ReduceLines, WhatDoesNotFitIsZeroAndTheOthersAreRight) {
  const Words x = {INT64_MAX, 1, 5, INT64_MIN, -1, 6, 7, 8, 9};
  EXPECT_EQ(both(Axis{GPUMEM_I64, GPUMEM_SUM, GPUMEM_AXIS_ROWS, x.data(), 3, 3, 3, 1, 0}, 3, GPUMEM_OVERFLOW),
            Words({0, INT64_MIN + 5, 24}));
  EXPECT_EQ(both(Axis{GPUMEM_I64, GPUMEM_MAX_ABS, GPUMEM_AXIS_COLS, x.data(), 3, 3, 3, 1, 0}, 3, GPUMEM_OVERFLOW),
            Words({0, 8, 9}));
  EXPECT_EQ(both(Axis{GPUMEM_I64, GPUMEM_ARG_MAX_ABS, GPUMEM_AXIS_COLS, x.data(), 3, 3, 3, 1, 0}, 6, GPUMEM_OVERFLOW),
            Words({0, 8, 9, 0, 2, 2}));
  const Words offsets = {0, 2, 4, 9};
  EXPECT_EQ(both(Segmented{GPUMEM_I64, GPUMEM_SUM_CUBES, x.data() + 2, 7, offsets.data() + 1, 1}, 1),
            Words({-1 + 216}));
  EXPECT_EQ(both(Segmented{GPUMEM_I64, GPUMEM_SUM, x.data(), 9, offsets.data(), 3}, 3, GPUMEM_OVERFLOW),
            Words({0, INT64_MIN + 5, 29}));
}

class ReduceLinesRefusals : public ReduceLines {
 protected:
  void TearDown() override {}  // no count of what is left: the members still live

  // Both forms, and nothing written.
  template <class Problem>
  void no(gpumem_status expected, const Problem& problem, std::initializer_list<std::string> words) {
    EXPECT_TRUE(refused(expected, run(ctx, problem, out.get()), words)) << describe(problem);
    EXPECT_TRUE(refused(expected, run_async(ctx, problem, out.get(), nullptr, nullptr), words))
        << describe(problem) << ", enqueued";
    EXPECT_TRUE(ok(gpumem_stream_synchronize(ctx, nullptr)));
    EXPECT_EQ(std::count(out.bytes(), out.bytes() + 128, 77), 128) << describe(problem);
  }
  void SetUp() override { std::memset(out.get(), 77, 128); }

  Memory out{ctx, GPUMEM_MEMORY_PINNED, 128};
};

TEST_P(ReduceLinesRefusals, OfShapes) {
  const Bytes x(1000);
  const Axis sound{GPUMEM_I32, GPUMEM_SUM, GPUMEM_AXIS_ROWS, x.data(), 2, 4, 5, 2, 10};
  const auto with = [&](auto change) {
    Axis a = sound;
    change(a);
    return a;
  };
  no(GPUMEM_INVALID_ARGUMENT, with([](Axis& a) { a.axis = 2; }), {"axis", "2"});
  no(GPUMEM_INVALID_ARGUMENT, with([](Axis& a) { a.axis = -1; }), {"axis", "-1"});
  no(GPUMEM_INVALID_ARGUMENT, with([](Axis& a) { a.rows = -1; }), {"rows", "-1"});
  no(GPUMEM_INVALID_ARGUMENT, with([](Axis& a) { a.cols = -4; }), {"cols", "-4"});
  no(GPUMEM_INVALID_ARGUMENT, with([](Axis& a) { a.ld = 3; }), {"ld", "3"});
  no(GPUMEM_INVALID_ARGUMENT, with([](Axis& a) { a.ld = -5; }), {"ld", "-5"});
  no(GPUMEM_INVALID_ARGUMENT, with([](Axis& a) { a.batches = -2; }), {"batches", "-2"});
  no(GPUMEM_INVALID_ARGUMENT, with([](Axis& a) { a.batch_stride = -1; }), {"batch_stride", "-1"});
  no(GPUMEM_INVALID_ARGUMENT, with([](Axis& a) { a.x = nullptr; }), {"x", "NULL"});
  no(GPUMEM_INVALID_ARGUMENT, with([](Axis& a) { a.ld = INT64_MAX / 2; }), {});
  no(GPUMEM_INVALID_ARGUMENT, with([](Axis& a) { a.batch_stride = INT64_MAX / 2; }), {});
  no(GPUMEM_INVALID_ARGUMENT, with([](Axis& a) { a.rows = a.batches = int64_t{1} << 40; }), {});
  no(GPUMEM_INVALID_ARGUMENT, with([](Axis& a) { a.batch_stride = 0, a.rows = 1, a.batches = INT64_MAX / 4; }), {});
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, run(ctx, sound, nullptr), {"result", "NULL"}));
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, run_async(ctx, sound, nullptr, nullptr, nullptr), {"result", "NULL"}));
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, run(nullptr, sound, out.get()), {"ctx", "NULL"}));
  EXPECT_TRUE(ok(run(ctx, sound, out.get())));
}

TEST_P(ReduceLinesRefusals, OfPlaces) {
  const Bytes x(1000);
  const auto* const p = x.data();
  auto* const words = static_cast<int64_t*>(out.get());
  const auto no_call = [&](gpumem_status expected, gpumem_reduce_op op, void* value, int64_t* index,
                           std::initializer_list<std::string> named) {
    EXPECT_TRUE(
        refused(expected, gpumem_argreduce_axis(ctx, GPUMEM_I32, op, 0, p, 2, 4, 5, 2, 10, value, index), named));
    EXPECT_TRUE(refused(
        expected,
        gpumem_argreduce_axis_async(ctx, GPUMEM_I32, op, 0, p, 2, 4, 5, 2, 10, value, index, nullptr, nullptr), named));
    EXPECT_EQ(std::count(out.bytes(), out.bytes() + 128, 77), 128);
  };
  for (const gpumem_reduce_op op : {GPUMEM_SUM, GPUMEM_MIN_MAX, GPUMEM_PROD, GPUMEM_ARG_MIN, GPUMEM_DOT}) {
    no_call(GPUMEM_INVALID_ARGUMENT, op, words, words + 4, {"op", std::to_string(op)});
  }
  no_call(GPUMEM_INVALID_ARGUMENT, GPUMEM_MIN, words, nullptr, {"index", "NULL"});
  no_call(GPUMEM_INVALID_ARGUMENT, GPUMEM_MIN, words, words + 3, {"value", "index"});
  no_call(GPUMEM_INVALID_ARGUMENT, GPUMEM_MIN, out.bytes() + 4, words + 8, {"value"});
  no_call(GPUMEM_INVALID_ARGUMENT, GPUMEM_MIN, nullptr, reinterpret_cast<int64_t*>(out.bytes() + 4), {"index"});
  no(GPUMEM_INVALID_ARGUMENT, Axis{GPUMEM_I32, GPUMEM_ARG_MAX, 3, p, 2, 4, 5, 2, 10}, {"axis", "3"});
  no(GPUMEM_INVALID_ARGUMENT, Axis{GPUMEM_I32, GPUMEM_ARG_MAX, 0, nullptr, 2, 4, 5, 2, 10}, {"x", "NULL"});
  EXPECT_TRUE(ok(run(ctx, Axis{GPUMEM_I32, GPUMEM_ARG_MAX, 0, p, 2, 4, 5, 2, 10}, out.get())));
}

TEST_P(ReduceLinesRefusals, OfSegments) {
  const Bytes x(1000);
  const Words offsets = {0, 3, 7};
  const Segmented sound{GPUMEM_I32, GPUMEM_SUM, x.data(), 10, offsets.data(), 2};
  const auto with = [&](auto change) {
    Segmented s = sound;
    change(s);
    return s;
  };
  const FencedPages pages(4096);
  no(GPUMEM_INVALID_ARGUMENT, with([](Segmented& s) { s.n = -1; }), {"n", "-1"});
  no(GPUMEM_INVALID_ARGUMENT, with([](Segmented& s) { s.segments = -1; }), {"segments", "-1"});
  no(GPUMEM_INVALID_ARGUMENT, with([](Segmented& s) { s.x = nullptr; }), {"x", "NULL"});
  no(GPUMEM_INVALID_ARGUMENT, with([](Segmented& s) { s.offsets = nullptr; }), {"offsets", "NULL"});
  no(GPUMEM_INVALID_ARGUMENT, with([](Segmented& s) { s.n = INT64_MAX / 2; }), {});
  no(GPUMEM_INVALID_ARGUMENT, with([](Segmented& s) { s.segments = INT64_MAX; }), {});
  no(GPUMEM_INVALID_ARGUMENT, with([](Segmented& s) { s.segments = INT64_MAX / 8; }), {});
  no(GPUMEM_INVALID_POINTER, with([&](Segmented& s) { s.offsets = reinterpret_cast<const int64_t*>(pages.end()); }),
     {"offsets"});
  no(GPUMEM_INVALID_POINTER, with([&](Segmented& s) { s.x = pages.end(); }), {"x"});
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, run(ctx, sound, nullptr), {"result", "NULL"}));
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, run_async(ctx, sound, nullptr, nullptr, nullptr), {"result", "NULL"}));
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, run(nullptr, sound, out.get()), {"ctx", "NULL"}));
  EXPECT_TRUE(ok(run(ctx, sound, out.get())));
}

TEST_P(ReduceLinesRefusals, OfRangesAndFreedMemory) {
  const Bytes zeros(400);
  for (const gpumem_memory_kind kind : {GPUMEM_MEMORY_PINNED, GPUMEM_MEMORY_DEVICE, GPUMEM_MEMORY_MANAGED}) {
    const Memory x(ctx, kind, 400);
    upload(ctx, x.get(), zeros.data(), 400);
    Axis a{GPUMEM_I32, GPUMEM_SUM, GPUMEM_AXIS_ROWS, x.get(), 5, 9, 10, 2, 50};  // the last row ends at 99
    const Memory small(ctx, kind, 79);
    EXPECT_TRUE(refused(GPUMEM_OUT_OF_RANGE, run(ctx, a, small.get()), {"result", "80"}));
    EXPECT_TRUE(refused(GPUMEM_OUT_OF_RANGE, run_async(ctx, a, small.get(), nullptr, nullptr), {"result", "80"}));
    a.batch_stride = 52;
    no(GPUMEM_OUT_OF_RANGE, a, {"x"});
    a.batch_stride = 51;
    const Memory results(ctx, GPUMEM_MEMORY_PINNED, 80);
    EXPECT_TRUE(ok(run(ctx, a, results.get())));
    const Words numbers = {0, 10, 20};
    const Memory ends(ctx, kind, 24);
    upload(ctx, ends.get(), numbers.data(), 24);
    Segmented s{GPUMEM_I32, GPUMEM_SUM, x.get(), 101, static_cast<const int64_t*>(ends.get()), 2};
    no(GPUMEM_OUT_OF_RANGE, s, {"x"});
    s.n = 100;
    s.segments = 3;
    no(GPUMEM_OUT_OF_RANGE, s, {"offsets"});
    s.segments = 2;
    EXPECT_TRUE(ok(run(ctx, s, results.get())));
    // Last, so that nothing new takes its place.
    void* freed = nullptr;
    ASSERT_TRUE(ok(gpumem_alloc_device(ctx, 4096, &freed)));
    ASSERT_TRUE(ok(gpumem_free(ctx, freed)));
    a.x = freed;
    no(GPUMEM_INVALID_POINTER, a, {"x"});
    s.offsets = static_cast<const int64_t*>(freed);
    no(GPUMEM_INVALID_POINTER, s, {"offsets"});
    s.offsets = numbers.data();
    s.x = freed;
    no(GPUMEM_INVALID_POINTER, s, {"x"});
  }
}

// Threads share out each of its own, and the bits are those of the segment as a vector.
TEST(SegmentsOnHost, ThoseWorthSeveralThreadsAreSharedOut) {
  constexpr int64_t kCount = 1200000;
  const Context ctx(On::host, 4);
  const Context alone(On::host, 1);
  std::vector<float> x(kCount);
  Random random;
  for (float& value : x) value = static_cast<float>(random.between(-1000000, 1000000)) / 3;
  const Words offsets = {0, 5, 600005, 600005, 900000, kCount};
  const size_t segments = offsets.size() - 1;
  std::vector<double> sums(segments);
  ASSERT_TRUE(ok(gpumem_reduce_segments(ctx, GPUMEM_F32, GPUMEM_SUM, x.data(), kCount, offsets.data(),
                                        static_cast<int64_t>(segments), sums.data())));
  for (size_t i = 0; i < segments; ++i) {
    double sum = 0;
    ASSERT_TRUE(ok(gpumem_reduce_f32(alone, GPUMEM_SUM, x.data() + offsets[i], offsets[i + 1] - offsets[i], 1, &sum)));
    EXPECT_EQ(sums[i], sum) << "segment " << i;
  }
}

TEST_P(ReduceLinesRefusals, NamesTheFirstBadOffsetInMemoryOfEachKind) {
  struct {
    Words offsets;
    std::string words[2];
  } const cases[] = {{{-1, 3, 7, 10}, {"offsets[0] is -1", "at least 0"}},
                     {{0, 11, 12, 5}, {"offsets[1] is 11", "n = 10"}},
                     {{0, 4, 7, 6}, {"offsets[3] is 6", "at least the offset before it, 7"}}};
  for (const gpumem_memory_kind of_x : kAllKinds) {
    for (const gpumem_memory_kind of_offsets : kAllKinds) {
      const Memory x(ctx, of_x, 40);
      const Memory offsets(ctx, of_offsets, 32);
      ASSERT_TRUE(ok(gpumem_fill(ctx, x.get(), "", 1, 40)));
      for (const auto& [bad, words] : cases) {
        ASSERT_TRUE(ok(gpumem_copy(ctx, offsets.get(), bad.data(), 32)));
        const Segmented s{GPUMEM_I32, GPUMEM_SUM, x.get(), 10, static_cast<const int64_t*>(offsets.get()), 3};
        EXPECT_TRUE(refused(GPUMEM_OUT_OF_RANGE, run(ctx, s, out.get()), {words[0], words[1]}));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(On, ReduceLines, testing::ValuesIn(contexts_here()), OnEachContext::name);
INSTANTIATE_TEST_SUITE_P(On, ReduceLinesRefusals, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
