// Bad input for every reduction: each is refused with its status and a sentence that names the argument, blocking and
// enqueued alike, and nothing is written.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "api/queue_handles.hpp"
#include "support/contexts.hpp"
#include "support/memory.hpp"
#include "support/pages.hpp"
#include "support/reductions.hpp"
#include "support/sanitizers.hpp"

namespace gpumem_test {
namespace {

// One call that could be any of the functions for one sequence.
struct Form {
  gpumem_dtype dtype;
  gpumem_reduce_op op;
  bool typed;
  bool async;
};

std::vector<Form> forms() {
  std::vector<Form> all;
  for (const gpumem_dtype dtype : kAllTypes) {
    for (const gpumem_reduce_op op : {GPUMEM_SUM, GPUMEM_MIN_MAX, GPUMEM_ARG_MIN, GPUMEM_DOT, GPUMEM_NRM2}) {
      if (!has(dtype, op)) continue;
      for (const bool typed : {false, true}) {
        for (const bool async : {false, true}) all.push_back({dtype, op, typed, async});
      }
    }
  }
  return all;
}

class ReduceRefusals : public OnEachContext {
 protected:
  void SetUp() override { clear(); }
  void TearDown() override {}  // no count of what is left: the members still live

  void clear() { std::fill_n(static_cast<uint64_t*>(out.get()), 8, kUntouched); }
  gpumem_status call(const Form& f, const void* x, int64_t n, int64_t stride, const void* y = nullptr,
                     int64_t y_stride = 1) {
    const Reduction r{f.dtype, f.op, x, n, stride, y == nullptr ? x : y, y_stride};
    auto* const status = reinterpret_cast<gpumem_status*>(out.bytes() + 48);
    return f.async ? run_async(ctx, r, out.get(), status, nullptr, f.typed) : run(ctx, r, out.get(), f.typed);
  }
  void no(gpumem_status expected, gpumem_status got, std::initializer_list<std::string> words, const Form& f) {
    EXPECT_TRUE(refused(expected, got, words)) << describe(f);
    EXPECT_TRUE(ok(gpumem_stream_synchronize(ctx, nullptr)));
    for (int i = 0; i < 8; ++i) EXPECT_EQ(static_cast<uint64_t*>(out.get())[i], kUntouched) << i << ", " << describe(f);
    clear();
  }
  static std::string describe(const Form& f) {
    return std::string(op_name(f.op)) + " of " + info_of(f.dtype).name + (f.typed ? ", typed" : "") +
           (f.async ? ", enqueued" : "");
  }

