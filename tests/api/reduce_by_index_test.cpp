// gpumem_reduce_by_index(): known bins, counts, bins without a value, nothing, order, and bad input. Types, operations,
// alignments and kinds of memory by every variant are the conformance tests' matter.
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "api/gate.hpp"
#include "api/queue_handles.hpp"
#include "support/by_index.hpp"
#include "support/contexts.hpp"
#include "support/memory.hpp"
#include "support/pages.hpp"

namespace gpumem_test {
namespace {

class ByIndexOn : public OnEachContext {
 protected:
  // Calls check(call, form) for the plain form and the enqueued one, which is waited for; what only the run finds comes
  // from the status word then.
  template <class Check>
  void both(Check check) {
    check([this](const ByIndex& b, void* result) { return run(ctx, b, result); }, "plain");
    check(
        [this](const ByIndex& b, void* result) {
          const Memory block(ctx, GPUMEM_MEMORY_PINNED, 4);
          auto* const word = static_cast<gpumem_status*>(block.get());
          *word = 77;
          const gpumem_status at_once = run_async(ctx, b, result, word, nullptr);
          EXPECT_TRUE(ok(gpumem_stream_synchronize(ctx, nullptr)));
          EXPECT_EQ(*word == 77, at_once != GPUMEM_OK) << "the status is written by calls that succeed alone";
          return at_once == GPUMEM_OK ? *word : at_once;
        },
        "enqueued");
  }
  // Results that each form of a call may write.
  template <class T>
  struct Pinned {
    Pinned(gpumem_ctx* ctx, size_t count, T value) : block(ctx, GPUMEM_MEMORY_PINNED, 8 * static_cast<int64_t>(count)) {
      for (size_t i = 0; i < count; ++i) data()[i] = value;
      size = count;
    }
    T* data() const { return static_cast<T*>(block.get()); }
    std::vector<T> now() const { return {data(), data() + size}; }
    Memory block;
    size_t size = 0;
  };
};

TEST_P(ByIndexOn, KnownBins) {
  both([&](const auto& call, const char* form) {
    const std::vector<float> x = {1, 2, 4, 8, 16, 0.5f};
    const std::vector<int32_t> index = {2, 0, 2, 0, 3, 2};
    const Pinned<double> sums(ctx, 5, -9);
    EXPECT_TRUE(ok(call({GPUMEM_F32, GPUMEM_SUM, x.data(), GPUMEM_I32, index.data(), 6, 4}, sums.data()))) << form;
    EXPECT_EQ(sums.now(), (std::vector<double>{10, 0, 5.5, 16, -9})) << form;
    const std::vector<int16_t> numbers = {-5, 7, 3, -1};
    const std::vector<uint64_t> bins = {1, 0, 1, 1};
    const Pinned<int64_t> ranges(ctx, 4, 0);
    EXPECT_TRUE(ok(call({GPUMEM_I16, GPUMEM_MIN_MAX, numbers.data(), GPUMEM_U64, bins.data(), 4, 2}, ranges.data())));
    EXPECT_EQ(ranges.now(), (std::vector<int64_t>{7, 7, -5, 3})) << form;
  });
}

TEST_P(ByIndexOn, KnownRows) {
  both([&](const auto& call, const char* form) {
    const std::vector<float> x = {1, 2, -99, 4, 8, -99, 16, 0.5f};  // the last row has no padding
    const std::vector<int32_t> index = {2, 0, 2};
    const Pinned<double> sums(ctx, 7, -9);
    EXPECT_TRUE(ok(call({GPUMEM_F32, GPUMEM_SUM, x.data(), GPUMEM_I32, index.data(), 3, 3, 2, 3}, sums.data())));
    EXPECT_EQ(sums.now(), (std::vector<double>{4, 8, 0, 0, 17, 2.5, -9})) << form;
    const std::vector<int16_t> numbers = {-5, 7, 3, -1};
    const std::vector<uint64_t> bins = {1, 0};
    const Pinned<int64_t> ranges(ctx, 8, 0);
    EXPECT_TRUE(
        ok(call({GPUMEM_I16, GPUMEM_MIN_MAX, numbers.data(), GPUMEM_U64, bins.data(), 2, 2, 2, 2}, ranges.data())));
    EXPECT_EQ(ranges.now(), (std::vector<int64_t>{3, 3, -1, -1, -5, -5, 7, 7})) << form;
    // One column is a vector, with gaps or without.
    for (const int64_t ld : {1, 3}) {
      EXPECT_TRUE(
          ok(call({GPUMEM_I16, GPUMEM_SUM, numbers.data(), GPUMEM_U64, bins.data(), 2, 2, 1, ld}, ranges.data())));
      EXPECT_EQ(ranges.data()[0], ld == 1 ? 7 : -1) << form;
    }
  });
}

TEST_P(ByIndexOn, RowsOfNothing) {
  both([&](const auto& call, const char* form) {
    const Pinned<int64_t> result(ctx, 5, 99);
    const int64_t index = -7;
    const auto of = [&](gpumem_reduce_op op, int64_t rows, int64_t cols, int64_t bins) {
      return call({GPUMEM_I32, op, nullptr, GPUMEM_I64, rows > 0 ? &index : nullptr, rows, bins, cols, cols + 1},
                  result.data());
    };
    for (const int64_t rows : {0, 1}) {
      for (const int64_t bins : {0, 2}) EXPECT_TRUE(ok(of(GPUMEM_MAX, rows, 0, bins))) << form;
    }
    EXPECT_TRUE(ok(of(GPUMEM_MAX, 0, 2, 0))) << form;
    EXPECT_EQ(result.now(), std::vector<int64_t>(5, 99));
    EXPECT_TRUE(ok(of(GPUMEM_PROD, 0, 2, 2))) << form;
    EXPECT_EQ(result.now(), (std::vector<int64_t>{1, 1, 1, 1, 99}));
    EXPECT_TRUE(gives(GPUMEM_EMPTY, of(GPUMEM_MAX, 0, 5, 1))) << form;
    EXPECT_EQ(result.now(), std::vector<int64_t>(5, 0));
  });
}

TEST_P(ByIndexOn, CountsWithoutElements) {
  both([&](const auto& call, const char* form) {
    const std::vector<uint32_t> index = {4, 0, 4, 4, 1};
    const Pinned<int64_t> counts(ctx, 6, -9);
    EXPECT_TRUE(ok(call({GPUMEM_I64, GPUMEM_SUM, nullptr, GPUMEM_U32, index.data(), 5, 5}, counts.data()))) << form;
    EXPECT_EQ(counts.now(), (std::vector<int64_t>{1, 1, 0, 0, 3, -9})) << form;
    for (const auto& [dtype, op] : {std::pair{GPUMEM_I64, GPUMEM_MAX}, std::pair{GPUMEM_F32, GPUMEM_SUM}}) {
      EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT,
                          call({dtype, op, nullptr, GPUMEM_U32, index.data(), 5, 5}, counts.data()),
                          {"x is NULL", std::to_string(dtype), std::to_string(op)}));
    }
  });
}

