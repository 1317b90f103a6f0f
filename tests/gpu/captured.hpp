// What the tests of captured reductions share: a stream under capture, the graph that comes of it, and memory.
#pragma once

#include <cstring>
#include <vector>

#include "tests/gpu/gpu_fixture.hpp"

namespace gpumem::gpu_tests {

// A stream of the program, wrapped; and what is captured on it.
class Captured {
 public:
  explicit Captured(gpumem_ctx* ctx) {
    EXPECT_EQ(cudaStreamCreateWithFlags(&native, cudaStreamNonBlocking), cudaSuccess);
    EXPECT_EQ(gpumem_stream_wrap(ctx, native, &stream), GPUMEM_OK) << last_error();
  }
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;
  ~Captured() {
    drop();
    EXPECT_EQ(gpumem_stream_destroy(stream), GPUMEM_OK);
    cudaStreamDestroy(native);
  }

  void begin(cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal) {
    ASSERT_EQ(cudaStreamBeginCapture(native, mode), cudaSuccess);
  }
  void end() {
    ASSERT_EQ(cudaStreamEndCapture(native, &graph), cudaSuccess) << "the capture must still be valid";
    ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
  }
  void launch() { ASSERT_EQ(cudaGraphLaunch(executable, native), cudaSuccess); }
  void wait() { ASSERT_EQ(cudaStreamSynchronize(native), cudaSuccess); }
  void drop() {
    if (executable != nullptr) cudaGraphExecDestroy(executable);
    if (graph != nullptr) cudaGraphDestroy(graph);
    executable = nullptr;
    graph = nullptr;
  }

  cudaStream_t native = nullptr;
  gpumem_stream* stream = nullptr;

 private:
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
};

// Memory of the device and pinned memory, freed at the end of the test.
class ReduceCapture : public Gpu {
 protected:
  void TearDown() override {
    for (void* p : blocks_) EXPECT_EQ(gpumem_free(ctx, p), GPUMEM_OK) << last_error();
    Gpu::TearDown();
  }
  template <class T = char>
  T* device(size_t bytes) {
    void* p = nullptr;
    EXPECT_EQ(gpumem_alloc_device(ctx, static_cast<int64_t>(bytes), &p), GPUMEM_OK) << last_error();
    blocks_.push_back(p);
    return static_cast<T*>(p);
  }
  uint64_t* pinned_words(size_t count) {
    void* p = nullptr;
    EXPECT_EQ(gpumem_alloc_pinned(ctx, static_cast<int64_t>(count * 8), &p), GPUMEM_OK) << last_error();
    blocks_.push_back(p);
    std::memset(p, 0x5A, count * 8);
    return static_cast<uint64_t*>(p);
  }
  static void put(void* dst, const void* src, size_t bytes) {
    if (bytes == 0) return;
    // Over a stream of its own, waited for: the captures' streams wait for no other, and nothing may wait for the whole device
    // while another thread captures.
    cudaStream_t stream = nullptr;
    ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    EXPECT_EQ(cudaMemcpyAsync(dst, src, bytes, cudaMemcpyDefault, stream), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  }

 private:
  std::vector<void*> blocks_;
};

}  // namespace gpumem::gpu_tests
