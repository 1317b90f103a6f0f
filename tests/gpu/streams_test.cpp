// Streams of the program, graph capture, and copies of heap memory that are asynchronous for the caller.
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "tests/gpu/device_memory.hpp"
#include "tests/gpu/gpu_fixture.hpp"

namespace gpumem::gpu_tests {
namespace {

constexpr int64_t kBytes = 8 << 20;

TEST_F(Gpu, WrappedStreamKeepsTheOrderOfItsOwner) {
  cudaStream_t native = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&native, cudaStreamNonBlocking), cudaSuccess);
  gpumem_stream* stream = nullptr;
  ASSERT_EQ(gpumem_stream_wrap(ctx, native, &stream), GPUMEM_OK) << last_error();
  void* p = nullptr;
  ASSERT_EQ(gpumem_alloc_device(ctx, kBytes, &p), GPUMEM_OK);
  // The kernel is loaded by its first call, which may wait for the device.
  ASSERT_EQ(gpumem_fill(ctx, p, "none", 4, kBytes / 4), GPUMEM_OK) << last_error();
  spin(native, 200);
  EXPECT_EQ(gpumem_fill_async(ctx, p, "xyz!", 4, kBytes / 4, stream), GPUMEM_OK) << last_error();
  EXPECT_EQ(gpumem_stream_query(ctx, stream), GPUMEM_NOT_READY);
  EXPECT_EQ(cudaStreamSynchronize(native), cudaSuccess);
  EXPECT_EQ(gpumem_stream_query(ctx, stream), GPUMEM_OK);
  char first[4];
  EXPECT_EQ(cudaMemcpy(first, p, 4, cudaMemcpyDefault), cudaSuccess);
  EXPECT_EQ(std::memcmp(first, "xyz!", 4), 0);
  EXPECT_EQ(gpumem_free(ctx, p), GPUMEM_OK);
  EXPECT_EQ(gpumem_stream_destroy(stream), GPUMEM_OK);
  EXPECT_EQ(cudaStreamQuery(native), cudaSuccess) << "the owner's stream is still there";
  cudaStreamDestroy(native);
}

TEST_F(Gpu, OwnStreamIsOrderedWithTheLegacyStream) {
  void* p = nullptr;
  ASSERT_EQ(gpumem_alloc_device(ctx, kBytes, &p), GPUMEM_OK);
  spin(nullptr, 20);
  fill_value(static_cast<int32_t*>(p), kBytes / 4, 5);  // on the legacy stream, after the spin
  int64_t sum = 0;
  EXPECT_EQ(gpumem_reduce_i32(ctx, GPUMEM_SUM, static_cast<int32_t*>(p), kBytes / 4, 1, &sum), GPUMEM_OK);
  EXPECT_EQ(sum, 5 * kBytes / 4);
  EXPECT_EQ(gpumem_free(ctx, p), GPUMEM_OK);
}

// The driver may read heap memory at once; what the stream has not yet written there must be waited for.
TEST_F(Gpu, CopyToTheDeviceSeesWhatTheStreamStillWritesOnTheHeap) {
  constexpr int64_t bytes = 64 << 20;
  constexpr int64_t last = 4096;
  std::vector<char> heap(bytes, '-');
  void* p = nullptr;
  ASSERT_EQ(gpumem_alloc_device(ctx, bytes, &p), GPUMEM_OK);
  ASSERT_EQ(gpumem_fill(ctx, p, "x", 1, bytes), GPUMEM_OK);
  void* q = nullptr;
  ASSERT_EQ(gpumem_alloc_device(ctx, last, &q), GPUMEM_OK);
  EXPECT_EQ(gpumem_copy_async(ctx, heap.data(), p, bytes, nullptr), GPUMEM_OK) << last_error();
  EXPECT_EQ(gpumem_copy(ctx, q, heap.data() + bytes - last, last), GPUMEM_OK) << last_error();
  int64_t sum = 0;
  EXPECT_EQ(gpumem_reduce(ctx, GPUMEM_SUM, GPUMEM_I8, q, last, 1, &sum), GPUMEM_OK) << last_error();
  EXPECT_EQ(sum, last * 'x');
  EXPECT_EQ(gpumem_free(ctx, q), GPUMEM_OK);
  EXPECT_EQ(gpumem_free(ctx, p), GPUMEM_OK);
}

