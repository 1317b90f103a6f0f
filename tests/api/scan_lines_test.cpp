// gpumem_scan_axis() and gpumem_scan_segments(): known values and the outcomes. Bits, alignments and kinds of memory are
// the conformance tests' matter.
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "api/queue_handles.hpp"
#include "support/contexts.hpp"
#include "support/memory.hpp"
#include "support/scan.hpp"

namespace gpumem_test {
namespace {

using Wide = std::vector<int64_t>;

class ScanLines : public OnEachContext {
 protected:
  template <class Call>
  gpumem_status enqueued(const Call& call) {
    const Memory word(ctx, GPUMEM_MEMORY_PINNED, 16);
    auto* const status = static_cast<gpumem_status*>(word.get());
    *status = 77;
    const gpumem_status at_once = run_async(ctx, call, status, nullptr);
    EXPECT_TRUE(ok(gpumem_stream_synchronize(ctx, nullptr)));
    EXPECT_EQ(*status == 77, at_once != GPUMEM_OK) << "the status is written by calls that succeed only";
    return at_once != GPUMEM_OK ? at_once : *status;
  }
  // f(run): once with the blocking form of a call, once with its asynchronous form.
  template <class F>
  void both(const F& f) {
    f([&](const auto& call) { return run(ctx, call); });
    f([&](const auto& call) { return enqueued(call); });
  }
};

std::vector<int32_t> counted(size_t n) {
  std::vector<int32_t> x(n);
  std::iota(x.begin(), x.end(), 1);
  return x;
}

TEST_P(ScanLines, KnownValuesAlongEachAxis) {
  const std::vector<int32_t> x = counted(12);
  const int64_t extents[] = {2, 3, 2};
  both([&](const auto& call) {
    const auto sums = [&](int32_t axis, int32_t exclusive) {
      Wide result(12, -9);
      EXPECT_TRUE(ok(call(
          AxisScan{{GPUMEM_I32, GPUMEM_SUM, exclusive, x.data(), 0, result.data(), GPUMEM_I64}, 3, extents, axis})));
      return result;
    };
    EXPECT_EQ(sums(0, 0), (Wide{1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 18}));
    EXPECT_EQ(sums(1, 0), (Wide{1, 2, 4, 6, 9, 12, 7, 8, 16, 18, 27, 30}));
    EXPECT_EQ(sums(2, 0), (Wide{1, 3, 3, 7, 5, 11, 7, 15, 9, 19, 11, 23}));
    EXPECT_EQ(sums(1, 1), (Wide{0, 0, 1, 2, 4, 6, 0, 0, 7, 8, 16, 18}));
  });
}

TEST_P(ScanLines, StridesOfBothViews) {
  const std::vector<int32_t> x = counted(12);
  const int64_t extents[] = {3, 2}, transposed[] = {1, 6}, repeated[] = {0, 1}, padded[] = {4, 2};
  both([&](const auto& call) {
    Wide result(12, -9);
    const auto of = [&](const int64_t* x_strides) {
      return AxisScan{
          {GPUMEM_I32, GPUMEM_SUM, 0, x.data(), 0, result.data(), GPUMEM_I64}, 2, extents, 0, x_strides, padded};
    };
    EXPECT_TRUE(ok(call(of(transposed))));
    EXPECT_EQ(result, (Wide{1, -9, 7, -9, 3, -9, 15, -9, 6, -9, 24, -9})) << "elements between the results stay";
    EXPECT_TRUE(ok(call(of(repeated))));
    EXPECT_EQ(result, (Wide{1, -9, 2, -9, 2, -9, 4, -9, 3, -9, 6, -9}));
  });
}

TEST_P(ScanLines, InPlace) {
  const int64_t extents[] = {40, 7, 3}, strides[] = {30, 1, 10};
  both([&](const auto& call) {
    for (const int32_t axis : {0, 1, 2}) {
      std::vector<int32_t> x(1200, 2), expected(1200, 2);
      ASSERT_TRUE(ok(run(ctx, AxisScan{{GPUMEM_I32, GPUMEM_SUM, 1, x.data(), 0, expected.data(), GPUMEM_I32},
                                       3,
                                       extents,
                                       axis,
                                       strides,
                                       strides})));
      ASSERT_TRUE(ok(call(AxisScan{
          {GPUMEM_I32, GPUMEM_SUM, 1, x.data(), 0, x.data(), GPUMEM_I32}, 3, extents, axis, strides, strides})));
      EXPECT_EQ(x, expected) << "axis " << axis;
    }
  });
}

TEST_P(ScanLines, AnOverflowLeavesTheOtherLinesRight) {
  const std::vector<int8_t> x = {1, 2, 100, 100, 5, 6};
  const int64_t extents[] = {3, 2};
  both([&](const auto& call) {
    std::vector<int8_t> result(6);
    const auto of = [&](int32_t exclusive) {
      return call(AxisScan{{GPUMEM_I8, GPUMEM_SUM, exclusive, x.data(), 0, result.data(), GPUMEM_I8}, 2, extents, 1});
    };
    EXPECT_TRUE(gives(GPUMEM_OVERFLOW, of(0)));
    EXPECT_EQ(std::vector<int8_t>({result[0], result[1], result[2], result[4], result[5]}),
              (std::vector<int8_t>{1, 3, 100, 5, 11}));
    EXPECT_TRUE(ok(of(1))) << "the sum of all elements of a line is no value of an exclusive scan";
    EXPECT_EQ(result, (std::vector<int8_t>{0, 1, 0, 100, 0, 5}));
  });
}

TEST_P(ScanLines, OfNothingWritesTheStatusOnly) {
  const int64_t extents[] = {3, 0, 5};
  const std::vector<int64_t> offsets = {0, 0};
  both([&](const auto& call) {
    const Scan none{GPUMEM_F32, GPUMEM_SUM, 0, nullptr, 0, nullptr, GPUMEM_F64};
    for (const int32_t axis : {0, 1, 2}) EXPECT_TRUE(ok(call(AxisScan{none, 3, extents, axis})));
    EXPECT_TRUE(ok(call(SegmentsScan{none, offsets.data(), 1})));
    EXPECT_TRUE(ok(call(SegmentsScan{none, nullptr, 0})));
  });
}

TEST_P(ScanLines, KnownValuesOfSegments) {
  const std::vector<int32_t> x = {3, 1, 4, 1, 5};
  const std::vector<int64_t> offsets = {1, 1, 3, 4, 4};
  both([&](const auto& call) {
    Wide result(5, -9);
    const auto of = [&](gpumem_reduce_op op, int32_t exclusive, int64_t segments) {
      return call(
          SegmentsScan{{GPUMEM_I32, op, exclusive, x.data(), 5, result.data(), GPUMEM_I64}, offsets.data(), segments});
    };
    EXPECT_TRUE(ok(of(GPUMEM_SUM, 0, 4)));
    EXPECT_EQ(result, (Wide{-9, 1, 5, 1, -9})) << "results of elements in no segment are not written";
    EXPECT_TRUE(ok(of(GPUMEM_MAX, 1, 2)));
    EXPECT_EQ(result, (Wide{-9, INT32_MIN, 1, 1, -9}));
    EXPECT_TRUE(ok(of(GPUMEM_SUM, 0, 0)));
    EXPECT_EQ(result, (Wide{-9, INT32_MIN, 1, 1, -9}));
  });
}

TEST_P(ScanLines, BadOffsetsSpoilTheirSegmentsOnly) {
  const std::vector<int8_t> x = {3, 1, 4, 100, 100, 7};
  both([&](const auto& call) {
    std::vector<int8_t> result(6, -9);
    const auto of = [&](const std::vector<int64_t>& offsets) {
      result.assign(6, -9);
      return call(SegmentsScan{{GPUMEM_I8, GPUMEM_SUM, 0, x.data(), 6, result.data(), GPUMEM_I8},
                               offsets.data(),
                               static_cast<int64_t>(offsets.size()) - 1});
    };
    EXPECT_TRUE(gives(GPUMEM_OUT_OF_RANGE, of({0, 2, 7, 5, 6})));
    EXPECT_EQ(result, (std::vector<int8_t>{3, 4, -9, -9, -9, 7}));
    EXPECT_TRUE(gives(GPUMEM_OUT_OF_RANGE, of({-1, 2, 4})));
    EXPECT_EQ(result, (std::vector<int8_t>{-9, -9, 4, 104, -9, -9}));
    EXPECT_TRUE(gives(GPUMEM_OUT_OF_RANGE, of({2, 1})));
    EXPECT_TRUE(gives(GPUMEM_OVERFLOW, of({0, 2, 1, 5}))) << "the larger of two codes";
    EXPECT_TRUE(gives(GPUMEM_OUT_OF_RANGE, of({INT64_MIN, INT64_MAX, 6})));
    EXPECT_EQ(result, (std::vector<int8_t>(6, -9)));
  });
  std::vector<int8_t> result(6);
  const int64_t offsets[] = {0, 2, 7};
  EXPECT_TRUE(
      refused(GPUMEM_OUT_OF_RANGE,
              run(ctx, SegmentsScan{{GPUMEM_I8, GPUMEM_SUM, 0, x.data(), 6, result.data(), GPUMEM_I8}, offsets, 2}),
              {"offsets[2]", "7", "n = 6"}));
}

TEST_P(ScanLines, RefusesBadViews) {
  std::vector<float> x(64, 1), result(64, -9);
  const std::vector<float> before = result;
  const std::vector<int64_t> good = {4, 3}, negative = {4, -3}, huge = {INT64_MAX / 8, 3}, nine(9, 1);
  const std::vector<int64_t> backward = {-3, 1}, wide = {INT64_MAX / 2, 1}, flat = {0, 1}, close = {2, 1};
  both([&](const auto& call) {
    const auto of = [&](int32_t ndim, const int64_t* extents, int32_t axis, const int64_t* x_strides = nullptr,
                        const int64_t* result_strides = nullptr) {
      return call(AxisScan{{GPUMEM_F32, GPUMEM_SUM, 0, x.data(), 0, result.data(), GPUMEM_F32},
                           ndim,
                           extents,
                           axis,
                           x_strides,
                           result_strides});
    };
    constexpr gpumem_status kBad = GPUMEM_INVALID_ARGUMENT;
    EXPECT_TRUE(refused(kBad, of(0, good.data(), 0), {"ndim", "0", "8"}));
    EXPECT_TRUE(refused(kBad, of(9, nine.data(), 0), {"ndim", "9", "8"}));
    EXPECT_TRUE(refused(kBad, of(-1, good.data(), 0), {"ndim", "-1"}));
    EXPECT_TRUE(refused(kBad, of(2, nullptr, 0), {"extents", "NULL"}));
    EXPECT_TRUE(refused(kBad, of(2, good.data(), 2), {"axis", "2"}));
    EXPECT_TRUE(refused(kBad, of(2, good.data(), -1), {"axis", "-1"}));
    EXPECT_TRUE(gives(kBad, of(2, negative.data(), 0)));
    EXPECT_TRUE(refused(kBad, of(2, huge.data(), 0), {"x"}));
    EXPECT_TRUE(refused(kBad, of(2, good.data(), 0, backward.data()), {"x_strides[0]", "-3"}));
    EXPECT_TRUE(refused(kBad, of(2, good.data(), 0, nullptr, backward.data()), {"result_strides[0]", "-3"}));
    EXPECT_TRUE(refused(kBad, of(2, good.data(), 0, wide.data()), {"x"}));
    EXPECT_TRUE(refused(kBad, of(2, good.data(), 0, nullptr, flat.data()), {"result_strides[0]", "0"}));
    EXPECT_TRUE(refused(kBad, of(2, good.data(), 0, nullptr, close.data()), {"result_strides[0]", "2", "3"}));
  });
  EXPECT_EQ(result, before);
}

TEST_P(ScanLines, RefusesBadOperandsOfViews) {
  std::vector<float> x(64, 1), result(64, -9);
  const int64_t extents[] = {4, 3}, padded[] = {4, 1};
  both([&](const auto& call) {
    const auto of = [&](const Scan& scan, const int64_t* result_strides = nullptr) {
      return call(AxisScan{scan, 2, extents, 0, nullptr, result_strides});
    };
    constexpr gpumem_status kBad = GPUMEM_INVALID_ARGUMENT;
    float* const p = x.data();
    float* const to = result.data();
    EXPECT_TRUE(refused(kBad, of({12, GPUMEM_SUM, 0, p, 0, to, GPUMEM_F64}), {"dtype", "12"}));
    EXPECT_TRUE(refused(GPUMEM_UNSUPPORTED, of({GPUMEM_F32, GPUMEM_MAX_ABS, 0, p, 0, to, GPUMEM_F64}), {"op"}));
    EXPECT_TRUE(refused(kBad, of({GPUMEM_F32, GPUMEM_SUM, 2, p, 0, to, GPUMEM_F64}), {"exclusive", "2"}));
    EXPECT_TRUE(refused(kBad, of({GPUMEM_F32, GPUMEM_SUM, 0, p, 0, to, GPUMEM_I64}), {"result_type"}));
    EXPECT_TRUE(refused(kBad, of({GPUMEM_F32, GPUMEM_SUM, 0, nullptr, 0, to, GPUMEM_F32}), {"x", "NULL"}));
    EXPECT_TRUE(refused(kBad, of({GPUMEM_F32, GPUMEM_SUM, 0, p, 0, nullptr, GPUMEM_F32}), {"result", "NULL"}));
    EXPECT_TRUE(refused(kBad, of({GPUMEM_F32, GPUMEM_SUM, 0, p, 0, p + 1, GPUMEM_F32}), {"x", "result"}));
    EXPECT_TRUE(refused(kBad, of({GPUMEM_F32, GPUMEM_SUM, 0, p, 0, p, GPUMEM_F64}), {"x", "result"}));
    EXPECT_TRUE(refused(kBad, of({GPUMEM_F32, GPUMEM_SUM, 0, p, 0, p, GPUMEM_F32}, padded), {"x", "result"}));
    EXPECT_TRUE(ok(of({GPUMEM_F32, GPUMEM_SUM, 0, p, 0, p, GPUMEM_F32})));
  });
}

TEST_P(ScanLines, RefusesBadSegments) {
  std::vector<int64_t> x(16, 1), result(32, -9);
  const Wide before = result;
  alignas(8) char bytes[32] = {};
  both([&](const auto& call) {
    const auto of = [&](int64_t n, const int64_t* offsets, int64_t segments, int64_t* to) {
      return call(SegmentsScan{{GPUMEM_I64, GPUMEM_SUM, 0, x.data(), n, to, GPUMEM_I64}, offsets, segments});
    };
    const Wide offsets = {0, 1, 2};
    constexpr gpumem_status kBad = GPUMEM_INVALID_ARGUMENT;
    int64_t* const to = result.data();
    EXPECT_TRUE(refused(kBad, of(4, nullptr, 2, to), {"offsets", "NULL"}));
    EXPECT_TRUE(refused(kBad, of(4, offsets.data(), -2, to), {"segments", "-2"}));
    EXPECT_TRUE(refused(kBad, of(4, nullptr, -2, to), {"segments", "-2"}));
    EXPECT_TRUE(refused(kBad, of(-4, offsets.data(), 2, to), {"n", "-4"}));
    EXPECT_TRUE(refused(kBad, of(-4, nullptr, 2, to), {"n", "-4"}));
    EXPECT_TRUE(refused(kBad, of(4, offsets.data(), INT64_MAX, to), {"segments"}));
    EXPECT_TRUE(refused(kBad, of(4, offsets.data(), INT64_MAX / 8, to), {"offsets"}));
    EXPECT_TRUE(refused(kBad, of(4, reinterpret_cast<const int64_t*>(bytes + 4), 2, to), {"offsets", "8"}));
    EXPECT_TRUE(refused(kBad, of(4, to + 2, 2, to), {"offsets", "result"}));
    EXPECT_TRUE(refused(kBad, of(4, offsets.data(), 2, x.data() + 1), {"x", "result"}));
    EXPECT_TRUE(refused(kBad, of(4, offsets.data(), 2, nullptr), {"result", "NULL"}));
  });
  EXPECT_EQ(result, before);
}

TEST_P(ScanLines, TheStatusWordIsCheckedLikeAnyOutput) {
  const Memory block(ctx, GPUMEM_MEMORY_PINNED, 512);
  std::memset(block.get(), 0, 512);
  char* const p = block.bytes();
  const auto* const offsets = reinterpret_cast<const int64_t*>(p + 256);
  const Scan scan{GPUMEM_I32, GPUMEM_SUM, 0, p, 8, p + 64, GPUMEM_I64};
  const int64_t extents[] = {2, 4};
  const auto enqueue = [&](auto call, void* status) {
    return run_async(ctx, call, static_cast<gpumem_status*>(status), nullptr);
  };
  const AxisScan axis{scan, 2, extents, 0};
  const SegmentsScan segments{scan, offsets, 2};
  const auto check = [&](const auto& call) {
    EXPECT_TRUE(ok(enqueue(call, nullptr)));
    EXPECT_TRUE(ok(enqueue(call, p + 32)));
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, enqueue(call, p + 33), {"status", "4"}));
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, enqueue(call, p + 28), {"status", "x"}));
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, enqueue(call, p + 124), {"status", "result"}));
    gpumem_status pageable = 77;
    EXPECT_TRUE(gives(on_cuda() ? GPUMEM_INVALID_POINTER : GPUMEM_OK, enqueue(call, &pageable)));
    EXPECT_TRUE(ok(gpumem_stream_synchronize(ctx, nullptr)));
  };
  check(axis);
  check(segments);
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, enqueue(segments, p + 272), {"status", "offsets"}));
}