TEST_P(ByIndexOn, BinsWithoutAValueAreZero) {
  both([&](const auto& call, const char* form) {
    const std::vector<int64_t> x = {INT64_MAX, 1, -3, 5};
    const std::vector<int32_t> index = {0, 0, 2, 2};
    const Pinned<int64_t> result(ctx, 3, 99);
    const auto of = [&](gpumem_reduce_op op) {
      return call({GPUMEM_I64, op, x.data(), GPUMEM_I32, index.data(), 4, 3}, result.data());
    };
    EXPECT_TRUE(gives(GPUMEM_OVERFLOW, of(GPUMEM_SUM)));
    EXPECT_EQ(result.now(), (std::vector<int64_t>{0, 0, 2})) << form;
    EXPECT_TRUE(gives(GPUMEM_EMPTY, of(GPUMEM_MAX)));
    EXPECT_EQ(result.now(), (std::vector<int64_t>{INT64_MAX, 0, 5})) << form;
    EXPECT_TRUE(gives(GPUMEM_OK, of(GPUMEM_PROD)));
    EXPECT_EQ(result.now(), (std::vector<int64_t>{INT64_MAX, 1, -15})) << form;
  });
  int64_t result[3];
  const int32_t x = 1;
  const int32_t index = 1;
  EXPECT_TRUE(refused(GPUMEM_EMPTY, run(ctx, {GPUMEM_I32, GPUMEM_MIN, &x, GPUMEM_I32, &index, 1, 3}, result),
                      {"bins", "minimum"}));
}