TEST_F(Gpu, HeapCopiesReturnBeforeTheStreamComesToThem) {
  std::vector<char> src(kBytes, 'a');
  std::vector<char> back(kBytes, '-');
  void* p = nullptr;
  ASSERT_EQ(gpumem_alloc_device(ctx, kBytes, &p), GPUMEM_OK);
  gpumem_stream* stream = nullptr;
  ASSERT_EQ(gpumem_stream_create(ctx, &stream), GPUMEM_OK);
  gpumem_event* event = nullptr;
  ASSERT_EQ(gpumem_event_create(ctx, &event), GPUMEM_OK);
  cudaStream_t native = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&native, cudaStreamNonBlocking), cudaSuccess);
  gpumem_stream* spinning = nullptr;
  ASSERT_EQ(gpumem_stream_wrap(ctx, native, &spinning), GPUMEM_OK);

  spin(native, 100);
  ASSERT_EQ(gpumem_event_record(ctx, event, spinning), GPUMEM_OK);
  ASSERT_EQ(gpumem_stream_wait_event(ctx, stream, event), GPUMEM_OK);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(gpumem_copy_async(ctx, p, src.data(), kBytes, stream), GPUMEM_OK) << last_error();
  EXPECT_EQ(gpumem_copy_async(ctx, back.data(), p, kBytes, stream), GPUMEM_OK) << last_error();
  const auto enqueued = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(gpumem_stream_query(ctx, stream), GPUMEM_NOT_READY);
  EXPECT_LT(enqueued, std::chrono::milliseconds(80)) << "the call waited for the stream";
  EXPECT_EQ(back[0], '-');
  std::memset(src.data(), 'b', kBytes / 2);  // the copy has not been passed yet: it must see this
  EXPECT_EQ(gpumem_stream_synchronize(ctx, stream), GPUMEM_OK) << last_error();
  EXPECT_EQ(back[0], 'b');
  EXPECT_EQ(back[kBytes - 1], 'a');

  EXPECT_EQ(gpumem_event_destroy(event), GPUMEM_OK);
  EXPECT_EQ(gpumem_stream_destroy(spinning), GPUMEM_OK);
  EXPECT_EQ(gpumem_stream_destroy(stream), GPUMEM_OK);
  EXPECT_EQ(gpumem_free(ctx, p), GPUMEM_OK);
  cudaStreamDestroy(native);
}

TEST_F(Gpu, CaptureTakesDeviceWorkAndRefusesTheRestUnharmed) {
  void* a = nullptr;
  void* b = nullptr;
  ASSERT_EQ(gpumem_alloc_device(ctx, kBytes, &a), GPUMEM_OK);
  ASSERT_EQ(gpumem_alloc_device(ctx, kBytes, &b), GPUMEM_OK);
  std::vector<char> heap(kBytes, 'h');
  cudaStream_t native = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&native, cudaStreamNonBlocking), cudaSuccess);
  gpumem_stream* stream = nullptr;
  ASSERT_EQ(gpumem_stream_wrap(ctx, native, &stream), GPUMEM_OK);

  ASSERT_EQ(cudaStreamBeginCapture(native, cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_EQ(gpumem_fill_async(ctx, a, "ab", 2, kBytes / 2, stream), GPUMEM_OK) << last_error();
  EXPECT_EQ(gpumem_copy_async(ctx, b, a, kBytes, stream), GPUMEM_OK) << last_error();
  EXPECT_EQ(gpumem_copy_async(ctx, heap.data(), a, kBytes, stream), GPUMEM_CAPTURING);
  EXPECT_EQ(gpumem_fill_async(ctx, heap.data(), "q", 1, kBytes, stream), GPUMEM_CAPTURING);
  EXPECT_EQ(gpumem_stream_synchronize(ctx, stream), GPUMEM_CAPTURING);
  EXPECT_EQ(gpumem_stream_query(ctx, stream), GPUMEM_CAPTURING);
  EXPECT_EQ(gpumem_ctx_synchronize(ctx), GPUMEM_CAPTURING);
  void* during = nullptr;
  EXPECT_EQ(gpumem_alloc_device(ctx, 4096, &during), GPUMEM_OK) << "allocation beside a capture: " << last_error();
  int64_t sum = 0;
  EXPECT_EQ(gpumem_reduce_i32(ctx, GPUMEM_SUM, static_cast<int32_t*>(a), 4, 1, &sum), GPUMEM_OK)
      << "another stream is free to run: " << last_error();
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamEndCapture(native, &graph), cudaSuccess) << "the capture must still be valid";

  ASSERT_EQ(gpumem_fill(ctx, b, "z", 1, kBytes), GPUMEM_OK);
  cudaGraphExec_t executable = nullptr;
  ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
  for (int replay = 0; replay < 2; ++replay) {
    ASSERT_EQ(cudaGraphLaunch(executable, native), cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(native), cudaSuccess);
    char ends[2] = {};
    cudaMemcpy(&ends[0], b, 1, cudaMemcpyDefault);
    cudaMemcpy(&ends[1], static_cast<char*>(b) + kBytes - 1, 1, cudaMemcpyDefault);
    EXPECT_EQ(ends[0], 'a');
    EXPECT_EQ(ends[1], 'b');
  }
  EXPECT_EQ(heap[0], 'h');
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
  EXPECT_EQ(gpumem_stream_destroy(stream), GPUMEM_OK);
  for (void* p : {a, b, during}) EXPECT_EQ(gpumem_free(ctx, p), GPUMEM_OK);
  cudaStreamDestroy(native);
}

