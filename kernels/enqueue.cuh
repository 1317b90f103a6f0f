// The one place where kernels are launched: tests/emulation has a header of the same name for builds that run them on the processor.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <type_traits>

#include "kernels/launch.hpp"
#include "kernels/limits.hpp"

namespace gpumem::kernels {

// Not inlined: the kernels of a family have the same parameters, and share this code.
template <class... Parameters>
[[gnu::noinline]] cudaError_t enqueue(void (*kernel)(Parameters...), const dim3& grid, const dim3& block, Stream stream,
                                      const std::type_identity_t<Parameters>&... arguments) {
  kernel<<<grid, block, 0, stream>>>(arguments...);
  return cudaGetLastError();
}

// For kernels that begin with synchronize_and_trigger(): their blocks are put in place while the kernel before is ending. Where short
// kernels follow each other, each takes a microsecond less (H200, copies of 64 KiB: 0.95 us in place of 1.94).
// With a cluster, the blocks of the grid's y direction, more than one, run at the same time and share their memory.
enum class Blocks { apart, cluster };
template <Blocks kBlocks = Blocks::apart, class... Parameters>
[[gnu::noinline]] cudaError_t enqueue_programmatic(void (*kernel)(Parameters...), const dim3& grid, const dim3& block,
                                                   Stream stream,
                                                   const std::type_identity_t<Parameters>&... arguments) {
  const bool clusters = kBlocks == Blocks::cluster && grid.y > 1;
  if (!stream.programmatic_launch && !clusters) return enqueue(kernel, grid, block, stream, arguments...);
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
  config.stream = stream;
  config.attrs = attributes;
  config.numAttrs = count;
  const cudaError_t error = cudaLaunchKernelEx(&config, kernel, arguments...);
  static_cast<void>(cudaGetLastError());
  return error;
}

// Lets a kernel that starts early begin now, up to where it waits for this one.
__device__ __forceinline__ void trigger_programmatic_launch() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

// Returns once what was enqueued before this kernel is done and to be seen. Every thread calls it, before it touches any memory but what
// a kernel before, which did not start early itself, leaves alone.
__device__ __forceinline__ void grid_dependency_synchronize() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
}

// The same; then a kernel behind few blocks may put its own in place.
__device__ __forceinline__ void synchronize_and_trigger() {
  grid_dependency_synchronize();
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  if (gridDim.x * gridDim.y <= kFewBlocks) trigger_programmatic_launch();
#endif
}

// Shared memory whose size is known at the launch only.
struct SharedBytes {
  int bytes;
  int most;  // that any launch of the kernel asks for on this device: it is set once for all threads of the program
};

template <class T>
__device__ T* dynamic_shared() {
  extern __shared__ uint4 words[];
  return reinterpret_cast<T*>(words);
}

template <class... Parameters>
cudaError_t enqueue_shared(void (*kernel)(Parameters...), const dim3& grid, const dim3& block,
                           const SharedBytes& shared, Stream stream, std::type_identity_t<Parameters>... arguments) {
  const cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared.most);
  if (error != cudaSuccess) return error;
  kernel<<<grid, block, static_cast<size_t>(shared.bytes), stream>>>(arguments...);
  return cudaGetLastError();
}

}  // namespace gpumem::kernels
