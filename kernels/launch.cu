#include "kernels/launch.hpp"

#include <cuda_runtime_api.h>

#include "kernels/enqueue.cuh"
#include "kernels/limits.hpp"

namespace gpumem::kernels {
namespace {

__global__ void nothing_kernel() {}

constexpr int kSetThreads = 256;

__global__ void __launch_bounds__(kSetThreads) set_kernel(uint32_t* words, uint32_t count, uint32_t value) {
  synchronize_and_trigger();
  const uint32_t i = blockIdx.x * kSetThreads + threadIdx.x;
  if (i < count) words[i] = value;
}

}  // namespace

// The loaded code decides, not the device. Code compiled for an earlier architecture and translated for this device has
// no wait in synchronize_and_trigger(). `ptxVersion` is the architecture that it was compiled for.
LaunchResult code_has_programmatic_launch(bool& answer) {
  constexpr int kFirstArchitecture = 90;
  cudaFuncAttributes attributes;
  const cudaError_t error = cudaFuncGetAttributes(&attributes, nothing_kernel);
  answer = error == cudaSuccess && attributes.ptxVersion >= kFirstArchitecture;
  return error;
}

LaunchResult set_bytes(void* words, int64_t bytes, unsigned char value, const Launch& launch) {
  constexpr int64_t kMost = int64_t{kFewBlocks} * kSetThreads * 4;
  if (bytes > kMost) return cudaMemsetAsync(words, value, static_cast<size_t>(bytes), launch);
  const auto count = static_cast<uint32_t>(bytes / 4);
  return enqueue_programmatic(set_kernel, (count + kSetThreads - 1) / kSetThreads, kSetThreads, launch,
                              static_cast<uint32_t*>(words), count, value * 0x01010101u);
}

}  // namespace gpumem::kernels