TEST_P(ByIndexOn, OfNothing) {
  both([&](const auto& call, const char* form) {
    const Pinned<int64_t> result(ctx, 3, 99);
    const auto of = [&](gpumem_reduce_op op, int64_t bins) {
      return call({GPUMEM_I32, op, nullptr, GPUMEM_I64, nullptr, 0, bins}, result.data());
    };
    EXPECT_TRUE(ok(of(GPUMEM_SUM, 2))) << form;
    EXPECT_EQ(result.now(), (std::vector<int64_t>{0, 0, 99}));
    EXPECT_TRUE(ok(of(GPUMEM_PROD, 2))) << form;
    EXPECT_EQ(result.now(), (std::vector<int64_t>{1, 1, 99}));
    EXPECT_TRUE(gives(GPUMEM_EMPTY, of(GPUMEM_MIN, 3))) << form;
    EXPECT_EQ(result.now(), (std::vector<int64_t>{0, 0, 0}));
    EXPECT_TRUE(ok(of(GPUMEM_MIN, 0))) << form;
    EXPECT_TRUE(ok(call({GPUMEM_I32, GPUMEM_SUM, nullptr, GPUMEM_I64, nullptr, 0, 0}, nullptr))) << form;
  });
}

TEST_P(ByIndexOn, ABadIndexWritesNothing) {
  both([&](const auto& call, const char* form) {
    const std::vector<double> x = {1, 2, 3};
    for (const int64_t bad : {int64_t{-1}, int64_t{2}, INT64_MIN, INT64_MAX, int64_t{1} << 32}) {
      const std::vector<int64_t> index = {0, bad, 1};
      const Pinned<double> result(ctx, 2, 7);
      const ByIndex b{GPUMEM_F64, GPUMEM_SUM, x.data(), GPUMEM_I64, index.data(), 3, 2};
      EXPECT_TRUE(gives(GPUMEM_OUT_OF_RANGE, call(b, result.data()))) << form;
      EXPECT_EQ(result.now(), (std::vector<double>{7, 7})) << form;
    }
  });
}

TEST_P(ByIndexOn, RefusesBadArguments) {
  const std::vector<int32_t> x(8, 1);
  const std::vector<int64_t> index(8, 0);
  both([&](const auto& call, const char*) {
    const Pinned<int64_t> result(ctx, 8, 5);
    const ByIndex sound{GPUMEM_I32, GPUMEM_SUM, x.data(), GPUMEM_I64, index.data(), 8, 4};
    void* out = result.data();
    const auto bad = [&](gpumem_status status, auto change, std::initializer_list<std::string> words) {
      ByIndex b = sound;
      change(b);
      EXPECT_TRUE(refused(status, call(b, out), words)) << describe(sound);
    };
    constexpr gpumem_status kBad = GPUMEM_INVALID_ARGUMENT;
    for (const gpumem_dtype type : {-1, 12, INT32_MAX}) {
      bad(kBad, [&](ByIndex& b) { b.dtype = type; }, {"dtype", std::to_string(type)});
    }
    for (const gpumem_dtype type : {3, 8, -1, 11, 12, INT32_MIN}) {
      bad(kBad, [&](ByIndex& b) { b.index_type = type; }, {"index_type", std::to_string(type)});
    }
    for (const gpumem_reduce_op op : {-1, int{GPUMEM_DOT}, int{GPUMEM_ARG_MIN}, 99}) {
      bad(kBad, [&](ByIndex& b) { b.op = op; }, {"op", std::to_string(op)});
    }
    bad(GPUMEM_UNSUPPORTED, [](ByIndex& b) { b.op = GPUMEM_SUM_COMPENSATED; }, {"dtype", "i32"});
    bad(kBad, [](ByIndex& b) { b.n = -3; }, {"n", "-3"});
    bad(kBad, [](ByIndex& b) { b.bins = -4; }, {"bins", "-4"});
    bad(kBad, [](ByIndex& b) { b.bins = 0; }, {"bins is 0", "1"});
    bad(kBad, [](ByIndex& b) { b.n = INT64_MAX / 2; }, {});
    bad(kBad, [](ByIndex& b) { b.bins = INT64_MAX / 2; }, {});
    bad(kBad, [](ByIndex& b) { b.index = nullptr; }, {"index", "NULL"});
    bad(kBad, [](ByIndex& b) { b.index = static_cast<const char*>(b.index) + 4; }, {"index", "8"});
    out = nullptr;
    bad(kBad, [](ByIndex&) {}, {"result", "NULL"});
    out = reinterpret_cast<char*>(result.data()) + 4;
    bad(kBad, [](ByIndex&) {}, {"result", "8"});
    EXPECT_EQ(result.now(), std::vector<int64_t>(8, 5));
  });
}