TEST_F(Gpu, ManyThreadsShareOneContext) {
  const auto work = [this](int seed) {
    void* p = nullptr;
    ASSERT_EQ(gpumem_alloc_device(ctx, 1 << 20, &p), GPUMEM_OK);
    for (int round = 0; round < 50; ++round) {
      const int32_t value = seed * 1000 + round;
      ASSERT_EQ(gpumem_fill(ctx, p, &value, 4, 1 << 18), GPUMEM_OK);
      int64_t sum = 0;
      ASSERT_EQ(gpumem_reduce_i32(ctx, GPUMEM_SUM, static_cast<int32_t*>(p), 1 << 18, 1, &sum), GPUMEM_OK);
      ASSERT_EQ(sum, int64_t{value} << 18);
    }
    ASSERT_EQ(gpumem_free(ctx, p), GPUMEM_OK);
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) threads.emplace_back(work, t);
  for (auto& thread : threads) thread.join();
}

// Two launches a reduction, sums of two widths: the scratch that they share must not mix.
TEST_F(Gpu, ManyThreadsReduceInTwoPassesOnOneContext) {
  constexpr int64_t kCount = 1 << 18;
  void* p = nullptr;
  ASSERT_EQ(gpumem_alloc_device(ctx, kCount * 4, &p), GPUMEM_OK);
  const int32_t value = -5;
  ASSERT_EQ(gpumem_fill(ctx, p, &value, 4, kCount), GPUMEM_OK);
  const auto work = [&](int seed) {
    const gpumem_reduce_op op = seed % 2 == 0 ? GPUMEM_SUM : GPUMEM_SUM_CUBES;
    const int64_t expected = (seed % 2 == 0 ? -5 : -125) * (kCount / 2);
    for (int round = 0; round < 200; ++round) {
      int64_t sum = 0;
      ASSERT_EQ(gpumem_reduce_i32(ctx, op, static_cast<int32_t*>(p), kCount / 2, 2, &sum), GPUMEM_OK) << last_error();
      ASSERT_EQ(sum, expected);
    }
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) threads.emplace_back(work, t);
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(gpumem_free(ctx, p), GPUMEM_OK);
}

// The host's part of a call comes after what the legacy stream was given, as the device's part does.
TEST_F(Gpu, HostWorkIsOrderedWithTheLegacyStreamToo) {
  void* device = nullptr;
  void* pinned = nullptr;
  ASSERT_EQ(gpumem_alloc_device(ctx, kBytes, &device), GPUMEM_OK);
  ASSERT_EQ(gpumem_alloc_pinned(ctx, kBytes, &pinned), GPUMEM_OK);
  std::memset(pinned, 0, kBytes);
  fill_value(static_cast<int32_t*>(device), kBytes / 4, 3);
  spin(nullptr, 50);
  ASSERT_EQ(cudaMemcpyAsync(pinned, device, kBytes, cudaMemcpyDefault, nullptr), cudaSuccess);
  int64_t sum = 0;
  EXPECT_EQ(gpumem_reduce_i32(ctx, GPUMEM_SUM, static_cast<int32_t*>(pinned), kBytes / 4, 1, &sum), GPUMEM_OK);
  EXPECT_EQ(sum, 3 * kBytes / 4);
  EXPECT_EQ(gpumem_free(ctx, pinned), GPUMEM_OK);
  EXPECT_EQ(gpumem_free(ctx, device), GPUMEM_OK);
}

