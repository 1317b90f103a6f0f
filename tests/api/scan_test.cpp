// gpumem_scan(): known values and the outcomes. Bits, alignments and kinds of memory are the conformance tests' matter.
#include "support/scan.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "api/queue_handles.hpp"
#include "support/contexts.hpp"
#include "support/memory.hpp"
#include "support/pages.hpp"

namespace gpumem_test {
namespace {

class ScanCalls : public OnEachContext {
 protected:
  // Both forms of a call on memory that the context's streams can write.
  gpumem_status enqueued(const Scan& s) {
    const Memory word(ctx, GPUMEM_MEMORY_PINNED, 16);
    auto* const status = static_cast<gpumem_status*>(word.get());
    *status = 77;
    const gpumem_status at_once = run_async(ctx, s, status, nullptr);
    EXPECT_TRUE(ok(gpumem_stream_synchronize(ctx, nullptr)));
    EXPECT_EQ(*status == 77, at_once != GPUMEM_OK) << "the status is written by calls that succeed only";
    return at_once != GPUMEM_OK ? at_once : *status;
  }
  template <class F>
  void both(const F& f) {
    f([&](const Scan& s) { return run(ctx, s); });
    f([&](const Scan& s) { return enqueued(s); });
  }

  template <class Out, class In>
  std::vector<Out> values(gpumem_dtype dtype, gpumem_reduce_op op, int32_t exclusive, const std::vector<In>& x,
                          gpumem_dtype result_type) {
    std::vector<Out> result(x.size(), Out{99});
    both([&](const auto& call) {
      EXPECT_TRUE(
          ok(call({dtype, op, exclusive, x.data(), static_cast<int64_t>(x.size()), result.data(), result_type})));
    });
    return result;
  }
};

TEST_P(ScanCalls, KnownValues) {
  const std::vector<int8_t> x = {100, 27, -3, 0, -128};
  using Wide = std::vector<int64_t>;
  EXPECT_EQ(values<int64_t>(GPUMEM_I8, GPUMEM_SUM, 0, x, GPUMEM_I64), (Wide{100, 127, 124, 124, -4}));
  EXPECT_EQ(values<int64_t>(GPUMEM_I8, GPUMEM_SUM, 1, x, GPUMEM_I64), (Wide{0, 100, 127, 124, 124}));
  EXPECT_EQ(values<int8_t>(GPUMEM_I8, GPUMEM_SUM, 0, x, GPUMEM_I8), (std::vector<int8_t>{100, 127, 124, 124, -4}));
  EXPECT_EQ(values<int64_t>(GPUMEM_I8, GPUMEM_PROD, 0, x, GPUMEM_I64), (Wide{100, 2700, -8100, 0, 0}));
  EXPECT_EQ(values<int64_t>(GPUMEM_I8, GPUMEM_MIN, 1, x, GPUMEM_I64), (Wide{127, 100, 27, -3, -3}));
  EXPECT_EQ(values<int8_t>(GPUMEM_I8, GPUMEM_MAX, 1, x, GPUMEM_I8), (std::vector<int8_t>{-128, 100, 100, 100, 100}));
  const std::vector<uint32_t> u = {5, 0xffffffff, 1};
  EXPECT_EQ(values<uint64_t>(GPUMEM_U32, GPUMEM_SUM, 0, u, GPUMEM_U64),
            (std::vector<uint64_t>{5, 0x100000004, 0x100000005}));
  const std::vector<float> f = {0.1f, 0.2f, -0.5f};
  EXPECT_EQ(values<double>(GPUMEM_F32, GPUMEM_SUM, 0, f, GPUMEM_F64),
            (std::vector<double>{0.1f, double{0.1f} + 0.2f, double{0.1f} + 0.2f - 0.5f}));
  EXPECT_EQ(values<float>(GPUMEM_F32, GPUMEM_PROD, 1, f, GPUMEM_F32),
            (std::vector<float>{1, 0.1f, static_cast<float>(double{0.1f} * double{0.2f})}));
}

TEST_P(ScanCalls, NansInfinitiesAndZeros) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::vector<float> x = {0, -0.0f, 0, 3, -kInfinity, std::nanf("5"), 1};
  const std::vector<float> low = values<float>(GPUMEM_F32, GPUMEM_MIN, 1, x, GPUMEM_F32);
  EXPECT_EQ(std::vector<float>(low.begin(), low.begin() + 6),
            (std::vector<float>{kInfinity, 0, -0.0f, -0.0f, -0.0f, -kInfinity}));
  EXPECT_FALSE(std::signbit(low[1]));
  EXPECT_TRUE(std::signbit(low[2]));
  uint32_t bits = 0;
  std::memcpy(&bits, &low[6], 4);
  EXPECT_EQ(bits, 0x7fc00000u);
  const std::vector<double> high = values<double>(GPUMEM_F32, GPUMEM_MAX, 1, x, GPUMEM_F64);
  EXPECT_EQ(high[0], -std::numeric_limits<double>::infinity());
  EXPECT_FALSE(std::signbit(high[2]));
  EXPECT_TRUE(std::isnan(high[6]));
  const std::vector<float> sums = values<float>(GPUMEM_F32, GPUMEM_SUM, 0, x, GPUMEM_F32);
  EXPECT_FALSE(std::signbit(sums[1])) << "a sum of zeros is +0";
  EXPECT_EQ(sums[4], -kInfinity);
  EXPECT_TRUE(std::isnan(sums[5]) && std::isnan(sums[6]));
}

TEST_P(ScanCalls, ReportsTheFirstValueThatDoesNotFit) {
  const std::vector<int16_t> x = {32767, 1, -2, 5};
  const std::vector<int16_t> negative = {-32768, -1, 4, 0};
  const std::vector<uint64_t> u = {1, ~uint64_t{0}, 7};
  const std::vector<int64_t> p = {INT64_MIN, -1, 0};
  both([&](const auto& call) {
    std::vector<int64_t> result(4, 99);
    const auto of = [&](gpumem_dtype dtype, gpumem_reduce_op op, int32_t exclusive, const auto& of_x, int64_t n) {
      return call({dtype, op, exclusive, of_x.data(), n, result.data(), dtype});
    };
    EXPECT_TRUE(gives(GPUMEM_OVERFLOW, of(GPUMEM_I16, GPUMEM_SUM, 0, x, 4)));
    EXPECT_TRUE(gives(GPUMEM_OVERFLOW, of(GPUMEM_I16, GPUMEM_SUM, 1, x, 3)));
    EXPECT_EQ(scan::element(GPUMEM_I16, result.data(), 1), 32767u) << "values before the first one are right";
    EXPECT_TRUE(ok(of(GPUMEM_I16, GPUMEM_SUM, 1, x, 2))) << "the sum of all is no value of an exclusive scan";
    EXPECT_TRUE(gives(GPUMEM_OVERFLOW, of(GPUMEM_I16, GPUMEM_SUM, 0, negative, 4)));
    EXPECT_TRUE(gives(GPUMEM_OVERFLOW, of(GPUMEM_I16, GPUMEM_PROD, 0, negative, 3)));
    EXPECT_TRUE(gives(GPUMEM_OVERFLOW, of(GPUMEM_U64, GPUMEM_SUM, 0, u, 2)));
    EXPECT_TRUE(ok(of(GPUMEM_U64, GPUMEM_PROD, 0, u, 2)));
    EXPECT_TRUE(gives(GPUMEM_OVERFLOW, of(GPUMEM_U64, GPUMEM_PROD, 0, u, 3)));
    EXPECT_TRUE(gives(GPUMEM_OVERFLOW, of(GPUMEM_I64, GPUMEM_PROD, 0, p, 3))) << "a later factor 0 changes nothing";
    EXPECT_TRUE(ok(of(GPUMEM_I64, GPUMEM_MIN, 0, p, 3)));
  });
  std::vector<int64_t> result(4);
  EXPECT_TRUE(refused(GPUMEM_OVERFLOW,
                      run(ctx, Scan{GPUMEM_I16, GPUMEM_SUM, 0, x.data(), 4, result.data(), GPUMEM_I16}), {"i16"}));
}

TEST_P(ScanCalls, OfNothingWritesTheStatusOnly) {
  both([&](const auto& call) {
    EXPECT_TRUE(ok(call({GPUMEM_F32, GPUMEM_SUM, 0, nullptr, 0, nullptr, GPUMEM_F64})));
    EXPECT_TRUE(ok(call({GPUMEM_I8, GPUMEM_MIN, 1, nullptr, 0, nullptr, GPUMEM_I8})));
  });
}

TEST_P(ScanCalls, RefusesBadArguments) {
  std::vector<float> x(16, 1), result(32, -9);
  const std::vector<float> before = result;
  both([&](const auto& call) {
    const auto bad = [&](gpumem_dtype dtype, gpumem_reduce_op op, int32_t exclusive, int64_t n, gpumem_dtype type) {
      return call({dtype, op, exclusive, x.data(), n, result.data(), type});
    };
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, bad(12, GPUMEM_SUM, 0, 4, GPUMEM_F64), {"dtype", "12"}));
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, bad(GPUMEM_F32, 99, 0, 4, GPUMEM_F64), {"op", "99"}));
    for (const gpumem_reduce_op op : kAllOps) {
      if (op == GPUMEM_SUM || op == GPUMEM_MIN || op == GPUMEM_MAX || op == GPUMEM_PROD) continue;
      EXPECT_TRUE(refused(GPUMEM_UNSUPPORTED, bad(GPUMEM_F32, op, 0, 4, GPUMEM_F64), {"op", "GPUMEM_SUM"}));
    }
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, bad(GPUMEM_F32, GPUMEM_SUM, 2, 4, GPUMEM_F64), {"exclusive", "2"}));
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, bad(GPUMEM_F32, GPUMEM_SUM, 0, -100, GPUMEM_F64), {"n", "-100"}));
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, bad(GPUMEM_F32, GPUMEM_SUM, 0, 4, GPUMEM_I64), {"result_type", "6"}));
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, bad(GPUMEM_F32, GPUMEM_SUM, 0, INT64_MAX / 4 + 1, GPUMEM_F32), {"x"}));
    EXPECT_TRUE(
        refused(GPUMEM_INVALID_ARGUMENT, bad(GPUMEM_F32, GPUMEM_SUM, 0, INT64_MAX / 8 + 1, GPUMEM_F64), {"result"}));
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT,
                        call({GPUMEM_F32, GPUMEM_SUM, 0, nullptr, 4, result.data(), GPUMEM_F32}), {"x", "NULL"}));
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, call({GPUMEM_F32, GPUMEM_SUM, 0, x.data(), 4, nullptr, GPUMEM_F32}),
                        {"result", "NULL"}));
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT,
                        call({GPUMEM_F32, GPUMEM_SUM, 0, x.data(), 4, x.data() + 1, GPUMEM_F32}), {"x", "result"}));
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, call({GPUMEM_F32, GPUMEM_SUM, 0, x.data(), 4, x.data(), GPUMEM_F64}),
                        {"x", "result"}));
  });
  EXPECT_EQ(result, before);
}

