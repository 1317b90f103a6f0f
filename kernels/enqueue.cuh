// The only place that launches kernels. In builds that run kernels on the processor, tests/emulation replaces this
// header.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <type_traits>

#include "kernels/launch.hpp"
#include "kernels/limits.hpp"

namespace gpumem::kernels {

// Not inlined: all kernels of an operation have the same parameters and share this code.
template <class... Parameters>
[[gnu::noinline]] cudaError_t enqueue(void (*kernel)(Parameters...), const dim3& grid, const dim3& block, Stream stream,
                                      const std::type_identity_t<Parameters>&... arguments) {
  kernel<<<grid, block, 0, stream>>>(arguments...);
  return cudaGetLastError();
}

struct SharedBytes {
  int bytes;
  // maximum over all launches of the kernel on this device. The attribute is shared by all threads of the program
  int most;
};

// The launch of the two functions below.
template <class... Parameters>
[[gnu::noinline]] cudaError_t enqueue_early(void (*kernel)(Parameters...), const dim3& grid, const dim3& block,
                                            int shared_bytes, bool clusters, Stream stream,
                                            const std::type_identity_t<Parameters>&... arguments) {
  cudaLaunchAttribute attributes[2]{};
  unsigned count = 0;
  if (stream.programmatic_launch) {
    attributes[count].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[count++].val.programmaticStreamSerializationAllowed = 1;
  }
  if (clusters) {
    attributes[count].id = cudaLaunchAttributeClusterDimension;
    attributes[count++].val.clusterDim = {1, grid.y, 1};
  }
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = static_cast<size_t>(shared_bytes);
  config.stream = stream;
  config.attrs = attributes;
  config.numAttrs = count;
  const cudaError_t error = cudaLaunchKernelEx(&config, kernel, arguments...);
  static_cast<void>(cudaGetLastError());
  return error;
}

// Launches a kernel that begins with synchronize_and_trigger(). Its blocks are placed while the previous kernel ends.
// H200, consecutive copies of 64 KiB: 0.95 us per copy instead of 1.94. With Blocks::cluster, the blocks along the
// grid's y axis run at the same time and share their memory.
enum class Blocks { apart, cluster };
template <Blocks kBlocks = Blocks::apart, class... Parameters>
cudaError_t enqueue_programmatic(void (*kernel)(Parameters...), const dim3& grid, const dim3& block, Stream stream,
                                 const std::type_identity_t<Parameters>&... arguments) {
  return enqueue_early(kernel, grid, block, 0, kBlocks == Blocks::cluster && grid.y > 1, stream, arguments...);
}

// The same with dynamic shared memory.
template <class... Parameters>
cudaError_t enqueue_shared(void (*kernel)(Parameters...), const dim3& grid, const dim3& block,
                           const SharedBytes& shared, Stream stream,
                           const std::type_identity_t<Parameters>&... arguments) {
  constexpr int kWithoutAsking = 40 << 10;  // and 8 KiB that are static
  if (shared.most > kWithoutAsking) {
    const cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared.most);
    if (error != cudaSuccess) return error;
  }
  return enqueue_early(kernel, grid, block, shared.bytes, false, stream, arguments...);
}

// Lets the next kernel start now if it may start early. It waits for this one at its grid_dependency_synchronize().
__device__ __forceinline__ void trigger_programmatic_launch() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

// Returns when earlier work in the stream is complete and visible. Every thread calls it before it touches memory.
// Before this call, it may touch only memory that a previous kernel without early start leaves unchanged.
__device__ __forceinline__ void grid_dependency_synchronize() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
}

// Then lets the next kernel place its blocks early if this grid has few.
__device__ __forceinline__ void synchronize_and_trigger() {
  grid_dependency_synchronize();
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  if (gridDim.x * gridDim.y <= kFewBlocks) trigger_programmatic_launch();
#endif
}

// Blocks start in the order of this number, so a block may wait for lower ones. CUB's scans assume the same.
__device__ __forceinline__ unsigned block_number() { return blockIdx.x; }

template <class T>
__device__ T* dynamic_shared() {
  extern __shared__ uint4 words[];
  return reinterpret_cast<T*>(words);
}

}  // namespace gpumem::kernels
