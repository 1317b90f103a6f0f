// Memory that graphs keep: what a pool gives under capture is the graph's until the pool is released, and nobody else's.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "gpumem.h"
#include "support/contexts.hpp"
#include "support/status.hpp"

namespace gpumem_test {
namespace {

constexpr int64_t kBytes = 3 << 20;
constexpr cudaStreamCaptureMode kModes[] = {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal,
                                            cudaStreamCaptureModeRelaxed};

cudaStream_t new_stream() {  // it lives as long as the process, as the contract has it
  cudaStream_t stream = nullptr;
  EXPECT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  return stream;
}

bool captured(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  EXPECT_EQ(cudaStreamIsCapturing(stream, &status), cudaSuccess);
  return status == cudaStreamCaptureStatusActive;
}

// As PyTorch's: it begins before the capture, and its filter asks whether a stream is captured.
class Pool {
 public:
  explicit Pool(int64_t number) : number_(number) {}

  void begin() const {
    const std::function<bool(void*)> filter = [](void* stream) { return captured(static_cast<cudaStream_t>(stream)); };
    gpumem_torch_begin_pool(0, 0, number_, &filter);
  }
  void end() const { gpumem_torch_end_pool(0, 0, number_); }
  void release() const { gpumem_torch_release_pool(0, 0, number_); }

 private:
  int64_t number_;
};

class GraphPools : public testing::Test {
 protected:
  void SetUp() override {
    if (cuda_devices() == 0) GTEST_SKIP() << no_cuda_reason();
    ASSERT_TRUE(ok(gpumem_shared_ctx(0, &ctx)));
    live = stats_of(ctx).device_blocks;
    stream = new_stream();
    other = new_stream();
    free(allocate(stream), stream);
    if (stats_of(ctx).device_reserved_bytes == 0) GTEST_SKIP() << "the device has no stream-ordered memory";
  }
  void TearDown() override {
    if (ctx == nullptr) return;
    EXPECT_EQ(stats_of(ctx).device_blocks, live) << "the test left memory behind";
  }

  static void* allocate(cudaStream_t on, int64_t bytes = kBytes) {
    void* const p = gpumem_torch_malloc(bytes, 0, on);
    EXPECT_NE(p, nullptr) << last_error();
    return p;
  }
  static void free(void* p, cudaStream_t on) { gpumem_torch_free(p, kBytes, 0, on); }
  static void fill(void* p, int value, cudaStream_t on) {
    ASSERT_EQ(cudaMemsetAsync(p, value, kBytes, on), cudaSuccess);
  }
  void expect_filled(const void* p, unsigned char value) const {
    std::vector<unsigned char> seen(kBytes);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    ASSERT_EQ(cudaMemcpyAsync(seen.data(), p, kBytes, cudaMemcpyDefault, other), cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(other), cudaSuccess);
    EXPECT_EQ(seen, std::vector<unsigned char>(kBytes, value));
  }

  void begin(cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal) const {
    ASSERT_EQ(cudaStreamBeginCapture(stream, mode), cudaSuccess);
  }
  cudaGraphExec_t end() const {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess) << "the capture must still be valid";
    EXPECT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    return executable;
  }
  // Memory of the program, beside every block of the pool and as large as each.
  std::vector<void*> take_eagerly(int count) const {
    std::vector<void*> blocks;
    for (int i = 0; i < count; ++i) blocks.push_back(allocate(i % 2 == 0 ? stream : other));
    return blocks;
  }
  void give_back(const std::vector<void*>& blocks) const {
    for (size_t i = 0; i < blocks.size(); ++i) free(blocks[i], i % 2 == 0 ? stream : other);
  }