TEST_P(ScanLines, BetweenBothSides) {
  if (!on_cuda()) GTEST_SKIP() << "a host context has one side";
  const std::vector<int32_t> x = counted(6);
  const int64_t extents[] = {2, 3}, offsets[] = {0, 2, 6};
  const Memory there(ctx, GPUMEM_MEMORY_DEVICE, 24), result(ctx, GPUMEM_MEMORY_DEVICE, 48);
  upload(ctx, there.get(), x.data(), 24);
  const auto downloaded = [&] {
    Wide values(6);
    EXPECT_TRUE(ok(gpumem_copy(ctx, values.data(), result.get(), 48)));
    return values;
  };
  const Scan across{GPUMEM_I32, GPUMEM_SUM, 0, x.data(), 6, result.get(), GPUMEM_I64};
  const AxisScan axis{across, 2, extents, 1};
  EXPECT_TRUE(refused(GPUMEM_UNSUPPORTED, enqueued(axis), {"x", "result"}));
  EXPECT_TRUE(ok(run(ctx, axis)));
  EXPECT_EQ(downloaded(), (Wide{1, 3, 6, 4, 9, 15}));
  Scan near = across;
  near.x = there.get();
  const SegmentsScan segments{near, offsets, 2};
  EXPECT_TRUE(refused(GPUMEM_UNSUPPORTED, enqueued(segments), {"offsets", "result"}));
  EXPECT_TRUE(ok(run(ctx, segments)));
  EXPECT_EQ(downloaded(), (Wide{1, 3, 3, 7, 12, 18}));
}

