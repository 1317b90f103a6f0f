#include "backend/cuda/reduce_scratch.hpp"

#include "base/room.hpp"
#include "base/scope_exit.hpp"
#include "kernels/scan/limits.hpp"

namespace gpumem {

using kernels::kScratchCounters;

void ReduceScratchPool::open() { GPUMEM_CUDA(cudaStreamCreateWithFlags(&housekeeping_, cudaStreamNonBlocking)); }

void ReduceScratchPool::close() noexcept {
  const std::unique_lock<std::shared_mutex> lock(mutex_);
  for (const auto& block : blocks_) {
    static_cast<void>(cudaFree(block->scratch.nodes));
    if (block->passed != nullptr) static_cast<void>(cudaEventDestroy(block->passed));
  }
  {
    const std::lock_guard<std::mutex> shelf_lock(shelf_->mutex);
    shelf_->idle.clear();
  }
  blocks_.clear();
  of_stream_.clear();
  if (housekeeping_ != nullptr) static_cast<void>(cudaStreamDestroy(housekeeping_));
  housekeeping_ = nullptr;
}

// One allocation: partial results, and then what begins with zeros.
ReduceScratchPool::ScratchBlock* ReduceScratchPool::new_block() {
  constexpr size_t kCounterBytes = kScratchCounters * sizeof(unsigned);
  constexpr size_t kZeroed = kScanScratchBytes + kCounterBytes + sizeof(gpumem_status);
  ScratchBlock* block = blocks_.emplace_back(std::make_unique<ScratchBlock>()).get();
  ScopeExit forget([&] {
    static_cast<void>(cudaFree(block->scratch.nodes));
    if (block->passed != nullptr) static_cast<void>(cudaEventDestroy(block->passed));
    blocks_.pop_back();
  });
  void* memory = nullptr;
  GPUMEM_CUDA(cudaMalloc(&memory, kScratchNodeBytes + kZeroed));
  block->scratch.nodes = memory;
  char* const zeroed = static_cast<char*>(memory) + kScratchNodeBytes;
  block->scratch.scan = zeroed;
  block->scratch.counters = reinterpret_cast<unsigned*>(zeroed + kScanScratchBytes);
  block->scratch.status = reinterpret_cast<gpumem_status*>(zeroed + kScanScratchBytes + kCounterBytes);
  GPUMEM_CUDA(cudaEventCreateWithFlags(&block->passed, cudaEventDisableTiming));
  GPUMEM_CUDA(cudaMemsetAsync(zeroed, 0, kZeroed, housekeeping_));
  GPUMEM_CUDA(cudaStreamSynchronize(housekeeping_));
  forget.release();
  return block;
}

// A block whose last user is done, or one that the stream can wait for. A graph can't wait for an event outside it.
ReduceScratchPool::ScratchBlock* ReduceScratchPool::idle_block(cudaStream_t stream, bool capturing) {
  const std::lock_guard<std::mutex> lock(shelf_->mutex);
  auto& idle = shelf_->idle;
  for (auto at = idle.begin(); at != idle.end(); ++at) {
    ScratchBlock* block = *at;
    if (!block->waited && cudaEventQuery(block->passed) != cudaSuccess) {
      static_cast<void>(cudaGetLastError());
      if (capturing) continue;
      GPUMEM_CUDA(cudaStreamWaitEvent(stream, block->passed, 0));
    }
    block->waited = true;
    idle.erase(at);
    return block;
  }
  return nullptr;
}

void ReduceScratchPool::give_back(void* of_graph) noexcept {
  const std::unique_ptr<OfGraph> owned(static_cast<OfGraph*>(of_graph));
  const std::lock_guard<std::mutex> lock(owned->shelf->mutex);
  auto& idle = owned->shelf->idle;
  // Capacity is reserved for every block. If it is 0, the pool is closed.
  if (idle.size() < idle.capacity()) idle.push_back(owned->block);
}

void ReduceScratchPool::attach(ScratchBlock* block, cudaGraph_t graph) {
  auto of_graph = std::make_unique<OfGraph>(OfGraph{shelf_, block});
  cudaUserObject_t object = nullptr;
  GPUMEM_CUDA(cudaUserObjectCreate(
      &object, of_graph.get(), [](void* p) { give_back(p); }, 1, cudaUserObjectNoDestructorSync));
  static_cast<void>(of_graph.release());  // give_back deletes it
  GPUMEM_CUDA(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));
}

ReduceScratchPool::ScratchBlock* ReduceScratchPool::of_stream(cudaStream_t stream) {
  const auto own = of_stream_.find(stream);
  return own == of_stream_.end() ? nullptr : own->second;
}

ReduceScratchPool::Lease ReduceScratchPool::for_stream(cudaStream_t stream) {
  const auto leased = [](ScratchBlock* block) {
    return Lease{block->scratch, std::unique_lock<std::mutex>(block->launching)};
  };
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  cudaGraph_t graph = nullptr;
  GPUMEM_CUDA(cudaStreamGetCaptureInfo(stream, &status, nullptr, &graph, nullptr, nullptr, nullptr));
  const bool capturing = status == cudaStreamCaptureStatusActive;
  ScratchBlock* own = nullptr;
  if (!capturing) {
    const std::shared_lock<std::shared_mutex> lock(mutex_);
    own = of_stream(stream);
  }
  if (own != nullptr) return leased(own);
  const std::unique_lock<std::shared_mutex> lock(mutex_);
  if (!capturing && (own = of_stream(stream)) != nullptr) return leased(own);
  ScratchBlock* block = idle_block(stream, capturing);
  if (block == nullptr) {
    {
      const std::lock_guard<std::mutex> shelf_lock(shelf_->mutex);
      reserve_doubling(shelf_->idle, blocks_.size() + 1);
    }
    block = new_block();
  }
  if (capturing) {
    attach(block, graph);
  } else {
    of_stream_.emplace(stream, block);
  }
  return leased(block);
}

void ReduceScratchPool::stream_ends(cudaStream_t stream) noexcept {
  const std::unique_lock<std::shared_mutex> lock(mutex_);
  const auto own = of_stream_.find(stream);
  if (own == of_stream_.end()) return;
  ScratchBlock* block = own->second;
  of_stream_.erase(own);
  block->waited = cudaEventRecord(block->passed, stream) != cudaSuccess;
  static_cast<void>(cudaGetLastError());
  const std::lock_guard<std::mutex> shelf_lock(shelf_->mutex);
  if (shelf_->idle.size() < shelf_->idle.capacity()) shelf_->idle.push_back(block);
}

}  // namespace gpumem