  gpumem_ctx* ctx = nullptr;
  int64_t live = 0;
  cudaStream_t stream = nullptr;
  cudaStream_t other = nullptr;
};

TEST_F(GraphPools, KeepMemoryForTheirGraphs) {
  int64_t number = 100;
  for (const cudaStreamCaptureMode mode : kModes) {
    const Pool pool(++number);
    free(allocate(stream), stream);  // idle memory of the stream, which is not the graph's
    void* const result = allocate(stream);
    pool.begin();
    begin(mode);
    void* const p = allocate(stream);
    fill(p, 5, stream);
    void* const kept = allocate(stream);
    fill(kept, 6, stream);
    free(p, stream);
    EXPECT_EQ(allocate(stream), p) << "within the graph, the memory comes free at once";
    fill(p, 7, stream);
    ASSERT_EQ(cudaMemcpyAsync(result, p, kBytes, cudaMemcpyDeviceToDevice, stream), cudaSuccess);
    void* const aside = allocate(other);  // not captured: not of the pool
    free(p, stream);
    cudaGraphExec_t graph = end();
    pool.end();
    free(kept, stream);
    free(aside, other);
    gpumem_torch_empty_cache();

    const std::vector<void*> eager = take_eagerly(8);
    for (void* block : eager) {
      EXPECT_TRUE(block != p && block != kept) << "the graph's memory was given to others";
      fill(block, 9, stream);
    }
    ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    ASSERT_EQ(cudaGraphLaunch(graph, other), cudaSuccess);
    expect_filled(result, 7);
    for (const void* block : eager) expect_filled(block, 9);
    give_back(eager);
    free(result, stream);

    gpumem_torch_empty_cache();
    const int64_t reserved = stats_of(ctx).device_reserved_bytes;
    pool.release();
    ASSERT_EQ(cudaGraphExecDestroy(graph), cudaSuccess);
    gpumem_torch_empty_cache();
    EXPECT_LE(stats_of(ctx).device_reserved_bytes, reserved - 2 * kBytes) << "the pool's memory was not given back";
  }
}

TEST_F(GraphPools, AreSharedByGraphsUntilTheLastIsReleased) {
  const Pool pool(1);
  const auto capture = [&](void** p) {
    pool.begin();
    begin();
    *p = allocate(stream);
    fill(*p, 3, stream);
    free(*p, stream);
    cudaGraphExec_t graph = end();
    pool.end();
    return graph;
  };
  void* first = nullptr;
  void* second = nullptr;
  cudaGraphExec_t one = capture(&first);
  cudaGraphExec_t two = capture(&second);
  EXPECT_EQ(first, second) << "graphs of one pool use the same memory";
  pool.release();
  ASSERT_EQ(cudaGraphExecDestroy(one), cudaSuccess);
  const std::vector<void*> eager = take_eagerly(4);
  for (const void* block : eager) EXPECT_NE(block, second);
  give_back(eager);
  pool.release();
  ASSERT_EQ(cudaGraphExecDestroy(two), cudaSuccess);
  pool.release();
  EXPECT_NE(last_error().find("no pool of graphs"), std::string::npos) << last_error();
}

TEST_F(GraphPools, GiveLiveBlocksBackOnceTheyAreFreed) {
  const Pool pool(2);
  pool.begin();
  begin();
  void* const p = allocate(stream);
  fill(p, 4, stream);
  cudaGraphExec_t graph = end();
  pool.end();
  ASSERT_EQ(cudaGraphLaunch(graph, other), cudaSuccess);
  pool.release();
  ASSERT_EQ(cudaGraphExecDestroy(graph), cudaSuccess);
  std::vector<void*> eager = take_eagerly(4);
  for (const void* block : eager) EXPECT_NE(block, p);
  give_back(eager);
  expect_filled(p, 4);
  free(p, stream);
  EXPECT_EQ(stats_of(ctx).device_blocks, live);
  const int64_t reserved = stats_of(ctx).device_reserved_bytes;
  gpumem_torch_empty_cache();
  EXPECT_LT(stats_of(ctx).device_reserved_bytes, reserved);
}

// As PyTorch may drop a graph during another graph's capture.
TEST_F(GraphPools, AreReleasedLaterIfACaptureForbidsTheWait) {
  const Pool pool(3);
  pool.begin();
  begin();
  void* const p = allocate(stream);
  fill(p, 1, stream);
  free(p, stream);
  cudaGraphExec_t graph = end();
  pool.end();
  const Pool next(4);
  next.begin();
  begin();
  void* const q = allocate(stream);
  fill(q, 2, stream);
  pool.release();
  void* const r = allocate(stream);
  EXPECT_NE(r, p) << "the first graph may still run";
  free(r, stream);
  free(q, stream);
  cudaGraphExec_t second = end();
  next.end();
  const int64_t reserved = stats_of(ctx).device_reserved_bytes;
  free(allocate(other), other);
  gpumem_torch_empty_cache();
  EXPECT_LT(stats_of(ctx).device_reserved_bytes, reserved);
  next.release();
  ASSERT_EQ(cudaGraphExecDestroy(graph), cudaSuccess);
  ASSERT_EQ(cudaGraphExecDestroy(second), cudaSuccess);
}

// Work of the captured second stream may use the block until the capture's streams join.
TEST_F(GraphPools, DoNotUseABlockOfTwoStreamsAgainInTheCapture) {
  const Pool pool(5);
  cudaEvent_t fork = nullptr;
  cudaEvent_t join = nullptr;
  ASSERT_EQ(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming), cudaSuccess);
  ASSERT_EQ(cudaEventCreateWithFlags(&join, cudaEventDisableTiming), cudaSuccess);
  pool.begin();
  begin();
  void* const p = allocate(stream);
  fill(p, 1, stream);
  ASSERT_EQ(cudaEventRecord(fork, stream), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(other, fork, 0), cudaSuccess);
  fill(p, 2, other);
  gpumem_torch_record_stream(p, other);
  free(p, stream);
  void* const q = allocate(stream);
  EXPECT_NE(q, p);
  void* const r = allocate(other);
  EXPECT_NE(r, p);
  free(q, stream);
  free(r, other);
  ASSERT_EQ(cudaEventRecord(join, other), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(stream, join, 0), cudaSuccess);
  cudaGraphExec_t graph = end();
  pool.end();
  free(allocate(stream), stream);
  pool.release();
  ASSERT_EQ(cudaGraphExecDestroy(graph), cudaSuccess);
  EXPECT_EQ(cudaEventDestroy(fork), cudaSuccess);
  EXPECT_EQ(cudaEventDestroy(join), cudaSuccess);
}

// PyTorch's own allocator manages such a segment, and frees it after the graph's pool.
TEST_F(GraphPools, SegmentsAreGivenUnderCaptureAndFreedBehindTheDevice) {
  for (const cudaStreamCaptureMode mode : kModes) {
    begin(mode);
    void* const p = gpumem_torch_segment_malloc(kBytes, 0, stream);
    ASSERT_NE(p, nullptr) << last_error();
    fill(p, 8, stream);
    cudaGraphExec_t graph = end();
    ASSERT_EQ(cudaGraphLaunch(graph, other), cudaSuccess);
    expect_filled(p, 8);
    ASSERT_EQ(cudaGraphExecDestroy(graph), cudaSuccess);
    gpumem_torch_segment_free(p, kBytes, 0, stream);
    EXPECT_EQ(stats_of(ctx).device_blocks, live) << last_error();
  }
  EXPECT_EQ(gpumem_torch_segment_malloc(0, 0, stream), nullptr);
  gpumem_torch_segment_free(nullptr, 0, 0, stream);
}

}  // namespace
}  // namespace gpumem_test
