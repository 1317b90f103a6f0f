// The allocators in the signatures of other libraries, on real streams of the program: order, captures, many streams, cost.
#include <chrono>
#include <cstdio>
#include <cstring>
#include <vector>

#include "tests/gpu/device_memory.hpp"
#include "tests/gpu/gpu_fixture.hpp"

namespace gpumem::gpu_tests {
namespace {

constexpr int64_t kCount = 4 << 20;
constexpr int64_t kBytes = kCount * 4;

// The streams live as long as the process, as the contract has it.
cudaStream_t new_stream() {
  cudaStream_t stream = nullptr;
  EXPECT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  return stream;
}

class GpuPlugins : public Gpu {
 protected:
  void SetUp() override {
    Gpu::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    ASSERT_EQ(gpumem_shared_ctx(0, &shared), GPUMEM_OK) << last_error();
    live = stats().device_blocks;
    ASSERT_EQ(gpumem_alloc_pinned(ctx, kBytes, &pinned), GPUMEM_OK);
    seen = static_cast<int32_t*>(pinned);
  }
  void TearDown() override {
    if (ctx == nullptr) return;
    EXPECT_EQ(stats().device_blocks, live) << "the test left memory behind";
    EXPECT_EQ(gpumem_free(ctx, pinned), GPUMEM_OK);
    Gpu::TearDown();
  }

  gpumem_memory_stats_info stats() const {
    gpumem_memory_stats_info stats;
    EXPECT_EQ(gpumem_memory_stats_init(&stats, sizeof stats), GPUMEM_OK);
    EXPECT_EQ(gpumem_memory_stats(shared, &stats), GPUMEM_OK) << last_error();
    return stats;
  }
  static void fill(void* p, unsigned char value, cudaStream_t stream) {
    ASSERT_EQ(cudaMemsetAsync(p, value, kBytes, stream), cudaSuccess);
  }
  // What a late reader finds: its stream spins, then copies.
  void read_late(const void* p, cudaStream_t stream) const {
    spin(stream, 50);
    ASSERT_EQ(cudaMemcpyAsync(pinned, p, kBytes, cudaMemcpyDeviceToHost, stream), cudaSuccess);
  }
  void expect_seen(unsigned char value) const {
    int32_t word = 0;
    std::memset(&word, value, sizeof word);
    EXPECT_EQ(seen[0], word);
    EXPECT_EQ(seen[kCount - 1], word);
  }

  gpumem_ctx* shared = nullptr;
  int64_t live = 0;
  void* pinned = nullptr;
  int32_t* seen = nullptr;
};

TEST_F(GpuPlugins, AStreamHasItsOwnBlockBackAndOthersWait) {
  cudaStream_t one = new_stream();
  cudaStream_t two = new_stream();
  void* const p = gpumem_torch_malloc(kBytes, 0, one);
  ASSERT_NE(p, nullptr) << last_error();
  fill(p, 1, one);
  read_late(p, one);
  gpumem_torch_free(p, kBytes, 0, one);
  void* const q = gpumem_torch_malloc(kBytes, 0, two);
  fill(q, 2, two);
  EXPECT_EQ(gpumem_torch_malloc(kBytes, 0, one), p);
  fill(p, 3, one);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  expect_seen(1);
  gpumem_torch_free(p, kBytes, 0, one);
  gpumem_torch_free(q, kBytes, 0, two);
}

TEST_F(GpuPlugins, ARecordedStreamIsWaitedFor) {
  cudaStream_t owner = new_stream();
  cudaStream_t reader = new_stream();
  void* const p = gpumem_torch_malloc(kBytes, 0, owner);
  fill(p, 4, owner);
  ASSERT_EQ(cudaStreamSynchronize(owner), cudaSuccess);
  read_late(p, reader);
  gpumem_torch_record_stream(p, reader);
  gpumem_torch_free(p, kBytes, 0, owner);
  void* const q = gpumem_torch_malloc(kBytes, 0, owner);
  EXPECT_EQ(q, p) << "the test wants the same memory again";
  fill(q, 5, owner);
  ASSERT_EQ(cudaStreamSynchronize(reader), cudaSuccess);
  expect_seen(4);
  gpumem_torch_free(q, kBytes, 0, owner);
}

TEST_F(GpuPlugins, AFreeWithoutAStreamWaitsForStreamsThatNobodyNamed) {
  cudaStream_t unknown = new_stream();
  void* const p = gpumem_cupy_malloc(nullptr, kBytes, 0);
  fill(p, 6, unknown);
  read_late(p, unknown);
  gpumem_cupy_free(nullptr, p, 0);
  EXPECT_EQ(cudaStreamQuery(unknown), cudaSuccess) << "the work was still running after the free";
  expect_seen(6);
}

TEST_F(GpuPlugins, ACaptureStaysValidAndWhatItKeptIsFreedLater) {
  cudaStream_t captured = new_stream();
  void* const p = gpumem_torch_malloc(kBytes, 0, captured);
  void* const every = gpumem_cupy_malloc(nullptr, 4096, 0);
  ASSERT_EQ(cudaStreamBeginCapture(captured, cudaStreamCaptureModeGlobal), cudaSuccess);
  fill(p, 7, captured);
  gpumem_torch_free(p, kBytes, 0, captured);
  gpumem_torch_free(p, kBytes, 0, captured);  // a program's mistake: still one free
  gpumem_cupy_free(nullptr, every, 0);
  EXPECT_EQ(stats().device_blocks, live + 2);
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamEndCapture(captured, &graph), cudaSuccess) << "the capture must still be valid";
  cudaGraphDestroy(graph);
  gpumem_torch_free(gpumem_torch_malloc(64, 0, captured), 64, 0, captured);
  EXPECT_EQ(stats().device_blocks, live);
}

// Before the streams are used up that are kept.
TEST_F(GpuPlugins, WhatAPairCosts) {
  cudaStream_t stream = new_stream();
  for (cudaStream_t on : {static_cast<cudaStream_t>(nullptr), stream}) {
    constexpr int kPairs = 100000;
    gpumem_torch_free(gpumem_torch_malloc(4096, 0, on), 4096, 0, on);
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < kPairs; ++i) gpumem_torch_free(gpumem_torch_malloc(4096, 0, on), 4096, 0, on);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    std::printf("an allocation and its free on %s: %.0f ns\n", on == nullptr ? "the legacy stream" : "a stream",
                took.count() / kPairs * 1e9);
  }
}

TEST_F(GpuPlugins, MoreStreamsThanAreKeptAreServedToo) {
  std::vector<cudaStream_t> streams;
  std::vector<void*> blocks;
  for (int i = 0; i < 300; ++i) {
    streams.push_back(new_stream());
    blocks.push_back(gpumem_torch_malloc(100000, 0, streams.back()));
    ASSERT_NE(blocks.back(), nullptr) << i << ": " << last_error();
  }
  for (size_t i = 0; i < blocks.size(); ++i) gpumem_torch_free(blocks[i], 100000, 0, streams[i]);
}

}  // namespace
}  // namespace gpumem::gpu_tests
