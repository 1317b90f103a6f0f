#include "backend/cuda/stream_memory.hpp"

#include "backend/cuda/cuda_check.hpp"
#include "base/error.hpp"

namespace gpumem {
namespace {

// Bytes that an unused pool keeps.
constexpr uint64_t kKept = uint64_t{64} << 20;

}  // namespace

StreamMemory::Block::Block(StreamMemory& memory, const DeviceProps& props, size_t bytes, cudaStream_t stream)
    : pooled_(props.memory_pools), stream_(stream) {
  if (bytes == 0) return;
  if (pooled_) {
    GPUMEM_CUDA(cudaMallocFromPoolAsync(&p_, bytes, memory.pool(props.ordinal), stream));
  } else {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    GPUMEM_CUDA(cudaStreamIsCapturing(stream, &status));
    if (status != cudaStreamCaptureStatusNone) {
      fail(GPUMEM_CAPTURING,
           "a device without memory pools has no scratch memory for a graph; the capture is still valid");
    }
    GPUMEM_CUDA(cudaMalloc(&p_, bytes));
  }
}

// The next checked call reports a fault that occurs here.
StreamMemory::Block::~Block() {
  if (p_ == nullptr) return;
  if (pooled_) {
    static_cast<void>(cudaFreeAsync(p_, stream_));
  } else {
    static_cast<void>(cudaStreamSynchronize(stream_));
    static_cast<void>(cudaFree(p_));
  }
  static_cast<void>(cudaGetLastError());
}

cudaMemPool_t StreamMemory::pool(int32_t device) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (pool_ != nullptr) return pool_;
  cudaMemPoolProps props{};
  props.allocType = cudaMemAllocationTypePinned;
  props.location.type = cudaMemLocationTypeDevice;
  props.location.id = device;
  cudaMemPool_t made = nullptr;
  GPUMEM_CUDA(cudaMemPoolCreate(&made, &props));
  uint64_t kept = kKept;
  static_cast<void>(cudaMemPoolSetAttribute(made, cudaMemPoolAttrReleaseThreshold, &kept));  // it is slower otherwise
  return pool_ = made;
}

void StreamMemory::close() noexcept {
  if (pool_ != nullptr) static_cast<void>(cudaMemPoolDestroy(pool_));
  pool_ = nullptr;
}

}  // namespace gpumem
