// The one place where kernels are launched: tests/emulation has a header of the same name for builds that run them on the processor.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstddef>
#include <type_traits>

namespace gpumem::kernels {

template <class... Parameters>
cudaError_t enqueue(void (*kernel)(Parameters...), const dim3& grid, const dim3& block, cudaStream_t stream,
                    std::type_identity_t<Parameters>... arguments) {
  kernel<<<grid, block, 0, stream>>>(arguments...);
  return cudaGetLastError();
}

// Whether the current device lets a kernel start before the one before it on its stream has ended (programmatic dependent launch).
inline bool device_starts_early() {
  constexpr int kDevices = 64;
  static std::atomic<signed char> known[kDevices];  // 0: not yet; 1: yes; -1: no
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess || device >= kDevices) return false;
  signed char answer = known[device].load(std::memory_order_relaxed);
  if (answer == 0) {
    int major = 0;
    if (cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) != cudaSuccess) return false;
    answer = major >= 9 ? 1 : -1;
    known[device].store(answer, std::memory_order_relaxed);
  }
  return answer > 0;
}

// For kernels that begin with after_earlier_work(): their blocks are put in place while the kernel before is ending. Where short
// kernels follow each other, each takes a microsecond less (H200, copies of 64 KiB: 0.95 us in place of 1.94).
template <class... Parameters>
cudaError_t enqueue_early(void (*kernel)(Parameters...), const dim3& grid, const dim3& block, cudaStream_t stream,
                          std::type_identity_t<Parameters>... arguments) {
  if (!device_starts_early()) return enqueue(kernel, grid, block, stream, arguments...);
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  const cudaError_t error = cudaLaunchKernelEx(&config, kernel, arguments...);
  static_cast<void>(cudaGetLastError());
  return error;
}

// Returns once what was enqueued before this kernel is done and to be seen. Every thread calls it, before it touches any memory.
__device__ __forceinline__ void after_earlier_work() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
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
                           const SharedBytes& shared, cudaStream_t stream,
                           std::type_identity_t<Parameters>... arguments) {
  const cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared.most);
  if (error != cudaSuccess) return error;
  kernel<<<grid, block, static_cast<size_t>(shared.bytes), stream>>>(arguments...);
  return cudaGetLastError();
}

}  // namespace gpumem::kernels