TEST_P(ByIndexOn, RefusesBadRows) {
  const std::vector<int64_t> x(12, 1);
  const std::vector<int64_t> index(4, 0);
  both([&](const auto& call, const char*) {
    const Pinned<int64_t> result(ctx, 8, 5);
    const auto bad = [&](auto change, std::initializer_list<std::string> words) {
      ByIndex b{GPUMEM_I64, GPUMEM_SUM, x.data(), GPUMEM_I64, index.data(), 4, 4, 2, 3};
      change(b);
      EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, call(b, result.data()), words));
    };
    bad([](ByIndex& b) { b.n = -3; }, {"rows", "-3"});
    bad([](ByIndex& b) { b.cols = -1; }, {"cols", "-1"});
    bad([](ByIndex& b) { b.ld = 1; }, {"ld", "1", "cols = 2"});
    bad([](ByIndex& b) { b.ld = -1; }, {"ld", "-1"});
    bad([](ByIndex& b) { b.bins = 0; }, {"bins is 0", "1"});
    bad([](ByIndex& b) { b.x = nullptr; }, {"x is NULL"});
    bad([](ByIndex& b) { b.x = nullptr, b.cols = b.ld = 1; }, {"x is NULL"});
    bad([](ByIndex& b) { b.cols = b.ld = INT64_MAX / 2; }, {});
    bad([](ByIndex& b) { b.ld = INT64_MAX / 2; }, {});
    bad([](ByIndex& b) { b.bins = INT64_MAX / 2; }, {});
    bad([](ByIndex& b) { b.n = INT64_MAX / 300; }, {});
    EXPECT_EQ(result.now(), std::vector<int64_t>(8, 5));
  });
}

TEST_P(ByIndexOn, OverlapsNothing) {
  const Memory block(ctx, GPUMEM_MEMORY_PINNED, 4096);
  std::memset(block.get(), 0, 4096);
  char* const p = block.bytes();
  const auto call = [&](char* x, char* index, char* result, char* status) {
    return run_async(ctx, {GPUMEM_I32, GPUMEM_SUM, x, GPUMEM_I64, index, 64, 16}, result,
                     reinterpret_cast<gpumem_status*>(status), nullptr);
  };
  EXPECT_TRUE(ok(call(p, p + 256, p + 768, p + 896)));
  EXPECT_TRUE(ok(call(p, p, p + 768, p + 896))) << "x and index may share bytes";
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, call(p, p + 256, p + 760, p + 896), {"result", "index"}));
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, call(p, p + 2048, p + 248, p + 896), {"result", "x"}));
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, call(p, p + 256, p + 768, p + 892), {"status", "result"}));
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, call(p, p + 256, p + 768, p + 764), {"status", "index"}));
  EXPECT_TRUE(ok(gpumem_stream_synchronize(ctx, nullptr)));
}

TEST_P(ByIndexOn, RangesEndWithTheirAllocation) {
  for (const gpumem_memory_kind kind : {GPUMEM_MEMORY_PINNED, GPUMEM_MEMORY_DEVICE, GPUMEM_MEMORY_MANAGED}) {
    const Memory x(ctx, kind, 256), index(ctx, kind, 512), result(ctx, kind, 80);
    const Bytes zeros(512, 0);
    upload(ctx, x.get(), zeros.data(), 256);
    upload(ctx, index.get(), zeros.data(), 512);
    both([&](const auto& call, const char* form) {
      const auto of = [&](gpumem_dtype dtype, gpumem_dtype index_type, int64_t n, int64_t bins) {
        return call({dtype, GPUMEM_SUM, x.get(), index_type, index.get(), n, bins}, result.get());
      };
      EXPECT_TRUE(ok(of(GPUMEM_I32, GPUMEM_I64, 64, 10))) << form;
      EXPECT_TRUE(refused(GPUMEM_OUT_OF_RANGE, of(GPUMEM_I32, GPUMEM_I32, 65, 10), {"x"})) << form;
      EXPECT_TRUE(refused(GPUMEM_OUT_OF_RANGE, of(GPUMEM_I8, GPUMEM_I64, 65, 10), {"index"})) << form;
      EXPECT_TRUE(refused(GPUMEM_OUT_OF_RANGE, of(GPUMEM_I8, GPUMEM_I64, 64, 11), {"result"})) << form;
      const auto rows = [&](int64_t cols, int64_t ld, int64_t n, int64_t bins) {
        return call({GPUMEM_I32, GPUMEM_SUM, x.get(), GPUMEM_I64, index.get(), n, bins, cols, ld}, result.get());
      };
      EXPECT_TRUE(ok(rows(4, 10, 7, 2))) << form;
      EXPECT_TRUE(refused(GPUMEM_OUT_OF_RANGE, rows(5, 10, 7, 2), {"x"})) << form;
      EXPECT_TRUE(refused(GPUMEM_OUT_OF_RANGE, rows(4, 10, 7, 3), {"result"})) << form;
    });
  }
}

