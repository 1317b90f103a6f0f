// The emulated device itself: that it does what a GPU does, and that it sees the mistakes that it is there for. Each mistake stands
// next to its correct form, which passes.
#undef __noinline__  // CUDA's macro; the standard headers mean the attribute
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <numeric>
#include <thread>
#include <vector>

#include "emulation/memory.hpp"
#include "emulation/streams.hpp"
#include "kernels/enqueue.cuh"

// Shared memory is found by the kernels' namespace.
namespace gpumem::kernels {
namespace {

// One launch, by the calling thread: what goes wrong in it ends the process right here.
template <class... Parameters>
void run(void (*kernel)(Parameters...), const dim3& grid, const dim3& block,
         std::type_identity_t<Parameters>... arguments) {
  gpumem_emulation::run({reinterpret_cast<const void*>(kernel), grid, block, [=] { kernel(arguments...); }});
}

constexpr int kThreads = 128;
constexpr int kTries = 20;

// --------------------------------------------------------------------------------------------------- grids and order

__global__ void count_threads(int* counts) {
  const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  ++counts[block * blockDim.x * blockDim.y * blockDim.z + thread];
}

TEST(Grid, EveryThreadOfEveryBlockRunsOnce) {
  std::vector<int> counts(5 * 3 * 2 * 7 * 4 * 3);
  run(count_threads, dim3(5, 3, 2), dim3(7, 4, 3), counts.data());
  EXPECT_EQ(counts, std::vector<int>(counts.size(), 1));
}

__global__ void note_order(std::vector<unsigned>* order) { order->push_back(blockIdx.x * blockDim.x + threadIdx.x); }

TEST(Grid, BlocksAndThreadsComeInAnyOrder) {
  std::vector<unsigned> all(64);
  std::iota(all.begin(), all.end(), 0);
  for (const auto& [grid, block] : {std::pair<int, int>{64, 1}, {1, 64}}) {
    int as_numbered = 0;
    for (int i = 0; i < kTries; ++i) {
      std::vector<unsigned> order;
      run(note_order, grid, block, &order);
      as_numbered += order == all ? 1 : 0;
      std::sort(order.begin(), order.end());
      EXPECT_EQ(order, all);
    }
    EXPECT_LT(as_numbered, kTries / 2);
  }
}

// ---------------------------------------------------------------------------------------------------------- barriers

// x[i] becomes x[i + 1], by shared memory.
template <bool kBarrier>
__global__ void turn(int* x) {
  __shared__ int shared[kThreads];
  shared[threadIdx.x] = x[threadIdx.x];
  if constexpr (kBarrier) __syncthreads();
  x[threadIdx.x] = shared[(threadIdx.x + 1) % kThreads];
}

int right_turns(void (*kernel)(int*)) {
  int right = 0;
  for (int i = 0; i < kTries; ++i) {
    std::vector<int> x(kThreads);
    std::iota(x.begin(), x.end(), 100 * i);
    std::vector<int> expected = x;
    std::rotate(expected.begin(), expected.begin() + 1, expected.end());
    run(kernel, 1, kThreads, x.data());
    right += x == expected ? 1 : 0;
  }
  return right;
}

TEST(Barrier, OneThatIsMissingShows) {
  EXPECT_EQ(right_turns(turn<true>), kTries);
  EXPECT_EQ(right_turns(turn<false>), 0);
}

__global__ void barrier_in_a_branch() {
  if (threadIdx.x < 40) {
    __syncthreads();
  } else {
    __syncthreads();
  }
}

__global__ void barrier_that_some_never_reach() {
  if (threadIdx.x < 40) {
    __syncthreads();
  } else {
    __syncwarp();  // eight lanes of the second warp are elsewhere
  }
}

__global__ void barrier_after_a_return(int* passed) {
  if (threadIdx.x >= 40) return;
  __syncthreads();
  ++*passed;
}

TEST(Barrier, DivergentOnesAreReported) {
  EXPECT_DEATH(run(barrier_in_a_branch, 1, kThreads), "comes to the barrier at emulation_test.cpp:[0-9]+ while others");
  EXPECT_DEATH(run(barrier_that_some_never_reach, 1, kThreads), "hangs: .*waits for the block at emulation_test.cpp");
}

TEST(Barrier, ThreadsThatHaveReturnedCountAsArrived) {
  int passed = 0;
  run(barrier_after_a_return, 1, kThreads, &passed);
  EXPECT_EQ(passed, 40);
}

__global__ void count_even(int* counts) { counts[threadIdx.x] = __syncthreads_count(threadIdx.x % 2 == 0 ? 1 : 0); }

TEST(Barrier, Counts) {
  std::vector<int> counts(kThreads);
  run(count_even, 1, kThreads, counts.data());
  EXPECT_EQ(counts, std::vector<int>(kThreads, kThreads / 2));
}

// ------------------------------------------------------------------------------------------------------------- warps

__global__ void exchange(unsigned* out) {
  const unsigned lane = threadIdx.x % 32;
  unsigned* mine = out + threadIdx.x * 6;
  mine[0] = __shfl_xor_sync(0xffffffffu, lane, 5);
  mine[1] = __shfl_down_sync(0xffffffffu, lane, 3);
  mine[2] = __shfl_up_sync(0xffffffffu, lane, 3, 8);
  mine[3] = __ballot_sync(0xffffffffu, lane % 3 == 0 ? 1 : 0);
  // The halves of a warp, each for itself, and the second one later.
  const unsigned half = lane < 16 ? 0x0000ffffu : 0xffff0000u;
  if (lane >= 16) __syncwarp(half);
  mine[4] = __shfl_sync(half, lane, static_cast<int>(lane / 16 * 16 + 7));
  mine[5] = __reduce_add_sync(half, lane);
}

TEST(Warp, LanesExchangeWords) {
  std::vector<unsigned> out(2 * 32 * 6);
  run(exchange, 1, 64, out.data());
  for (unsigned i = 0; i < 64; ++i) {
    const unsigned lane = i % 32;
    const unsigned* mine = out.data() + i * 6;
    EXPECT_EQ(mine[0], lane ^ 5);
    EXPECT_EQ(mine[1], lane < 29 ? lane + 3 : lane);
    EXPECT_EQ(mine[2], lane % 8 < 3 ? lane : lane - 3);
    EXPECT_EQ(mine[3], 0x49249249u);
    EXPECT_EQ(mine[4], lane < 16 ? 7u : 23u);
    EXPECT_EQ(mine[5], lane < 16 ? 120u : 376u);
  }
}

__global__ void shuffle_without_some() {
  if (threadIdx.x % 32 < 31) __shfl_xor_sync(0xffffffffu, 1, 1);
  __syncthreads();
}
__global__ void shuffle_with_the_returned() {
  if (threadIdx.x % 32 == 31) return;
  __shfl_xor_sync(0xffffffffu, 1, 1);
}
// By that lane alone: its neighbour would miss it where it comes last.
__global__ void shuffle_outside_the_mask() {
  if (threadIdx.x % 32 == 31) __shfl_xor_sync(0x7fffffffu, 1, 1);
}
__global__ void shuffle_and_vote() {
  if (threadIdx.x % 32 < 16) {
    __shfl_xor_sync(0xffffffffu, 1, 1);
  } else {
    __any_sync(0xffffffffu, 1);
  }
}

TEST(Warp, LanesThatAreMissingAreReported) {
  EXPECT_DEATH(run(shuffle_without_some, 1, 32), "hangs: .*waits for lanes of its warp at emulation_test.cpp");
  EXPECT_DEATH(run(shuffle_with_the_returned, 1, 32), "takes the value of lane 31, which is not there");
  EXPECT_DEATH(run(shuffle_outside_the_mask, 1, 32), "is not in the mask that it gives");
  EXPECT_DEATH(run(shuffle_and_vote, 1, 32), "meets lanes with another mask or purpose");
}

// Without __syncwarp() the lanes of a warp are not in step.
template <bool kBarrier>
__global__ void turn_in_warp(int* x) {
  __shared__ int shared[kThreads];
  const unsigned lane = threadIdx.x % 32;
  shared[threadIdx.x] = x[threadIdx.x];
  if constexpr (kBarrier) __syncwarp();
  x[threadIdx.x] = shared[threadIdx.x - lane + (lane + 1) % 32];
}

TEST(Warp, StepsThatAreOnlyAssumedShow) {
  std::vector<int> x(kThreads);
  std::iota(x.begin(), x.end(), 0);
  run(turn_in_warp<true>, 1, kThreads, x.data());
  for (int i = 0; i < kThreads; ++i) EXPECT_EQ(x[i], i / 32 * 32 + (i + 1) % 32);
  const std::vector<int> right = x;
  std::iota(x.begin(), x.end(), 0);
  run(turn_in_warp<false>, 1, kThreads, x.data());
  EXPECT_NE(x, right);
}

// ------------------------------------------------------------------------------------------------------------ memory

__global__ void read_before_writing(unsigned* seen) {
  __shared__ unsigned shared[32];
  seen[blockIdx.x * 32 + threadIdx.x] = shared[threadIdx.x];
  shared[threadIdx.x] = threadIdx.x;
}

TEST(SharedMemory, IsSpoiledBeforeEachBlock) {
  for (int i = 0; i < 2; ++i) {
    std::vector<unsigned> seen(8 * 32);
    run(read_before_writing, 8, 32, seen.data());
    EXPECT_EQ(seen, std::vector<unsigned>(8 * 32, 0xb5b5b5b5u));
  }
}

__global__ void load_at(const char* p) { static_cast<void>(__ldcs(reinterpret_cast<const uint4*>(p))); }

TEST(Memory, MisalignedAccessesAreReported) {
  alignas(16) char bytes[64] = {};
  run(load_at, 1, 1, bytes + 16);
  EXPECT_DEATH(run(load_at, 1, 1, bytes + 8), "16 bytes at .*, which is not aligned");
}

TEST(Memory, TheHostCannotTouchTheDevices) {
  void* p = nullptr;
  ASSERT_EQ(cudaMalloc(&p, 100), cudaSuccess);
  EXPECT_DEATH(*static_cast<volatile char*>(p) = 1, "");
  ASSERT_EQ(cudaMemsetAsync(p, 7, 100, nullptr), cudaSuccess);
  char copy[100] = {};
  ASSERT_EQ(cudaMemcpyAsync(copy, p, 100, cudaMemcpyDefault, nullptr), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_TRUE(std::all_of(copy, copy + 100, [](char c) { return c == 7; }));
  EXPECT_EQ(cudaMemcpyAsync(copy, p, 101, cudaMemcpyDefault, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(p), cudaSuccess);
  EXPECT_EQ(cudaFree(p), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
}

// The system reads a byte, or says that it can't; no sanitizer is asked.
bool readable(const void* p) {
  int ends[2] = {};
  EXPECT_EQ(pipe(ends), 0);
  const bool read = syscall(SYS_write, ends[1], p, 1) == 1;
  for (const int end : ends) close(end);
  return read;
}

TEST(Memory, LivesWhileTheDeviceWorksAndNeverAfterItWasFreed) {
  constexpr size_t kBytes = 5000;
  void* blocks[4] = {};
  for (void*& block : blocks) ASSERT_EQ(cudaMalloc(&block, kBytes), cudaSuccess);
  const auto expect = [&](bool device_works) {
    for (const int i : {1, 3}) EXPECT_EQ(readable(blocks[i]), device_works) << i;
    for (const int i : {0, 2}) EXPECT_FALSE(readable(blocks[i])) << i << " was freed";
  };
  ASSERT_EQ(cudaFree(blocks[0]), cudaSuccess);
  {
    const gpumem_emulation::DeviceWorks works;
    EXPECT_TRUE(readable(blocks[2]));
    ASSERT_EQ(cudaFree(blocks[2]), cudaSuccess);  // in the middle of the work
    expect(true);
    void* again = nullptr;
    ASSERT_EQ(cudaMalloc(&again, kBytes), cudaSuccess);
    EXPECT_TRUE(readable(again));
    ASSERT_EQ(cudaFree(again), cudaSuccess);
  }
  expect(false);
  {
    const gpumem_emulation::DeviceWorks works;
    expect(true);
  }
  for (const int i : {1, 3}) EXPECT_EQ(cudaFree(blocks[i]), cudaSuccess);
}

// ------------------------------------------------------------------------------------------------- blocks and streams

// Each block adds its number; the one that counts as last stores the sum.
template <bool kCounted>
__global__ void sum_of_blocks(unsigned* counter, unsigned* parts, unsigned* sum) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = blockIdx.x + 1;
    __threadfence();
    last = kCounted ? atomicInc(counter, gridDim.x - 1) == gridDim.x - 1 : blockIdx.x == gridDim.x - 1;
  }
  __syncthreads();
  if (!last || threadIdx.x != 0) return;
  for (unsigned i = 0; i < gridDim.x; ++i) *sum += parts[i];
}

template <bool kCounted>
int right_sums() {
  unsigned counter = 0;
  int right = 0;
  for (int i = 0; i < kTries; ++i) {
    std::vector<unsigned> parts(16);
    unsigned sum = 0;
    run(sum_of_blocks<kCounted>, 16, 64, &counter, parts.data(), &sum);
    right += sum == 136 ? 1 : 0;
  }
  EXPECT_EQ(counter, 0u);
  return right;
}

TEST(Blocks, TheLastIsTheOneThatCountsLast) {
  EXPECT_EQ(right_sums<true>(), kTries);
  EXPECT_LT(right_sums<false>(), kTries / 2) << "a kernel that takes the highest block for the last one";
}

__global__ void append(std::vector<int>* out, int v) { out->push_back(v); }

TEST(Streams, LaunchesComeInTheOrderOfTheLegacyStream) {
  cudaStream_t blocking[2] = {};
  for (cudaStream_t& stream : blocking) ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  std::vector<int> order;
  for (int round = 0; round < 50; ++round) {
    ASSERT_EQ(enqueue(append, 1, 1, blocking[0], &order, 3 * round), cudaSuccess);
    ASSERT_EQ(enqueue(append, 1, 1, nullptr, &order, 3 * round + 1), cudaSuccess);
    ASSERT_EQ(enqueue(append, 1, 1, blocking[1], &order, 3 * round + 2), cudaSuccess);
    ASSERT_EQ(enqueue(append, 1, 1, cudaStreamLegacy, &order, -1), cudaSuccess);
  }
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  order.erase(std::remove(order.begin(), order.end(), -1), order.end());
  EXPECT_EQ(order.size(), 150u);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
  for (const cudaStream_t stream : blocking) EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

TEST(Streams, ALaunchThatNoDeviceTakesIsRefused) {
  EXPECT_EQ(enqueue(append, 1, 1025, nullptr, nullptr, 0), cudaErrorInvalidConfiguration);
  EXPECT_EQ(enqueue(append, 0, 1, nullptr, nullptr, 0), cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidConfiguration);
}

// --------------------------------------------------------------------------------------------------- captures, resets

// Whether a capture outlasts f, and the graph does what was captured.
template <class F>
bool outlasts(cudaStreamCaptureMode mode, unsigned flags, const F& f) {
  cudaStream_t stream = nullptr;
  EXPECT_EQ(cudaStreamCreateWithFlags(&stream, flags), cudaSuccess);
  std::vector<int> order;
  EXPECT_EQ(cudaStreamBeginCapture(stream, mode), cudaSuccess);
  EXPECT_EQ(enqueue(append, 1, 1, stream, &order, 1), cudaSuccess);
  f(stream);
  enqueue(append, 1, 1, stream, &order, 2);
  cudaGraph_t graph = nullptr;
  const bool valid = cudaStreamEndCapture(stream, &graph) == cudaSuccess;
  EXPECT_TRUE(order.empty()) << "captured work has run";
  if (valid) {
    cudaGraphExec_t executable = nullptr;
    EXPECT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
    for (int i = 0; i < 2; ++i) EXPECT_EQ(cudaGraphLaunch(executable, stream), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    EXPECT_EQ(order, (std::vector<int>{1, 2, 1, 2}));
    EXPECT_EQ(cudaGraphExecDestroy(executable), cudaSuccess);
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  }
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  static_cast<void>(cudaGetLastError());
  return valid;
}

TEST(Captures, EndByWhatConflictsWithThem) {
  constexpr auto kRelaxed = cudaStreamCaptureModeRelaxed;
  EXPECT_TRUE(outlasts(kRelaxed, cudaStreamDefault, [](cudaStream_t) {}));
  EXPECT_FALSE(outlasts(kRelaxed, cudaStreamDefault, [](cudaStream_t) { cudaDeviceSynchronize(); }));
  EXPECT_FALSE(outlasts(kRelaxed, cudaStreamDefault, [](cudaStream_t stream) { cudaStreamSynchronize(stream); }));
  EXPECT_FALSE(outlasts(kRelaxed, cudaStreamDefault, [](cudaStream_t stream) { cudaStreamQuery(stream); }));
  EXPECT_FALSE(outlasts(kRelaxed, cudaStreamDefault, [](cudaStream_t) { cudaStreamSynchronize(nullptr); }));
  EXPECT_TRUE(outlasts(kRelaxed, cudaStreamNonBlocking, [](cudaStream_t) { cudaStreamSynchronize(nullptr); }));
  cudaEvent_t event = nullptr;
  ASSERT_EQ(cudaEventCreate(&event), cudaSuccess);
  EXPECT_TRUE(outlasts(kRelaxed, cudaStreamDefault, [&](cudaStream_t stream) { cudaEventRecord(event, stream); }));
  EXPECT_FALSE(outlasts(kRelaxed, cudaStreamDefault, [&](cudaStream_t stream) {
    cudaEventRecord(event, stream);
    cudaEventQuery(event);
  }));
  ASSERT_EQ(cudaEventRecord(event, nullptr), cudaSuccess);
  EXPECT_FALSE(
      outlasts(kRelaxed, cudaStreamDefault, [&](cudaStream_t stream) { cudaStreamWaitEvent(stream, event, 0); }));
  EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
}

// A call of the runtime from here passes no gate, which is where it would be refused.
TEST(Captures, EndByUnsafeCallsAsTheModesSay) {
  const auto unsafe = [](cudaStream_t) { gpumem_emulation::refuse_unsafe_call(); };
  const auto relaxed = [](cudaStream_t) {
    const auto before = gpumem_emulation::exchange_capture_mode_of_thread(CU_STREAM_CAPTURE_MODE_RELAXED);
    EXPECT_EQ(gpumem_emulation::refuse_unsafe_call(), cudaSuccess);
    gpumem_emulation::exchange_capture_mode_of_thread(before);
  };
  const auto elsewhere = [&](cudaStream_t stream) { std::thread(unsafe, stream).join(); };
  EXPECT_FALSE(outlasts(cudaStreamCaptureModeGlobal, cudaStreamDefault, unsafe));
  EXPECT_FALSE(outlasts(cudaStreamCaptureModeThreadLocal, cudaStreamDefault, unsafe));
  EXPECT_TRUE(outlasts(cudaStreamCaptureModeRelaxed, cudaStreamDefault, unsafe));
  EXPECT_TRUE(outlasts(cudaStreamCaptureModeGlobal, cudaStreamDefault, relaxed));
  EXPECT_FALSE(outlasts(cudaStreamCaptureModeGlobal, cudaStreamDefault, elsewhere));
  EXPECT_TRUE(outlasts(cudaStreamCaptureModeThreadLocal, cudaStreamDefault, elsewhere));
}

// In a process that ends: the reset is of all that other tests have on the device.
void use_after_a_reset() {
  cudaStream_t stream = nullptr;
  cudaStreamCreate(&stream);
  cudaDeviceReset();
  cudaStreamSynchronize(stream);
}

TEST(Resets, WhatTheyHaveEndedIsNotUsed) {
  EXPECT_DEATH(use_after_a_reset(), "a stream is used whose device was reset");
}

}  // namespace
}  // namespace gpumem::kernels
