// What the CUDA backend relies on where another stream is captured, asked of the driver itself; and what it costs to ask for the context.
#include <cudaTypedefs.h>

#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/gpu/captured.hpp"
#include "tests/gpu/device_memory.hpp"

namespace gpumem::gpu_tests {
namespace {

class Relaxed {
 public:
  Relaxed() { cudaThreadExchangeStreamCaptureMode(&mode_); }
  Relaxed(const Relaxed&) = delete;
  Relaxed& operator=(const Relaxed&) = delete;
  ~Relaxed() { cudaThreadExchangeStreamCaptureMode(&mode_); }

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

// Whether a capture outlasts f, which is called with the mode relaxed. (By a stream of the program's, with one memset in it.)
bool outlasts(const std::function<void(cudaStream_t captured)>& f) {
  cudaStream_t stream = nullptr;
  void* p = nullptr;
  EXPECT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&p, 64), cudaSuccess);
  EXPECT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_EQ(cudaMemsetAsync(p, 1, 64, stream), cudaSuccess);
  {
    const Relaxed relaxed;
    f(stream);
  }
  static_cast<void>(cudaGetLastError());
  cudaGraph_t graph = nullptr;
  const bool valid = cudaStreamEndCapture(stream, &graph) == cudaSuccess;
  static_cast<void>(cudaGetLastError());
  if (graph != nullptr) cudaGraphDestroy(graph);
  EXPECT_EQ(cudaFree(p), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  return valid;
}

using CaptureRules = Gpu;

TEST_F(CaptureRules, CallsThatACaptureOutlasts) {
  std::vector<char> heap(1 << 16);
  cudaStream_t other = nullptr;
  cudaEvent_t event = nullptr;
  cudaMemPool_t pool = nullptr;
  void* device = nullptr;
  void* pinned = nullptr;
  void* managed = nullptr;
  cudaMemPoolProps props{};
  props.allocType = cudaMemAllocationTypePinned;
  props.location = {cudaMemLocationTypeDevice, {0}};
  const std::pair<const char*, std::function<cudaError_t()>> calls[] = {
      {"cudaMalloc", [&] { return cudaMalloc(&device, 4096); }},
      {"cudaFree", [&] { return cudaFree(device); }},
      {"cudaHostAlloc", [&] { return cudaHostAlloc(&pinned, 4096, cudaHostAllocPortable); }},
      {"cudaFreeHost", [&] { return cudaFreeHost(pinned); }},
      {"cudaMallocManaged", [&] { return cudaMallocManaged(&managed, 4096); }},
      {"cudaFree of managed memory", [&] { return cudaFree(managed); }},
      {"cudaHostRegister", [&] { return cudaHostRegister(heap.data(), heap.size(), cudaHostRegisterPortable); }},
      {"cudaHostUnregister", [&] { return cudaHostUnregister(heap.data()); }},
      {"cudaStreamCreate", [&] { return cudaStreamCreate(&other); }},
      {"cudaEventCreate", [&] { return cudaEventCreate(&event); }},
      {"cudaEventRecord", [&] { return cudaEventRecord(event, other); }},
      {"cudaEventQuery", [&] { return cudaEventSynchronize(event); }},
      {"cudaStreamSynchronize", [&] { return cudaStreamSynchronize(other); }},
      {"cudaMemPoolCreate", [&] { return cudaMemPoolCreate(&pool, &props); }},
      {"cudaMallocFromPoolAsync", [&] { return cudaMallocFromPoolAsync(&device, 4096, pool, other); }},
      {"cudaFreeAsync", [&] { return cudaFreeAsync(device, other); }},
      {"cudaMemPoolTrimTo", [&] { return cudaMemPoolTrimTo(pool, 0); }},
      {"cudaMemPoolDestroy", [&] { return cudaMemPoolDestroy(pool); }},
      {"cudaEventDestroy", [&] { return cudaEventDestroy(event); }},
      {"cudaStreamDestroy", [&] { return cudaStreamDestroy(other); }},
  };
  for (const auto& [name, call] : calls) {
    cudaError_t error = cudaSuccess;
    EXPECT_TRUE(outlasts([&, &run = call](cudaStream_t) { error = run(); })) << name;
    EXPECT_EQ(error, cudaSuccess) << name;
  }
}

TEST_F(CaptureRules, WaitingForTheDeviceOrTheStreamInvalidatesIt) {
  EXPECT_FALSE(outlasts([](cudaStream_t) { cudaDeviceSynchronize(); }));
  EXPECT_FALSE(outlasts([](cudaStream_t captured) { cudaStreamSynchronize(captured); }));
}

// Also of a small block, whose neighbours are in use, and with the work on a stream that waits for nobody.
TEST_F(CaptureRules, FreeingMemoryWaitsForAllStreams) {
  cudaStream_t stream = nullptr;
  void* small[2] = {};
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  for (void*& p : small) ASSERT_EQ(cudaMalloc(&p, 1), cudaSuccess);
  EXPECT_TRUE(outlasts([&](cudaStream_t) {
    spin(stream, 50);
    EXPECT_EQ(cudaFree(small[0]), cudaSuccess);
    EXPECT_EQ(cudaStreamQuery(stream), cudaSuccess) << "the work was still running after the free";
  }));
  EXPECT_EQ(cudaFree(small[1]), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

template <class F>
double nanoseconds_of(const F& f) {
  constexpr int kTimes = 1000000;
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < kTimes; ++i) f();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count() / kTimes;
}

TEST_F(CaptureRules, WhatAskingForTheContextCosts) {
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found{};
  ASSERT_EQ(cudaGetDriverEntryPointByVersion("cuCtxGetId", &entry, 12000, cudaEnableDefault, &found), cudaSuccess);
  const auto ctx_id = reinterpret_cast<PFN_cuCtxGetId_v12000>(entry);
  ASSERT_EQ(cudaGetDriverEntryPointByVersion("cuCtxGetCurrent", &entry, 4000, cudaEnableDefault, &found), cudaSuccess);
  const auto ctx_get = reinterpret_cast<PFN_cuCtxGetCurrent_v4000>(entry);
  ASSERT_EQ(cudaFree(nullptr), cudaSuccess);
  CUcontext current = nullptr;
  unsigned long long id = 0;
  ASSERT_EQ(ctx_get(&current), CUDA_SUCCESS);
  ASSERT_EQ(ctx_id(current, &id), CUDA_SUCCESS);
  const double of_named = nanoseconds_of([&] { ctx_id(current, &id); });
  const double of_current = nanoseconds_of([&] { ctx_id(nullptr, &id); });
  void* native = nullptr;
  const double call = nanoseconds_of([&] { gpumem_stream_native(ctx, nullptr, &native); });
  const double pair = nanoseconds_of([&] {
    void* p = nullptr;
    gpumem_alloc_async(ctx, 4096, 256, nullptr, &p);
    gpumem_free_async(ctx, p, nullptr);
  });
  std::printf(
      "cuCtxGetId: %.1f ns, %.1f of the current context; a call that does nothing else: %.1f ns; an allocation and its "
      "free: "
      "%.1f ns\n",
      of_named, of_current, call, pair);
  EXPECT_LT(of_named, 1000) << "too slow for every call";
}

}  // namespace
}  // namespace gpumem::gpu_tests