TEST_F(Gpu, AnEventRecordedInACaptureIsNotAsked) {
  cudaStream_t native = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&native, cudaStreamNonBlocking), cudaSuccess);
  gpumem_stream* stream = nullptr;
  ASSERT_EQ(gpumem_stream_wrap(ctx, native, &stream), GPUMEM_OK);
  gpumem_event* event = nullptr;
  ASSERT_EQ(gpumem_event_create(ctx, &event), GPUMEM_OK);
  ASSERT_EQ(cudaStreamBeginCapture(native, cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_EQ(gpumem_event_record(ctx, event, stream), GPUMEM_OK) << last_error();
  double seconds = -1;
  EXPECT_EQ(gpumem_event_synchronize(event), GPUMEM_CAPTURING);
  EXPECT_EQ(gpumem_event_elapsed(event, event, &seconds), GPUMEM_CAPTURING);
  EXPECT_EQ(gpumem_ctx_status(ctx), GPUMEM_OK) << last_error();
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(native, &graph), cudaSuccess) << "the capture must still be valid";
  cudaGraphDestroy(graph);
  EXPECT_EQ(gpumem_event_record(ctx, event, stream), GPUMEM_OK);
  EXPECT_EQ(gpumem_event_synchronize(event), GPUMEM_OK) << "recorded anew, outside a capture";
  EXPECT_EQ(gpumem_event_destroy(event), GPUMEM_OK);
  EXPECT_EQ(gpumem_stream_destroy(stream), GPUMEM_OK);
  cudaStreamDestroy(native);
}

TEST_F(Gpu, ANativeStreamTakesWorkOfTheProgramInItsOrder) {
  gpumem_stream* created = nullptr;
  ASSERT_EQ(gpumem_stream_create(ctx, &created), GPUMEM_OK);
  void* p = nullptr;
  ASSERT_EQ(gpumem_alloc_device(ctx, 4096, &p), GPUMEM_OK);
  for (gpumem_stream* const stream : {static_cast<gpumem_stream*>(nullptr), created}) {
    void* native = nullptr;
    ASSERT_EQ(gpumem_stream_native(ctx, stream, &native), GPUMEM_OK) << last_error();
    ASSERT_EQ(gpumem_fill_async(ctx, p, "a", 1, 4096, stream), GPUMEM_OK) << last_error();
    char seen = 0;
    ASSERT_EQ(cudaMemcpyAsync(&seen, static_cast<char*>(p) + 4095, 1, cudaMemcpyDeviceToHost,
                              static_cast<cudaStream_t>(native)),
              cudaSuccess);
    ASSERT_EQ(gpumem_fill_async(ctx, p, "b", 1, 4096, stream), GPUMEM_OK) << last_error();
    ASSERT_EQ(gpumem_stream_synchronize(ctx, stream), GPUMEM_OK);
    EXPECT_EQ(seen, 'a');
  }
  EXPECT_EQ(gpumem_free(ctx, p), GPUMEM_OK);
  EXPECT_EQ(gpumem_stream_destroy(created), GPUMEM_OK);
}

TEST_F(Gpu, SpecialStreamHandles) {
  gpumem_stream* stream = nullptr;
  EXPECT_EQ(gpumem_stream_wrap(ctx, cudaStreamPerThread, &stream), GPUMEM_UNSUPPORTED);
  EXPECT_EQ(stream, nullptr);
  ASSERT_EQ(gpumem_stream_wrap(ctx, cudaStreamLegacy, &stream), GPUMEM_OK) << last_error();
  void* p = nullptr;
  EXPECT_EQ(gpumem_stream_native(ctx, stream, &p), GPUMEM_OK) << last_error();
  EXPECT_EQ(p, cudaStreamLegacy);
  ASSERT_EQ(gpumem_alloc_device(ctx, 4096, &p), GPUMEM_OK);
  EXPECT_EQ(gpumem_fill_async(ctx, p, "a", 1, 4096, stream), GPUMEM_OK) << last_error();
  EXPECT_EQ(gpumem_stream_synchronize(ctx, stream), GPUMEM_OK);
  EXPECT_EQ(gpumem_free(ctx, p), GPUMEM_OK);
  EXPECT_EQ(gpumem_stream_destroy(stream), GPUMEM_OK);
}

}  // namespace
}  // namespace gpumem::gpu_tests