TEST_P(ScanCalls, InPlace) {
  both([&](const auto& call) {
    std::vector<double> x(5000);
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i % 7);
    std::vector<double> expected(x.size());
    ASSERT_TRUE(ok(run(ctx, Scan{GPUMEM_F64, GPUMEM_SUM, 1, x.data(), 5000, expected.data(), GPUMEM_F64})));
    ASSERT_TRUE(ok(call({GPUMEM_F64, GPUMEM_SUM, 1, x.data(), 5000, x.data(), GPUMEM_F64})));
    EXPECT_EQ(x, expected);
  });
}

TEST_P(ScanCalls, BetweenEveryTwoKinds) {
  constexpr int64_t kN = 1001;
  const std::vector<int16_t> ones(kN, 1);
  std::vector<int64_t> expected(kN);
  for (int64_t i = 0; i < kN; ++i) expected[static_cast<size_t>(i)] = i + 1;
  for (const gpumem_memory_kind of_x : kAllKinds) {
    for (const gpumem_memory_kind of_result : kAllKinds) {
      GuardedBuffer x(ctx, of_x, kN * 2, 2);
      x.set(ones.data());
      for (const bool async : {false, true}) {
        const std::string what = std::string(kind_name(of_x)) + " to " + kind_name(of_result);
        GuardedBuffer result(ctx, of_result, kN * 8, 8);
        const bool across = on_cuda() && (of_x >= GPUMEM_MEMORY_DEVICE) != (of_result >= GPUMEM_MEMORY_DEVICE);
        const Scan call{GPUMEM_I16, GPUMEM_SUM, 0, x.data(), kN, result.data(), GPUMEM_I64};
        const gpumem_status status = async ? enqueued(call) : run(ctx, call);
        if (across && async) {
          EXPECT_TRUE(refused(GPUMEM_UNSUPPORTED, status, {"x", "result"})) << what;
        } else {
          ASSERT_TRUE(ok(status)) << what;
          std::memcpy(result.image(), expected.data(), kN * 8);
        }
        EXPECT_TRUE(result.intact()) << what;
        EXPECT_TRUE(x.intact()) << what;
      }
    }
  }
}

