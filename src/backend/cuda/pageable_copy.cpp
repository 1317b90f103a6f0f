#include "backend/cuda/pageable_copy.hpp"

#include <algorithm>
#include <cstring>

#include "backend/cuda/cuda_check.hpp"

namespace gpumem {

// A pinned chunk that the steps of one copy share; the last of them to go gives it back.
class PageableCopies::Chunk {
 public:
  explicit Chunk(PageableCopies& owner) : owner_(owner), p_(owner.take_chunk()) {}
  ~Chunk() { owner_.give_back(p_); }
  Chunk(const Chunk&) = delete;
  Chunk& operator=(const Chunk&) = delete;

  char* get() const noexcept { return static_cast<char*>(p_); }

 private:
  PageableCopies& owner_;
  void* p_;
};

// One piece's way between heap and chunk; lives until its host function has run.
struct PageableCopies::Step {
  std::shared_ptr<Chunk> chunk;
  void* dst;
  const void* src;
  size_t bytes;  // 0: only holds the chunk until the stream has come here
};

void PageableCopies::run_step(void* argument) noexcept {
  const std::unique_ptr<Step> step(static_cast<Step*>(argument));
  if (step->bytes > 0) std::memcpy(step->dst, step->src, step->bytes);
}

// The driver is asked without the lock: it may wait for host functions, and those give chunks back under it.
void* PageableCopies::take_chunk() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!idle_.empty()) {
      void* chunk = idle_.back();
      idle_.pop_back();
      return chunk;
    }
    idle_.reserve(chunks_ + 1);  // so that giving back can't fail
    ++chunks_;
  }
  void* chunk = nullptr;
  const cudaError_t error = cudaHostAlloc(&chunk, kChunkBytes, cudaHostAllocPortable);
  if (error != cudaSuccess) {
    const std::lock_guard<std::mutex> lock(mutex_);
    --chunks_;
  }
  check_cuda(error, "cudaHostAlloc");
  return chunk;
}

void PageableCopies::give_back(void* chunk) noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  idle_.push_back(chunk);
}

// Without the lock: the driver may wait for host functions, and those give chunks back under it.
void PageableCopies::close() noexcept {
  std::vector<void*> idle;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    idle.swap(idle_);
  }
  for (void* chunk : idle) static_cast<void>(cudaFreeHost(chunk));
}

// When a step can't be enqueued, those before it have run by the time the caller hears of it.
void PageableCopies::enqueue(cudaStream_t stream, void* dst, const void* src, size_t bytes, bool to_device) {
  try {
    enqueue_steps(stream, dst, src, bytes, to_device);
  } catch (...) {
    static_cast<void>(cudaStreamSynchronize(stream));
    throw;
  }
}

void PageableCopies::enqueue_steps(cudaStream_t stream, void* dst, const void* src, size_t bytes, bool to_device) {
  const auto chunk = std::make_shared<Chunk>(*this);
  const auto enqueue_step = [&](void* to, const void* from, size_t count) {
    auto step = std::make_unique<Step>(Step{chunk, to, from, count});
    GPUMEM_CUDA(cudaLaunchHostFunc(stream, run_step, step.get()));
    static_cast<void>(step.release());  // run_step deletes it
  };
  for (size_t at = 0; at < bytes; at += kChunkBytes) {
    const size_t count = std::min(kChunkBytes, bytes - at);
    char* to = static_cast<char*>(dst) + at;
    const char* from = static_cast<const char*>(src) + at;
    if (to_device) {
      enqueue_step(chunk->get(), from, count);
      GPUMEM_CUDA(cudaMemcpyAsync(to, chunk->get(), count, cudaMemcpyDefault, stream));
    } else {
      GPUMEM_CUDA(cudaMemcpyAsync(chunk->get(), from, count, cudaMemcpyDefault, stream));
      enqueue_step(to, chunk->get(), count);
    }
  }
  if (to_device) enqueue_step(nullptr, nullptr, 0);
}

}  // namespace gpumem
