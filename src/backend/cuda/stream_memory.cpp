#include "backend/cuda/stream_memory.hpp"

#include "backend/cuda/cuda_check.hpp"

namespace gpumem {
namespace {

// What stays with the pool while nobody uses it.
constexpr uint64_t kKept = uint64_t{64} << 20;

}  // namespace

StreamMemory::Block::Block(StreamMemory& memory, int32_t device, size_t bytes, cudaStream_t stream) : stream_(stream) {
  if (bytes > 0) GPUMEM_CUDA(cudaMallocFromPoolAsync(&p_, bytes, memory.pool(device), stream));
}

// A fault that shows here is found by the next call that is checked for it.
StreamMemory::Block::~Block() {
  if (p_ != nullptr && cudaFreeAsync(p_, stream_) != cudaSuccess) static_cast<void>(cudaGetLastError());
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
  static_cast<void>(cudaMemPoolSetAttribute(made, cudaMemPoolAttrReleaseThreshold, &kept));  // else it is slower
  return pool_ = made;
}

void StreamMemory::close() noexcept {
  if (pool_ != nullptr) static_cast<void>(cudaMemPoolDestroy(pool_));
  pool_ = nullptr;
}

}  // namespace gpumem