TEST_P(ByIndexOn, UnreadableMemoryIsRefused) {
  FencedPages pages(4096);
  const Bytes heap(4096, 0);
  both([&](const auto& call, const char*) {
    const Pinned<int64_t> result(ctx, 4, 5);
    EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER,
                        call({GPUMEM_I32, GPUMEM_SUM, pages.end(), GPUMEM_I64, heap.data(), 8, 4}, result.data()),
                        {"x"}));
    EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER,
                        call({GPUMEM_I32, GPUMEM_SUM, heap.data(), GPUMEM_I64, pages.end(), 8, 4}, result.data()),
                        {"index"}));
  });
}

// What is enqueued before supplies the index, and what comes after reads the result.
TEST_P(ByIndexOn, EnqueuedWorkKeepsTheOrderOfItsStream) {
  const Stream stream(ctx);
  constexpr int64_t kN = 100'000;
  constexpr int64_t kBins = 100;
  const Memory x(ctx, GPUMEM_MEMORY_DEVICE, kN * 8), index(ctx, GPUMEM_MEMORY_DEVICE, kN * 4),
      sums(ctx, GPUMEM_MEMORY_DEVICE, kBins * 8), counts(ctx, GPUMEM_MEMORY_DEVICE, kBins * 8);
  std::vector<double> elements(kN);
  std::iota(elements.begin(), elements.end(), 0.5);
  std::vector<int32_t> bins(kN);
  std::vector<double> expected(kBins, 0);
  for (size_t i = 0; i < kN; ++i) {
    bins[i] = static_cast<int32_t>(i * 7 % kBins);
    expected[i * 7 % kBins] += elements[i];  // exact
  }
  std::vector<double> out(kBins, 0);
  std::vector<int64_t> counted(kBins, 0);
  ASSERT_TRUE(ok(gpumem_copy_async(ctx, x.get(), elements.data(), kN * 8, stream)));
  ASSERT_TRUE(ok(gpumem_copy_async(ctx, index.get(), bins.data(), kN * 4, stream)));
  ASSERT_TRUE(ok(run_async(ctx, {GPUMEM_F64, GPUMEM_SUM, x.get(), GPUMEM_I32, index.get(), kN, kBins}, sums.get(),
                           nullptr, stream)));
  ASSERT_TRUE(ok(run_async(ctx, {GPUMEM_I64, GPUMEM_SUM, nullptr, GPUMEM_I32, index.get(), kN, kBins}, counts.get(),
                           nullptr, stream)));
  ASSERT_TRUE(ok(gpumem_copy_async(ctx, out.data(), sums.get(), kBins * 8, stream)));
  ASSERT_TRUE(ok(gpumem_copy_async(ctx, counted.data(), counts.get(), kBins * 8, stream)));
  ASSERT_TRUE(ok(gpumem_stream_synchronize(ctx, stream)));
  EXPECT_EQ(out, expected);
  EXPECT_EQ(counted, std::vector<int64_t>(kBins, kN / kBins));
}

TEST_P(ByIndexOn, EnqueuedOnTheHostReturnsBeforeTheWork) {
  Gate gate;
  const Context gated(gate.options(GetParam()));
  constexpr int64_t kN = 200'000;  // more than one task
  const std::vector<float> x(kN, 0.5f);
  const std::vector<int32_t> index(kN, 1);
  const Memory block(gated, GPUMEM_MEMORY_PINNED, 24);
  auto* const result = static_cast<double*>(block.get());
  auto* const status = reinterpret_cast<gpumem_status*>(block.bytes() + 16);
  result[0] = result[1] = -1;
  *status = 77;
  const OpenAtEnd open(gate);
  gate.close();
  const ByIndex b{GPUMEM_F32, GPUMEM_SUM, x.data(), GPUMEM_I32, index.data(), kN, 2};
  ASSERT_TRUE(ok(run_async(gated, b, result, status, nullptr)));
  EXPECT_TRUE(gate.reached());
  EXPECT_TRUE(gives(GPUMEM_NOT_READY, gpumem_stream_query(gated, nullptr)));
  EXPECT_EQ(result[1], -1);
  gate.open();
  ASSERT_TRUE(ok(gpumem_stream_synchronize(gated, nullptr)));
  EXPECT_EQ(result[0], 0);
  EXPECT_EQ(result[1], kN / 2);
  EXPECT_EQ(*status, GPUMEM_OK);
}

INSTANTIATE_TEST_SUITE_P(On, ByIndexOn, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