TEST_P(ScanLines, RunsInTheOrderOfItsStream) {
  constexpr int64_t kN = 1 << 20;
  const Stream stream(ctx);
  const int64_t extents[] = {1024, 1024};
  for (const gpumem_memory_kind kind : {GPUMEM_MEMORY_PAGEABLE, GPUMEM_MEMORY_DEVICE}) {
    const Memory a(ctx, kind, kN * 4), b(ctx, kind, kN * 8), ends(ctx, kind, 24);
    const int64_t offsets[] = {0, kN / 4, kN};
    ASSERT_TRUE(ok(gpumem_copy(ctx, ends.get(), offsets, sizeof offsets)));
    const Scan scan{GPUMEM_I32, GPUMEM_SUM, 0, a.get(), kN, b.get(), GPUMEM_I64};
    const auto sum = [&](const auto& call, int32_t element) {
      EXPECT_TRUE(ok(gpumem_fill_async(ctx, a.get(), &element, 4, kN, stream)));
      EXPECT_TRUE(ok(run_async(ctx, call, nullptr, stream)));
      EXPECT_TRUE(ok(gpumem_stream_synchronize(ctx, stream)));
      int64_t all = 0;
      EXPECT_TRUE(ok(gpumem_reduce_i64(ctx, GPUMEM_SUM, static_cast<const int64_t*>(b.get()), kN, 1, &all)));
      return all;
    };
    const auto total = [](int64_t n) { return n * (n + 1) / 2; };
    EXPECT_EQ(sum(AxisScan{scan, 2, extents, 0}, 3), 3 * 1024 * total(1024)) << kind_name(kind);
    EXPECT_EQ(sum(AxisScan{scan, 2, extents, 1}, 5), 5 * 1024 * total(1024)) << kind_name(kind);
    const SegmentsScan segments{scan, static_cast<const int64_t*>(ends.get()), 2};
    EXPECT_EQ(sum(segments, 7), 7 * (total(kN / 4) + total(kN - kN / 4))) << kind_name(kind);
  }
}

