// The enqueued reductions: results in the order of the stream, the status word, and what a context's side asks of results.
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <thread>
#include <vector>

#include "api/gate.hpp"
#include "api/queue_handles.hpp"
#include "support/contexts.hpp"
#include "support/lines.hpp"
#include "support/memory.hpp"
#include "support/numbers.hpp"
#include "support/reductions.hpp"

namespace gpumem_test {
namespace {

constexpr int64_t kN = 100000;

class ReduceAsync : public OnEachContext {
 protected:
  // Kinds that hold results of enqueued calls on this context.
  std::vector<gpumem_memory_kind> result_kinds() const {
    if (!on_cuda()) return {kAllKinds, kAllKinds + 4};
    return {GPUMEM_MEMORY_PINNED, GPUMEM_MEMORY_DEVICE, GPUMEM_MEMORY_MANAGED};
  }
  int64_t word_at(const void* p) {
    int64_t word = 0;
    EXPECT_TRUE(ok(gpumem_copy(ctx, &word, p, 8)));
    return word;
  }
  gpumem_status status_at(const void* p) {
    gpumem_status status = 0;
    EXPECT_TRUE(ok(gpumem_copy(ctx, &status, p, 4)));
    return status;
  }
};

TEST_P(ReduceAsync, TheStatusWordTellsWhatOnlyTheRunCanFind) {
  const std::vector<int64_t> numbers = {INT64_MAX, 1, -1, 5};
  for (const gpumem_memory_kind kind : kAllKinds) {
    const Memory x(ctx, kind, 32);
    upload(ctx, x.get(), numbers.data(), 32);
    const auto* elements = static_cast<const int64_t*>(x.get());
    for (const gpumem_memory_kind result_kind : result_kinds()) {
      GuardedBuffer result(ctx, result_kind, 8);
      GuardedBuffer word(ctx, result_kind, 4);
      auto* const out = reinterpret_cast<int64_t*>(result.data());
      auto* const status = reinterpret_cast<gpumem_status*>(word.data());
      const std::string where = std::string(kind_name(kind)) + " to " + kind_name(result_kind);
      // Two elements overflow: the result is untouched. Three do not.
      ASSERT_TRUE(ok(gpumem_reduce_i64_async(ctx, GPUMEM_SUM, elements, 2, 1, out, status, nullptr))) << where;
      ASSERT_TRUE(ok(gpumem_stream_synchronize(ctx, nullptr))) << "what the word says is not the stream's failure";
      const gpumem_status overflow = GPUMEM_OVERFLOW;
      std::memcpy(word.image(), &overflow, 4);
      EXPECT_TRUE(word.intact()) << where;
      EXPECT_TRUE(result.intact()) << where << ": an overflow touched the result";
      ASSERT_TRUE(ok(gpumem_reduce_i64_async(ctx, GPUMEM_SUM, elements, 3, 1, out, status, nullptr))) << where;
      ASSERT_TRUE(ok(gpumem_stream_synchronize(ctx, nullptr)));
      std::memset(word.image(), 0, 4);
      std::memcpy(result.image(), &numbers[0], 8);
      EXPECT_TRUE(word.intact()) << where;
      EXPECT_TRUE(result.intact()) << where;
      // Without a word an overflow is silent, and still leaves the result alone.
      ASSERT_TRUE(ok(gpumem_reduce_i64_async(ctx, GPUMEM_SUM, elements, 2, 1, out, nullptr, nullptr))) << where;
      ASSERT_TRUE(ok(gpumem_stream_synchronize(ctx, nullptr)));
      EXPECT_TRUE(result.intact()) << where;
      EXPECT_TRUE(word.intact()) << where;
      EXPECT_TRUE(ok(gpumem_ctx_status(ctx)));
    }
  }
}

TEST_P(ReduceAsync, LinesWithoutValuesAreZeroAndTold) {
  const std::vector<int64_t> numbers = {INT64_MAX, 1, 2, 3};
  const std::vector<int64_t> offsets = {0, 2, 2, 4, 5};
  const Memory x(ctx, GPUMEM_MEMORY_DEVICE, 32);
  upload(ctx, x.get(), numbers.data(), 32);
  const Memory ends(ctx, GPUMEM_MEMORY_DEVICE, 40);
  upload(ctx, ends.get(), offsets.data(), 40);
  const Memory out(ctx, GPUMEM_MEMORY_PINNED, 40);
  auto* const results = static_cast<int64_t*>(out.get());
  auto* const status = reinterpret_cast<gpumem_status*>(out.bytes() + 32);
  const auto expect = [&](gpumem_status expected, const std::vector<int64_t>& values) {
    ASSERT_TRUE(ok(gpumem_stream_synchronize(ctx, nullptr)));
    EXPECT_EQ(*status, expected);
    EXPECT_EQ(std::vector<int64_t>(results, results + values.size()), values);
    std::memset(out.get(), 77, 40);
  };
  const auto* offset = static_cast<const int64_t*>(ends.get());
  ASSERT_TRUE(
      ok(gpumem_reduce_segments_async(ctx, GPUMEM_I64, GPUMEM_SUM, x.get(), 4, offset, 3, results, status, nullptr)));
  expect(GPUMEM_OVERFLOW, {0, 0, 5});
  ASSERT_TRUE(
      ok(gpumem_reduce_segments_async(ctx, GPUMEM_I64, GPUMEM_MIN, x.get(), 4, offset, 3, results, status, nullptr)));
  expect(GPUMEM_EMPTY, {1, 0, 2});
  ASSERT_TRUE(ok(
      gpumem_reduce_segments_async(ctx, GPUMEM_I64, GPUMEM_SUM, x.get(), 4, offset + 1, 3, results, status, nullptr)));
  expect(GPUMEM_OUT_OF_RANGE, {0, 5, 0});
  ASSERT_TRUE(
      ok(gpumem_reduce_segments_async(ctx, GPUMEM_I64, GPUMEM_MAX, x.get(), 4, offset, 1, results, status, nullptr)));
  expect(GPUMEM_OK, {INT64_MAX});
  ASSERT_TRUE(ok(gpumem_reduce_axis_async(ctx, GPUMEM_I64, GPUMEM_SUM, GPUMEM_AXIS_ROWS, x.get(), 2, 2, 2, 1, 0,
                                          results, status, nullptr)));
  expect(GPUMEM_OVERFLOW, {0, 5});
  ASSERT_TRUE(ok(gpumem_reduce_axis_async(ctx, GPUMEM_I64, GPUMEM_SUM, GPUMEM_AXIS_COLS, x.get(), 2, 2, 2, 1, 0,
                                          results, nullptr, nullptr)));
  ASSERT_TRUE(ok(gpumem_stream_synchronize(ctx, nullptr)));
  EXPECT_EQ(results[0], 0);
  EXPECT_EQ(results[1], 4);
}

// The value of nothing is known at once; a sum of nothing is written in the stream's order.
TEST_P(ReduceAsync, OfNothing) {
  const Memory memory(ctx, GPUMEM_MEMORY_PINNED, 32);
  auto* const words = static_cast<uint64_t*>(memory.get());
  auto* const status = reinterpret_cast<gpumem_status*>(memory.bytes() + 24);
  for (const gpumem_dtype dtype : kAllTypes) {
    for (const gpumem_reduce_op op : kAllOps) {
      if (!has(dtype, op)) continue;
      words[0] = words[1] = kUntouched;
      *status = 77;
      const gpumem_status got = run_async(ctx, Reduction{dtype, op, nullptr, 0}, words, status, nullptr);
      ASSERT_TRUE(ok(gpumem_stream_synchronize(ctx, nullptr)));
      EXPECT_TRUE(gives(needs_elements(op) ? GPUMEM_EMPTY : GPUMEM_OK, got)) << op_name(op);
      EXPECT_EQ(words[0], needs_elements(op) ? kUntouched : empty_word(dtype, op)) << op_name(op);
      EXPECT_EQ(words[1], kUntouched);
      EXPECT_EQ(*status, got == GPUMEM_OK && takes_status(op) ? 0 : 77) << op_name(op);
    }
  }
}

// A chain over two streams: each reduction sees what was enqueued before it, and nothing of what came after.
TEST_P(ReduceAsync, ResultsComeInTheOrderOfTheStream) {
  const int rounds = quick_run() ? 4 : 20;
  for (const gpumem_memory_kind kind : kAllKinds) {
    const Memory x(ctx, kind, kN * 4);
    const Memory out(ctx, GPUMEM_MEMORY_PINNED, rounds * 2 * 8);
    const Stream first(ctx);
    const Stream second(ctx);
    const Event event(ctx);
    auto* const results = static_cast<int64_t*>(out.get());
    std::fill_n(results, rounds * 2, -1);
    for (int32_t round = 0; round < rounds; ++round) {
      ASSERT_TRUE(ok(gpumem_fill_async(ctx, x.get(), &round, 4, kN, first)));
      ASSERT_TRUE(ok(gpumem_reduce_i32_async(ctx, GPUMEM_SUM, static_cast<int32_t*>(x.get()), kN, 1,
                                             results + 2 * round, nullptr, first)));
      ASSERT_TRUE(ok(gpumem_event_record(ctx, event, first)));
      ASSERT_TRUE(ok(gpumem_stream_wait_event(ctx, second, event)));
      ASSERT_TRUE(ok(gpumem_reduce_i32_async(ctx, GPUMEM_MAX, static_cast<int32_t*>(x.get()), kN, 1,
                                             results + 2 * round + 1, nullptr, second)));
      ASSERT_TRUE(ok(gpumem_event_record(ctx, event, second)));
      ASSERT_TRUE(ok(gpumem_stream_wait_event(ctx, first, event)));
    }
    ASSERT_TRUE(ok(gpumem_event_record(ctx, event, first)));
    ASSERT_TRUE(ok(gpumem_event_synchronize(event)));
    for (int32_t round = 0; round < rounds; ++round) {
      EXPECT_EQ(results[2 * round], round * kN) << "round " << round << ", " << kind_name(kind);
      EXPECT_EQ(results[2 * round + 1], round) << "round " << round << ", " << kind_name(kind);
    }
  }
}

// Freeing comes in the order of the context's own stream, after what was enqueued there.
TEST_P(ReduceAsync, DataMayBeFreedBehindTheCall) {
  const int rounds = quick_run() ? 3 : 30;
  const Memory out(ctx, GPUMEM_MEMORY_PINNED, rounds * 3 * 8);
  auto* const results = static_cast<int64_t*>(out.get());
  for (int32_t round = 0; round < rounds; ++round) {
    const Memory pinned(ctx, GPUMEM_MEMORY_PINNED, kN * 4);
    const Memory device(ctx, GPUMEM_MEMORY_DEVICE, kN * 4);
    const Memory managed(ctx, GPUMEM_MEMORY_MANAGED, kN * 4);
    int64_t* result = results + int64_t{3} * round;
    for (const Memory* memory : {&pinned, &device, &managed}) {
      const int32_t value = 3 * round + static_cast<int32_t>(result - results);
      ASSERT_TRUE(ok(gpumem_fill_async(ctx, memory->get(), &value, 4, kN, nullptr)));
      ASSERT_TRUE(
          ok(gpumem_reduce_async(ctx, GPUMEM_I32, GPUMEM_SUM, memory->get(), kN, 1, result++, nullptr, nullptr)));
    }
  }
  ASSERT_TRUE(ok(gpumem_stream_synchronize(ctx, nullptr)));
  for (int32_t i = 0; i < 3 * rounds; ++i) EXPECT_EQ(results[i], (i / 3 * 3 + i) * kN) << i;
}

// The call comes back while the work waits, and reads the data only when the stream comes to it.
TEST(ReduceAsyncHost, OnlyEnqueues) {
  Gate gate;
  std::vector<int32_t> x(int64_t{4} << 20, 1);
  int64_t sum = -7;
  gpumem_status status = -7;
  const Context ctx(gate.options(On::host));
  {
    const OpenAtEnd open(gate);
    const int32_t two = 2;
    gate.close();
    ASSERT_TRUE(ok(gpumem_fill_async(ctx, x.data(), &two, 4, int64_t{4} << 20, nullptr)));
    ASSERT_TRUE(ok(gpumem_reduce_i32_async(ctx, GPUMEM_SUM, x.data(), int64_t{4} << 20, 1, &sum, &status, nullptr)));
    ASSERT_TRUE(gate.reached());
    EXPECT_TRUE(gives(GPUMEM_NOT_READY, gpumem_stream_query(ctx, nullptr)));
    EXPECT_EQ(sum, -7);
    EXPECT_EQ(status, -7);
  }
  EXPECT_TRUE(ok(gpumem_stream_synchronize(ctx, nullptr)));
  EXPECT_EQ(sum, int64_t{8} << 20);
  EXPECT_EQ(status, GPUMEM_OK);
}

TEST_P(ReduceAsync, ACudaContextTakesNoResultsInOrdinaryMemory) {
  if (!on_cuda()) GTEST_SKIP() << "a host context's streams write any memory of the host";
  const Memory memory(ctx, GPUMEM_MEMORY_PINNED, 64);
  auto* const pinned = static_cast<int64_t*>(memory.get());
  auto* const pinned_status = reinterpret_cast<gpumem_status*>(pinned + 4);
  int64_t heap[2] = {77, 77};
  gpumem_status heap_status = 77;
  for (const gpumem_memory_kind kind : kAllKinds) {
    const Memory x(ctx, kind, 800);
    const std::vector<double> zeros(100);
    upload(ctx, x.get(), zeros.data(), 800);
    const auto* doubles = static_cast<const double*>(x.get());
    const auto* as_offsets = static_cast<const int64_t*>(x.get());
    auto* const d = reinterpret_cast<double*>(heap);
    const auto no = [&](gpumem_status status, const char* argument) {
      EXPECT_TRUE(refused(GPUMEM_INVALID_POINTER, status, {argument})) << kind_name(kind);
    };
    no(gpumem_reduce_async(ctx, GPUMEM_F64, GPUMEM_SUM, doubles, 9, 1, heap, pinned_status, nullptr), "result");
    no(gpumem_reduce_async(ctx, GPUMEM_F64, GPUMEM_SUM, doubles, 9, 1, pinned, &heap_status, nullptr), "status");
    no(gpumem_reduce_async(ctx, GPUMEM_F64, GPUMEM_MIN_MAX, doubles, 9, 1, heap, nullptr, nullptr), "result");
    no(gpumem_argreduce_async(ctx, GPUMEM_F64, GPUMEM_MIN, doubles, 9, 1, heap, pinned, nullptr), "value");
    no(gpumem_argreduce_async(ctx, GPUMEM_F64, GPUMEM_MIN, doubles, 9, 1, pinned, heap, nullptr), "index");
    no(gpumem_dot_f64_async(ctx, doubles, doubles, 9, 1, 1, d, nullptr), "result");
    no(gpumem_nrm2_f64_async(ctx, doubles, 9, 1, d, nullptr), "result");
    no(gpumem_reduce_axis_async(ctx, GPUMEM_F64, GPUMEM_SUM, 0, doubles, 1, 9, 9, 1, 0, heap, nullptr, nullptr),
       "result");
    const int64_t three[] = {3, 1};
    no(gpumem_reduce_axes_async(ctx, GPUMEM_F64, GPUMEM_SUM, 2, three, doubles, nullptr, 2, heap, GPUMEM_F64, nullptr,
                                nullptr),
       "result");
    no(gpumem_reduce_axes_async(ctx, GPUMEM_F64, GPUMEM_SUM, 2, three, doubles, nullptr, 2, pinned, GPUMEM_F64,
                                &heap_status, nullptr),
       "status");
    no(gpumem_argreduce_axis_async(ctx, GPUMEM_F64, GPUMEM_MIN, 0, doubles, 1, 9, 9, 1, 0, heap, pinned, nullptr,
                                   nullptr),
       "value");
    no(gpumem_argreduce_axis_async(ctx, GPUMEM_F64, GPUMEM_MIN, 0, doubles, 1, 9, 9, 1, 0, nullptr, heap, nullptr,
                                   nullptr),
       "index");
    no(gpumem_reduce_segments_async(ctx, GPUMEM_F64, GPUMEM_SUM, doubles, 9, as_offsets, 1, heap, nullptr, nullptr),
       "result");
    no(gpumem_reduce_segments_async(ctx, GPUMEM_F64, GPUMEM_SUM, doubles, 9, as_offsets, 1, pinned, &heap_status,
                                    nullptr),
       "status");
  }
  EXPECT_TRUE(heap[0] == 77 && heap[1] == 77 && heap_status == 77);
}

TEST_P(ReduceAsync, DotOfBothSidesIsRefusedOnACudaContext) {
  const Memory out(ctx, GPUMEM_MEMORY_PINNED, 8);
  std::memset(out.get(), 0, 8);
  const std::vector<double> ones(100, 1);
  for (const gpumem_memory_kind x_kind : kAllKinds) {
    for (const gpumem_memory_kind y_kind : kAllKinds) {
      const Memory x(ctx, x_kind, 800);
      const Memory y(ctx, y_kind, 800);
      upload(ctx, x.get(), ones.data(), 800);
      upload(ctx, y.get(), ones.data(), 800);
      const bool mixed = on_cuda() && (x_kind >= GPUMEM_MEMORY_DEVICE) != (y_kind >= GPUMEM_MEMORY_DEVICE);
      const gpumem_status status =
          gpumem_dot_f64_async(ctx, static_cast<double*>(x.get()), static_cast<double*>(y.get()), 100, 1, 1,
                               static_cast<double*>(out.get()), nullptr);
      EXPECT_TRUE(gives(mixed ? GPUMEM_UNSUPPORTED : GPUMEM_OK, status))
          << kind_name(x_kind) << ' ' << kind_name(y_kind);
      EXPECT_TRUE(ok(gpumem_stream_synchronize(ctx, nullptr)));
      double plain = 0;
      EXPECT_TRUE(
          ok(gpumem_dot_f64(ctx, static_cast<double*>(x.get()), static_cast<double*>(y.get()), 100, 1, 1, &plain)));
      EXPECT_EQ(plain, 100) << kind_name(x_kind) << ' ' << kind_name(y_kind);
      EXPECT_TRUE(mixed || *static_cast<double*>(out.get()) == 100);
    }
  }
}

// One context, many threads, a stream each; several calls in flight, whose scratch must not mix.
TEST_P(ReduceAsync, ManyThreadsWithStreamsOfTheirOwn) {
  constexpr int kThreads = 8;
  const int rounds = quick_run() ? 2 : 20;
  const auto work = [&](int thread) {
    Random random(static_cast<uint64_t>(thread));
    const Stream stream(ctx);
    const gpumem_dtype dtype = kFloatingTypes[thread % 4];
    const int64_t n = 1000 + random.between(0, 60000);
    const Bytes elements = random_elements(dtype, Numbers::medium, n, 1, random);
    const Memory x(ctx, kAllKinds[thread % 3 == 0 ? 1 : 2], static_cast<int64_t>(elements.size()));
    upload(ctx, x.get(), elements.data(), elements.size());
    constexpr gpumem_reduce_op kOps[] = {GPUMEM_SUM, GPUMEM_ARG_MAX, GPUMEM_SUM_CUBES, GPUMEM_MIN_MAX};
    std::vector<Outcome> expected;
    for (const gpumem_reduce_op op : kOps) expected.push_back(reference(Reduction{dtype, op, elements.data(), n}));
    const Axis axis{dtype, GPUMEM_SUM_SQUARES, GPUMEM_AXIS_COLS, elements.data(), n / 10, 10, 10, 1, 0};
    const LinesOutcome columns = reference(axis);
    const Memory out(ctx, GPUMEM_MEMORY_PINNED, 16 * 8);
    auto* const words = static_cast<uint64_t*>(out.get());
    for (int round = 0; round < rounds; ++round) {
      std::memset(out.get(), 0x5A, 16 * 8);
      for (size_t i = 0; i < 4; ++i) {
        ASSERT_TRUE(ok(run_async(ctx, Reduction{dtype, kOps[i], x.get(), n}, words + 2 * i, nullptr, stream)));
      }
      Axis on_x = axis;
      on_x.x = x.get();
      ASSERT_TRUE(ok(run_async(ctx, on_x, words + 6, nullptr, stream))) << "over the last pair, which comes before";
      ASSERT_TRUE(ok(run_async(ctx, Reduction{dtype, kOps[3], x.get(), n}, words, nullptr, stream)));
      ASSERT_TRUE(ok(gpumem_stream_synchronize(ctx, stream)));
      for (int w = 0; w < words_of(kOps[3]); ++w) EXPECT_EQ(hex(words[w]), hex(expected[3].words[w])) << thread;
      for (size_t i = 1; i < 3; ++i) {
        for (int w = 0; w < words_of(kOps[i]); ++w) {
          EXPECT_EQ(hex(words[2 * i + static_cast<size_t>(w)]), hex(expected[i].words[w])) << thread << ' ' << i;
        }
      }
      EXPECT_EQ(difference(columns, words + 6, GPUMEM_SUM_SQUARES), "") << thread;
    }
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) threads.emplace_back(work, t);
  for (std::thread& thread : threads) thread.join();
}

INSTANTIATE_TEST_SUITE_P(On, ReduceAsync, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
