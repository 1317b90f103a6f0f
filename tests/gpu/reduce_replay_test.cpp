// Graphs of reductions that run beside other work: forked streams of one graph, eager calls on other streams, many graphs.
#include <cstring>
#include <thread>
#include <vector>

#include "support/numbers.hpp"
#include "support/reductions.hpp"
#include "tests/gpu/captured.hpp"

namespace gpumem::gpu_tests {
namespace {

using gpumem_test::hex;
using gpumem_test::Outcome;
using gpumem_test::quick_run;
using gpumem_test::Random;
using gpumem_test::Reduction;

using Bytes = std::vector<unsigned char>;

// Two calls in one graph, on streams that fork and join: they may run at once, so they may share nothing.
TEST_F(ReduceCapture, CallsOnForkedStreamsOfOneGraph) {
  constexpr int kForks = 4;
  constexpr int64_t kN = (1 << 20) + 7;
  Random random(9);
  std::vector<Bytes> numbers;
  std::vector<Outcome> expected;
  std::vector<char*> x;
  uint64_t* out = pinned_words(2 * kForks);
  for (int i = 0; i < kForks; ++i) {
    numbers.push_back(gpumem_test::random_elements(GPUMEM_F64, gpumem_test::Numbers::medium, kN, 1, random));
    x.push_back(device(numbers.back().size()));
    put(x.back(), numbers.back().data(), numbers.back().size());
    const gpumem_reduce_op op = i % 2 == 0 ? GPUMEM_SUM : GPUMEM_SUM_COMPENSATED;
    expected.push_back(gpumem_test::reference(Reduction{GPUMEM_F64, op, numbers.back().data(), kN}));
  }
  Captured capture(ctx);
  gpumem_event* event = nullptr;
  ASSERT_EQ(gpumem_event_create(ctx, &event), GPUMEM_OK);
  std::vector<gpumem_stream*> forks(kForks);
  for (auto& fork : forks) ASSERT_EQ(gpumem_stream_create(ctx, &fork), GPUMEM_OK);
  capture.begin();
  ASSERT_EQ(gpumem_event_record(ctx, event, capture.stream), GPUMEM_OK);
  for (size_t i = 0; i < kForks; ++i) ASSERT_EQ(gpumem_stream_wait_event(ctx, forks[i], event), GPUMEM_OK);
  for (size_t i = 0; i < kForks; ++i) {
    const gpumem_reduce_op op = i % 2 == 0 ? GPUMEM_SUM : GPUMEM_SUM_COMPENSATED;
    const Reduction r{GPUMEM_F64, op, x[i], kN};
    ASSERT_EQ(gpumem_test::run_async(ctx, r, out + 2 * i, nullptr, forks[i]), GPUMEM_OK) << last_error();
  }
  for (size_t i = 0; i < kForks; ++i) {
    ASSERT_EQ(gpumem_event_record(ctx, event, forks[i]), GPUMEM_OK);
    ASSERT_EQ(gpumem_stream_wait_event(ctx, capture.stream, event), GPUMEM_OK);
  }
  ASSERT_NO_FATAL_FAILURE(capture.end());
  for (int replay = 0; replay < (quick_run() ? 3 : 50); ++replay) {
    std::memset(out, 0x5A, 2 * kForks * 8);
    capture.launch();
    capture.wait();
    for (size_t i = 0; i < kForks; ++i) {
      ASSERT_EQ(hex(out[2 * i]), hex(expected[i].words[0])) << "replay " << replay << ", fork " << i;
    }
  }
  for (auto* fork : forks) EXPECT_EQ(gpumem_stream_destroy(fork), GPUMEM_OK);
  EXPECT_EQ(gpumem_event_destroy(event), GPUMEM_OK);
}

// A graph's scratch is its own: eager calls on other streams go on while it replays, and after it is gone.
TEST_F(ReduceCapture, ReplaysBesideEagerCalls) {
  constexpr int64_t kN = (3 << 20) + 5;
  Random random(10);
  const Bytes a = gpumem_test::random_elements(GPUMEM_F32, gpumem_test::Numbers::medium, kN, 1, random);
  const Bytes b = gpumem_test::random_elements(GPUMEM_F32, gpumem_test::Numbers::medium, kN, 1, random);
  const Outcome expected_a = gpumem_test::reference(Reduction{GPUMEM_F32, GPUMEM_SUM, a.data(), kN});
  const Outcome expected_b = gpumem_test::reference(Reduction{GPUMEM_F32, GPUMEM_SUM, b.data(), kN});
  char* x = device(a.size());
  char* y = device(b.size());
  put(x, a.data(), a.size());
  put(y, b.data(), b.size());
  uint64_t* out = pinned_words(4);
  gpumem_stream* eager = nullptr;
  ASSERT_EQ(gpumem_stream_create(ctx, &eager), GPUMEM_OK);
  {
    Captured capture(ctx);
    capture.begin();
    ASSERT_EQ(gpumem_test::run_async(ctx, Reduction{GPUMEM_F32, GPUMEM_SUM, x, kN}, out, nullptr, capture.stream),
              GPUMEM_OK);
    ASSERT_NO_FATAL_FAILURE(capture.end());
    for (int round = 0; round < (quick_run() ? 3 : 200); ++round) {
      out[0] = out[2] = 1;
      capture.launch();
      ASSERT_EQ(gpumem_test::run_async(ctx, Reduction{GPUMEM_F32, GPUMEM_SUM, y, kN}, out + 2, nullptr, eager),
                GPUMEM_OK);
      double own = 0;
      ASSERT_EQ(gpumem_reduce_f32(ctx, GPUMEM_SUM, reinterpret_cast<float*>(y), kN, 1, &own), GPUMEM_OK);
      capture.wait();
      ASSERT_EQ(gpumem_stream_synchronize(ctx, eager), GPUMEM_OK);
      ASSERT_EQ(hex(out[0]), hex(expected_a.words[0])) << "the replay, round " << round;
      ASSERT_EQ(hex(out[2]), hex(expected_b.words[0])) << "the eager call, round " << round;
      ASSERT_EQ(std::memcmp(&own, expected_b.words, 8), 0) << "the blocking call, round " << round;
    }
  }
  ASSERT_EQ(gpumem_test::run_async(ctx, Reduction{GPUMEM_F32, GPUMEM_SUM, y, kN}, out + 2, nullptr, eager), GPUMEM_OK);
  ASSERT_EQ(gpumem_stream_synchronize(ctx, eager), GPUMEM_OK);
  EXPECT_EQ(hex(out[2]), hex(expected_b.words[0])) << "after the graph is gone";
  EXPECT_EQ(gpumem_stream_destroy(eager), GPUMEM_OK);
}

// Graphs that live at once, replayed on streams of their own, and capture from several threads.
TEST_F(ReduceCapture, ManyGraphsFromManyThreads) {
  constexpr int64_t kN = (1 << 19) + 3;
  const auto work = [this](int thread) {
    Random random(static_cast<uint64_t>(thread) + 77);
    const Bytes numbers = gpumem_test::random_elements(GPUMEM_F64, gpumem_test::Numbers::medium, kN, 1, random);
    const Outcome expected = gpumem_test::reference(Reduction{GPUMEM_F64, GPUMEM_NRM2, numbers.data(), kN});
    void* x = nullptr;
    void* out = nullptr;
    ASSERT_EQ(gpumem_alloc_device(ctx, static_cast<int64_t>(numbers.size()), &x), GPUMEM_OK);
    ASSERT_EQ(gpumem_alloc_pinned(ctx, 8, &out), GPUMEM_OK);
    put(x, numbers.data(), numbers.size());
    cudaStream_t native = nullptr;
    ASSERT_EQ(cudaStreamCreateWithFlags(&native, cudaStreamNonBlocking), cudaSuccess);
    gpumem_stream* stream = nullptr;
    ASSERT_EQ(gpumem_stream_wrap(ctx, native, &stream), GPUMEM_OK);
    for (int round = 0; round < (quick_run() ? 1 : 10); ++round) {
      cudaGraph_t graph = nullptr;
      cudaGraphExec_t executable = nullptr;
      // Relaxed: other threads allocate meanwhile.
      ASSERT_EQ(cudaStreamBeginCapture(native, cudaStreamCaptureModeRelaxed), cudaSuccess);
      ASSERT_EQ(gpumem_test::run_async(ctx, Reduction{GPUMEM_F64, GPUMEM_NRM2, x, kN}, out, nullptr, stream), GPUMEM_OK)
          << last_error();
      ASSERT_EQ(cudaStreamEndCapture(native, &graph), cudaSuccess);
      ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
      for (int replay = 0; replay < 5; ++replay) {
        std::memset(out, 0x5A, 8);
        ASSERT_EQ(cudaGraphLaunch(executable, native), cudaSuccess);
        ASSERT_EQ(cudaStreamSynchronize(native), cudaSuccess);
        ASSERT_EQ(std::memcmp(out, expected.words, 8), 0) << "thread " << thread << ", replay " << replay;
      }
      cudaGraphExecDestroy(executable);
      cudaGraphDestroy(graph);
    }
    EXPECT_EQ(gpumem_stream_destroy(stream), GPUMEM_OK);
    cudaStreamDestroy(native);
    EXPECT_EQ(gpumem_free(ctx, x), GPUMEM_OK);
    EXPECT_EQ(gpumem_free(ctx, out), GPUMEM_OK);
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) threads.emplace_back(work, t);
  for (auto& thread : threads) thread.join();
}

}  // namespace
}  // namespace gpumem::gpu_tests