TEST_P(ScanLines, ExplainsWhereItRunsAndWhatItReads) {
  const Memory x(ctx, GPUMEM_MEMORY_DEVICE, 4096), result(ctx, GPUMEM_MEMORY_DEVICE, 8192);
  const int64_t offsets[] = {0, 100, 500}, extents[] = {20, 25}, strides[] = {30, 1};
  const char* const lines = on_cuda() ? "lines" : "host_lines";
  const auto variant_of = [&](const std::string& line) {
    Explained explained;
    EXPECT_TRUE(ok(explain(ctx, line, explained))) << line;
    return explained.variant;
  };
  const Scan scan{GPUMEM_F32, GPUMEM_SUM, 0, x.get(), 500, result.get(), GPUMEM_F64};
  ASSERT_TRUE(ok(run(ctx, AxisScan{scan, 2, extents, 0, strides})));
  EXPECT_EQ(last_problem(), "scan dtype=f32 op=sum extents=20x25 axis=0 x_strides=30,1 x=device result=device");
  EXPECT_EQ(variant_of(last_problem()), lines);
  ASSERT_TRUE(ok(run(ctx, AxisScan{scan, 2, extents, 1})));
  EXPECT_EQ(last_problem(), "scan dtype=f32 op=sum extents=20x25 x=device result=device");
  ASSERT_TRUE(ok(run(ctx, SegmentsScan{scan, offsets, 2})));
  EXPECT_EQ(last_problem(), "scan dtype=f32 op=sum n=500 segments=2 x=device result=device offsets=pageable");
  EXPECT_EQ(variant_of(last_problem()), lines);
  const int64_t one[] = {1, 500, 1};
  ASSERT_TRUE(ok(run(ctx, AxisScan{scan, 3, one, 1})));
  EXPECT_EQ(variant_of(last_problem()), on_cuda() ? "ordered_rows" : "host_parallel") << "one line is one sequence";
}

INSTANTIATE_TEST_SUITE_P(On, ScanLines, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