TEST_P(ScanCalls, TheStatusWordIsCheckedLikeAnyOutput) {
  const Memory block(ctx, GPUMEM_MEMORY_PINNED, 256);
  std::memset(block.get(), 0, 256);
  char* const p = block.bytes();
  const auto enqueue = [&](void* status) {
    return run_async(ctx, Scan{GPUMEM_I32, GPUMEM_SUM, 0, p, 8, p + 64, GPUMEM_I64},
                     static_cast<gpumem_status*>(status), nullptr);
  };
  EXPECT_TRUE(ok(enqueue(nullptr)));
  EXPECT_TRUE(ok(enqueue(p + 32)));
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, enqueue(p + 33), {"status", "4"}));
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, enqueue(p + 28), {"status", "x"}));
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, enqueue(p + 124), {"status", "result"}));
  gpumem_status pageable = 77;
  EXPECT_TRUE(gives(on_cuda() ? GPUMEM_INVALID_POINTER : GPUMEM_OK, enqueue(&pageable)));
  EXPECT_TRUE(ok(gpumem_stream_synchronize(ctx, nullptr)));
}

TEST_P(ScanCalls, RunsInTheOrderOfItsStream) {
  constexpr int64_t kN = 1 << 20;
  const Stream stream(ctx);
  for (const gpumem_memory_kind kind : {GPUMEM_MEMORY_PAGEABLE, GPUMEM_MEMORY_DEVICE}) {
    const Memory a(ctx, kind, kN * 4);
    const Memory b(ctx, kind, kN * 8);
    const int32_t three = 3;
    ASSERT_TRUE(ok(gpumem_fill_async(ctx, a.get(), &three, 4, kN, stream)));
    const Scan call{GPUMEM_I32, GPUMEM_SUM, 0, a.get(), kN, b.get(), GPUMEM_I64};
    ASSERT_TRUE(ok(run_async(ctx, call, nullptr, stream)));
    ASSERT_TRUE(ok(gpumem_stream_synchronize(ctx, stream)));
    int64_t sum = 0;
    ASSERT_TRUE(ok(gpumem_reduce_i64(ctx, GPUMEM_SUM, static_cast<const int64_t*>(b.get()), kN, 1, &sum)));
    EXPECT_EQ(sum, 3 * (kN * (kN + 1) / 2)) << kind_name(kind);
  }
}

TEST_P(ScanCalls, ExplainsWhereItRunsAndWhatItReads) {
  const Memory x(ctx, GPUMEM_MEMORY_DEVICE, 4096);
  const Memory result(ctx, GPUMEM_MEMORY_DEVICE, 4096);
  const auto explained_of = [&](gpumem_reduce_op op) {
    Explained explained;
    EXPECT_TRUE(ok(explain(ctx, line_of(ctx, {GPUMEM_F32, op, 0, x.get(), 500, result.get(), GPUMEM_F32}), explained)));
    return explained;
  };
  EXPECT_EQ(explained_of(GPUMEM_SUM).variant, on_cuda() ? "ordered_rows" : "host_parallel");
  EXPECT_EQ(explained_of(GPUMEM_MIN).variant, on_cuda() ? "look_back" : "host_parallel");
  ASSERT_TRUE(ok(run(ctx, Scan{GPUMEM_F32, GPUMEM_SUM, 1, x.get(), 500, result.get(), GPUMEM_F64})));
  EXPECT_EQ(last_problem(), "scan dtype=f32 op=sum n=500 exclusive=1 x=device result=device");
}

INSTANTIATE_TEST_SUITE_P(On, ScanCalls, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
