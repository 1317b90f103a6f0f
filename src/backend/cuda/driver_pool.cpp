#include "backend/cuda/driver_pool.hpp"

#include <cstdint>

#include "backend/cuda/cuda_check.hpp"
#include "base/error.hpp"

namespace gpumem {

// Released memory stays until it is trimmed. By default the driver would return it at each synchronisation. Streams
// never wait for each other to reuse memory: the engine does that if memory is short, because it knows the users.
void DriverPool::open(int ordinal) {
  cudaMemPoolProps props{};
  props.allocType = cudaMemAllocationTypePinned;
  props.handleTypes = cudaMemHandleTypeNone;
  props.location = {cudaMemLocationTypeDevice, {ordinal}};
  GPUMEM_CUDA(cudaMemPoolCreate(&pool_, &props));
  uint64_t keep_all = UINT64_MAX;
  GPUMEM_CUDA(cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &keep_all));
  int never = 0;
  GPUMEM_CUDA(cudaMemPoolSetAttribute(pool_, cudaMemPoolReuseAllowInternalDependencies, &never));
  GPUMEM_CUDA(cudaStreamCreateWithFlags(&housekeeping_, cudaStreamNonBlocking));
}

void DriverPool::close() noexcept {
  if (housekeeping_ != nullptr) {
    static_cast<void>(cudaStreamSynchronize(housekeeping_));
    static_cast<void>(cudaStreamDestroy(housekeeping_));
  }
  if (pool_ != nullptr) static_cast<void>(cudaMemPoolDestroy(pool_));
  housekeeping_ = nullptr;
  pool_ = nullptr;
}

void* DriverPool::allocate(cudaStream_t stream, size_t bytes) {
  void* p = nullptr;
  const cudaError_t error = cudaMallocFromPoolAsync(&p, bytes, pool_, stream != nullptr ? stream : housekeeping_);
  if (error == cudaErrorMemoryAllocation ||
      error == cudaErrorInvalidValue) {  // the latter for a size that no device has
    static_cast<void>(cudaGetLastError());
    fail(GPUMEM_OUT_OF_MEMORY, "%zu bytes of device memory are not available: %s", bytes, cudaGetErrorString(error));
  }
  check_cuda(error, "cudaMallocFromPoolAsync");
  if (stream == nullptr) GPUMEM_CUDA(cudaStreamSynchronize(housekeeping_));
  return p;
}

void DriverPool::release(cudaStream_t stream, void* p) noexcept {
  static_cast<void>(cudaFreeAsync(p, stream != nullptr ? stream : housekeeping_));
  static_cast<void>(cudaGetLastError());
}

// Memory released on the housekeeping stream counts as unused once that stream is known to have passed it.
void DriverPool::trim(size_t keep_bytes) noexcept {
  if (pool_ == nullptr) return;
  static_cast<void>(cudaStreamSynchronize(housekeeping_));
  static_cast<void>(cudaMemPoolTrimTo(pool_, keep_bytes));
  static_cast<void>(cudaGetLastError());
}

}  // namespace gpumem