  Memory out{ctx, GPUMEM_MEMORY_PINNED, 64};
  Bytes zeros = Bytes(1024);
};

TEST_P(ReduceRefusals, OfSizesAndStrides) {
  for (const Form& f : forms()) {
    const char* const stride = f.op == GPUMEM_DOT ? "x_stride" : "stride";
    no(GPUMEM_INVALID_ARGUMENT, call(f, zeros.data(), -1, 1), {"n", "-1"}, f);
    no(GPUMEM_INVALID_ARGUMENT, call(f, zeros.data(), INT64_MIN, 1), {"n"}, f);
    no(GPUMEM_INVALID_ARGUMENT, call(f, zeros.data(), 9, 0), {stride, "0"}, f);
    no(GPUMEM_INVALID_ARGUMENT, call(f, zeros.data(), 9, -3), {stride, "-3"}, f);
    no(GPUMEM_INVALID_ARGUMENT, call(f, nullptr, 9, 1, zeros.data()), {"x", "NULL"}, f);
    no(GPUMEM_INVALID_ARGUMENT, call(f, zeros.data(), INT64_MAX, INT64_MAX), {}, f);
    no(GPUMEM_INVALID_ARGUMENT, call(f, zeros.data(), 3, INT64_MAX / 2 + 1), {}, f);
    if (f.op == GPUMEM_DOT) {
      no(GPUMEM_INVALID_ARGUMENT, call(f, zeros.data(), 9, 1, zeros.data(), 0), {"y_stride", "0"}, f);
      no(GPUMEM_INVALID_ARGUMENT, call(f, zeros.data(), 9, 1, zeros.data(), -1), {"y_stride", "-1"}, f);
      no(GPUMEM_INVALID_ARGUMENT, call(f, zeros.data(), 3, 1, zeros.data(), INT64_MAX / 2 + 1), {}, f);
    }
  }
}

TEST_P(ReduceRefusals, OfPointersThatAreNone) {
  const FencedPages pages(4096);
  void* freed = nullptr;
  ASSERT_TRUE(ok(gpumem_alloc_device(ctx, 4096, &freed)));
  ASSERT_TRUE(ok(gpumem_free(ctx, freed)));
  for (const Form& f : forms()) {
    no(GPUMEM_INVALID_POINTER, call(f, pages.end(), 9, 1, zeros.data()), {"x"}, f);
    // A sanitizer's run-time maps memory of its own where a block was.
    if (!kSanitized) no(GPUMEM_INVALID_POINTER, call(f, freed, 9, 1, zeros.data()), {"x"}, f);
    if (f.op == GPUMEM_DOT) {
      no(GPUMEM_INVALID_POINTER, call(f, zeros.data(), 9, 1, pages.end()), {"y"}, f);
      if (!kSanitized) no(GPUMEM_INVALID_POINTER, call(f, zeros.data(), 9, 1, freed), {"y"}, f);
    }
  }
}

TEST_P(ReduceRefusals, OfRangesPastTheirAllocation) {
  for (const gpumem_memory_kind kind : {GPUMEM_MEMORY_PINNED, GPUMEM_MEMORY_DEVICE, GPUMEM_MEMORY_MANAGED}) {
    const Memory block(ctx, kind, 80);
    upload(ctx, block.get(), zeros.data(), 80);
    for (const Form& f : forms()) {
      const auto count = static_cast<int64_t>(80 / info_of(f.dtype).bytes);
      no(GPUMEM_OUT_OF_RANGE, call(f, block.get(), count + 1, 1), {"x"}, f);
      no(GPUMEM_OUT_OF_RANGE, call(f, block.get(), count / 2 + 2, 2), {"x"}, f);
      no(GPUMEM_OUT_OF_RANGE, call(f, block.bytes() + 1, count, 1), {"x"}, f);
      if (f.op == GPUMEM_DOT) no(GPUMEM_OUT_OF_RANGE, call(f, block.get(), count, 1, block.bytes() + 8), {"y"}, f);
      EXPECT_TRUE(ok(call(f, block.get(), count, 1))) << describe(f);
      EXPECT_TRUE(ok(gpumem_stream_synchronize(ctx, nullptr)));
      clear();
    }
  }
}

TEST_P(ReduceRefusals, OfOperationsAndTypes) {
  const void* const x = zeros.data();
  auto* const words = static_cast<int64_t*>(out.get());
  const Form f{};
  const auto each = [&](gpumem_status expected, gpumem_dtype dtype, gpumem_reduce_op op,
                        std::initializer_list<std::string> named) {
    no(expected, gpumem_reduce(ctx, dtype, op, x, 4, 1, words), named, f);
    no(expected, gpumem_reduce_async(ctx, dtype, op, x, 4, 1, words, nullptr, nullptr), named, f);
    no(expected, gpumem_reduce_axis(ctx, dtype, op, 0, x, 2, 2, 2, 1, 0, words), named, f);
    no(expected, gpumem_reduce_axis_async(ctx, dtype, op, 0, x, 2, 2, 2, 1, 0, words, nullptr, nullptr), named, f);
    const int64_t offsets[] = {0, 4};
    no(expected, gpumem_reduce_segments(ctx, dtype, op, x, 4, offsets, 1, words), named, f);
    no(expected, gpumem_reduce_segments_async(ctx, dtype, op, x, 4, offsets, 1, words, nullptr, nullptr), named, f);
  };
  for (const gpumem_dtype dtype : kAllTypes) {
    for (const gpumem_reduce_op op : {-1, 9, 15, 20, 26, 31, INT32_MAX, INT32_MIN}) {
      each(GPUMEM_INVALID_ARGUMENT, dtype, op, {"op", std::to_string(op)});
    }
    for (const gpumem_reduce_op op : kReservedOps) each(GPUMEM_INVALID_ARGUMENT, dtype, op, {"op"});
    for (const gpumem_reduce_op op : kReduceOps) {
      if (!has(dtype, op)) each(GPUMEM_UNSUPPORTED, dtype, op, {"dtype"});
    }
    for (const gpumem_reduce_op op : {GPUMEM_MIN_VALID, GPUMEM_MAX_VALID}) {
      if (has(dtype, op)) continue;
      no(GPUMEM_UNSUPPORTED, gpumem_argreduce(ctx, dtype, op, x, 4, 1, words, words + 1), {"dtype"}, f);
      no(GPUMEM_UNSUPPORTED, gpumem_argreduce_axis(ctx, dtype, op, 0, x, 2, 2, 2, 1, 0, words, words + 2), {"dtype"},
         f);
    }
    for (const gpumem_reduce_op op :
         {int32_t{GPUMEM_SUM}, int32_t{GPUMEM_MIN_MAX}, int32_t{GPUMEM_ARG_MIN}, int32_t{GPUMEM_DOT},
          int32_t{GPUMEM_PROD}, int32_t{GPUMEM_SUM_VALID}, int32_t{GPUMEM_ARG_MIN_VALID}, 7777, -1}) {
      no(GPUMEM_INVALID_ARGUMENT, gpumem_argreduce(ctx, dtype, op, x, 4, 1, words, words + 1), {"op"}, f);
      no(GPUMEM_INVALID_ARGUMENT, gpumem_argreduce_async(ctx, dtype, op, x, 4, 1, words, words + 1, nullptr), {"op"},
         f);
    }
  }
  for (const gpumem_dtype dtype : {-1, 12, INT32_MAX}) {
    each(GPUMEM_INVALID_ARGUMENT, dtype, GPUMEM_SUM, {"dtype", std::to_string(dtype)});
    no(GPUMEM_INVALID_ARGUMENT, gpumem_argreduce(ctx, dtype, GPUMEM_MIN, x, 4, 1, words, words + 1), {"dtype"}, f);
  }
}

// The typed functions check their operation as well.
TEST_P(ReduceRefusals, OfOperationsOfTypedFunctions) {
  auto* const s = static_cast<int64_t*>(out.get());
  auto* const u = static_cast<uint64_t*>(out.get());
  auto* const d = static_cast<double*>(out.get());
  const auto* const p = zeros.data();
  using namespace reductions;
  const Form f{};
  for (const gpumem_reduce_op op : {-1, 9, 16, 18, 19, 20, 26, 30}) {
    const gpumem_status all[] = {gpumem_reduce_i32(ctx, op, as<int32_t>(p), 4, 1, s),
                                 gpumem_reduce_i64(ctx, op, as<int64_t>(p), 4, 1, s),
                                 gpumem_reduce_u32(ctx, op, as<uint32_t>(p), 4, 1, u),
                                 gpumem_reduce_u64(ctx, op, as<uint64_t>(p), 4, 1, u),
                                 gpumem_reduce_f32(ctx, op, as<float>(p), 4, 1, d),
                                 gpumem_reduce_f64(ctx, op, as<double>(p), 4, 1, d),
                                 gpumem_reduce_i32_async(ctx, op, as<int32_t>(p), 4, 1, s, nullptr, nullptr),
                                 gpumem_reduce_f64_async(ctx, op, as<double>(p), 4, 1, d, nullptr, nullptr),
                                 gpumem_argreduce_i32(ctx, op, as<int32_t>(p), 4, 1, s, s + 1),
                                 gpumem_argreduce_i64(ctx, op, as<int64_t>(p), 4, 1, s, s + 1),
                                 gpumem_argreduce_u32(ctx, op, as<uint32_t>(p), 4, 1, u, s + 1),
                                 gpumem_argreduce_u64(ctx, op, as<uint64_t>(p), 4, 1, u, s + 1),
                                 gpumem_argreduce_f32(ctx, op, as<float>(p), 4, 1, d, s + 1),
                                 gpumem_argreduce_f64(ctx, op, as<double>(p), 4, 1, d, s + 1)};
    for (const gpumem_status status : all) no(GPUMEM_INVALID_ARGUMENT, status, {}, f);
  }
  for (const gpumem_status status :
       {gpumem_reduce_f32(ctx, GPUMEM_SUM_COMPENSATED, as<float>(p), 4, 1, d),
        gpumem_reduce_i64(ctx, GPUMEM_SUM_COMPENSATED, as<int64_t>(p), 4, 1, s),
        gpumem_reduce_u32_async(ctx, GPUMEM_SUM_COMPENSATED, as<uint32_t>(p), 4, 1, u, nullptr, nullptr),
        gpumem_reduce_i32(ctx, GPUMEM_COUNT_VALID, as<int32_t>(p), 4, 1, s),
        gpumem_argreduce_u64(ctx, GPUMEM_MAX_VALID, as<uint64_t>(p), 4, 1, u, s + 1)}) {
    no(GPUMEM_UNSUPPORTED, status, {}, f);
  }
}

TEST_P(ReduceRefusals, OfResults) {
  const void* const x = zeros.data();
  const auto* const d = reinterpret_cast<const double*>(zeros.data());
  auto* const words = static_cast<int64_t*>(out.get());
  const Form f{};
  const auto null = [&](gpumem_status status, const char* argument) {
    no(GPUMEM_INVALID_ARGUMENT, status, {argument, "NULL"}, f);
  };
  null(gpumem_reduce(ctx, GPUMEM_U8, GPUMEM_SUM, x, 4, 1, nullptr), "result");
  null(gpumem_reduce(ctx, GPUMEM_U8, GPUMEM_SUM, x, 0, 1, nullptr), "result");
  null(gpumem_reduce_async(ctx, GPUMEM_U8, GPUMEM_SUM, x, 4, 1, nullptr, nullptr, nullptr), "result");
  null(gpumem_reduce_f64(ctx, GPUMEM_SUM, d, 4, 1, nullptr), "result");
  null(gpumem_argreduce(ctx, GPUMEM_U8, GPUMEM_MIN, x, 4, 1, words, nullptr), "index");
  null(gpumem_argreduce_async(ctx, GPUMEM_U8, GPUMEM_MIN, x, 4, 1, words, nullptr, nullptr), "index");
  null(gpumem_dot_f64(ctx, d, d, 4, 1, 1, nullptr), "result");
  null(gpumem_dot_f64(ctx, d, nullptr, 4, 1, 1, reinterpret_cast<double*>(words)), "y");
  null(gpumem_dot_f32_async(ctx, nullptr, nullptr, 4, 1, 1, reinterpret_cast<double*>(words), nullptr), "x");
  null(gpumem_nrm2_f64(ctx, d, 4, 1, nullptr), "result");
  null(gpumem_nrm2_f64_async(ctx, d, 4, 1, nullptr, nullptr), "result");
  const FencedPages pages(4096);
  auto* const nowhere = reinterpret_cast<int64_t*>(pages.end());
  const auto unwritable = [&](gpumem_status status, const char* argument) {
    no(GPUMEM_INVALID_POINTER, status, {argument}, f);
  };
  unwritable(gpumem_reduce(ctx, GPUMEM_U8, GPUMEM_SUM, x, 4, 1, nowhere), "result");
  unwritable(gpumem_reduce_async(ctx, GPUMEM_U8, GPUMEM_SUM, x, 4, 1, nowhere, nullptr, nullptr), "result");
  unwritable(gpumem_argreduce(ctx, GPUMEM_U8, GPUMEM_MIN, x, 4, 1, nowhere, words), "value");
  unwritable(gpumem_argreduce(ctx, GPUMEM_U8, GPUMEM_MIN, x, 4, 1, words, nowhere), "index");
  unwritable(gpumem_reduce_async(ctx, GPUMEM_U8, GPUMEM_SUM, x, 4, 1, words, reinterpret_cast<gpumem_status*>(nowhere),
                                 nullptr),
             "status");
  for (const gpumem_memory_kind kind : {GPUMEM_MEMORY_PINNED, GPUMEM_MEMORY_DEVICE, GPUMEM_MEMORY_MANAGED}) {
    const Memory small(ctx, kind, 15);
    no(GPUMEM_OUT_OF_RANGE, gpumem_reduce(ctx, GPUMEM_U8, GPUMEM_MIN_MAX, x, 4, 1, small.get()), {"result"}, f);
    no(GPUMEM_OUT_OF_RANGE, gpumem_reduce_async(ctx, GPUMEM_U8, GPUMEM_MIN_MAX, x, 4, 1, small.get(), nullptr, nullptr),
       {"result"}, f);
    no(GPUMEM_OUT_OF_RANGE,
       gpumem_argreduce(ctx, GPUMEM_U8, GPUMEM_MIN, x, 4, 1, words, static_cast<int64_t*>(small.get()) + 1), {"index"},
       f);
    EXPECT_TRUE(ok(gpumem_reduce(ctx, GPUMEM_U8, GPUMEM_SUM, x, 4, 1, small.get())));
  }
}

// result, index and status may not lie inside x.
TEST_P(ReduceRefusals, OfResultsInsideTheData) {
  for (const gpumem_memory_kind kind : {GPUMEM_MEMORY_PINNED, GPUMEM_MEMORY_DEVICE, GPUMEM_MEMORY_MANAGED}) {
    GuardedBuffer block(ctx, kind, 800);
    block.set(zeros.data());
    auto* const x = reinterpret_cast<int64_t*>(block.data());
    auto* const d = reinterpret_cast<double*>(block.data());
    auto* const words = static_cast<int64_t*>(out.get());
    auto* const doubles = static_cast<double*>(out.get());
    const Form f{};
    const auto inside = [&](gpumem_status status) { no(GPUMEM_INVALID_ARGUMENT, status, {}, f); };
    for (const int64_t at : {0, 1, 50, 99}) {
      inside(gpumem_reduce_i64(ctx, GPUMEM_SUM, x, 100, 1, x + at));
      inside(gpumem_reduce_i64_async(ctx, GPUMEM_SUM, x, 100, 1, x + at, nullptr, nullptr));
      inside(gpumem_reduce_i64_async(ctx, GPUMEM_SUM, x, 100, 1, words, reinterpret_cast<gpumem_status*>(x + at),
                                     nullptr));
      inside(gpumem_argreduce_i64(ctx, GPUMEM_MIN, x, 100, 1, words, x + at));
      inside(gpumem_argreduce_i64(ctx, GPUMEM_MIN, x, 100, 1, x + at, words));
      inside(gpumem_argreduce_i64_async(ctx, GPUMEM_MIN, x, 100, 1, words, x + at, nullptr));
      inside(gpumem_nrm2_f64(ctx, d, 100, 1, d + at));
      if (at + 10 > 100) continue;
      inside(gpumem_reduce_axis(ctx, GPUMEM_F64, GPUMEM_SUM, GPUMEM_AXIS_ROWS, x, 10, 10, 10, 1, 0, x + at));
      inside(gpumem_reduce_axis_async(ctx, GPUMEM_F64, GPUMEM_SUM, GPUMEM_AXIS_COLS, x, 10, 10, 10, 1, 0, x + at,
                                      nullptr, nullptr));
    }
    inside(gpumem_dot_f64(ctx, d, d + 50, 50, 1, 1, d + 99));
    inside(gpumem_dot_f64(ctx, d, d + 50, 50, 1, 1, d + 3));
    inside(gpumem_dot_f64_async(ctx, d, d + 50, 50, 1, 1, d + 60, nullptr));
    EXPECT_TRUE(block.intact());
    // Next to it is right.
    EXPECT_TRUE(ok(gpumem_reduce_i64(ctx, GPUMEM_SUM, x, 99, 1, x + 99)));
    EXPECT_TRUE(ok(gpumem_nrm2_f64_async(ctx, d + 1, 99, 1, d, nullptr)));
    EXPECT_TRUE(ok(gpumem_stream_synchronize(ctx, nullptr)));
    EXPECT_TRUE(ok(gpumem_nrm2_f64(ctx, d, 1, 1, doubles)));
    EXPECT_EQ(*doubles, 0);
    clear();
  }
}

TEST_P(ReduceRefusals, OfContextsAndStreams) {
  const Context other(GetParam());
  const Stream others(other);
  gpumem_stream* gone = nullptr;
  ASSERT_TRUE(ok(gpumem_stream_create(ctx, &gone)));
  ASSERT_TRUE(ok(gpumem_stream_destroy(gone)));
  auto* const status = reinterpret_cast<gpumem_status*>(out.bytes() + 48);
  for (const Form& f : forms()) {
    const Reduction r{f.dtype, f.op, zeros.data(), 4, 1, zeros.data(), 1};
    no(GPUMEM_INVALID_ARGUMENT, run(nullptr, r, out.get(), f.typed), {"ctx", "NULL"}, f);
    no(GPUMEM_INVALID_ARGUMENT, run_async(nullptr, r, out.get(), status, nullptr, f.typed), {"ctx", "NULL"}, f);
    no(GPUMEM_INVALID_HANDLE, run_async(ctx, r, out.get(), status, gone, f.typed), {"stream"}, f);
    EXPECT_NE(run_async(ctx, r, out.get(), status, others, f.typed), GPUMEM_OK) << "a stream of another context";
    clear();
  }
}

INSTANTIATE_TEST_SUITE_P(On, ReduceRefusals, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
