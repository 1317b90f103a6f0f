#include "backend/cuda/pageable_copy.hpp"

#include <algorithm>

#include "backend/cuda/cuda_check.hpp"
#include "backend/cuda/driver_copy.hpp"

namespace gpumem {
namespace {

// Calls f(piece) for parts of a merged block of up to `most` bytes each: whole slices, whole rows, or parts of a row.
template <class F>
void for_each_piece(const CopyBlock& b, int64_t most, const F& f) {
  const auto part = [&b](int64_t slice, int64_t row, int64_t at) {
    CopyBlock piece = b;
    piece.dst += slice * b.dst_slice + row * b.dst_pitch + at;
    piece.src += slice * b.src_slice + row * b.src_pitch + at;
    return piece;
  };
  const int64_t slice_bytes = b.row_bytes * b.rows;
  if (slice_bytes <= most) {
    for (int64_t slice = 0; slice < b.slices; slice += most / slice_bytes) {
      CopyBlock piece = part(slice, 0, 0);
      piece.slices = std::min(most / slice_bytes, b.slices - slice);
      f(piece);
    }
    return;
  }
  for (int64_t slice = 0; slice < b.slices; ++slice) {
    const int64_t rows_at_once = std::max<int64_t>(most / b.row_bytes, 1);
    for (int64_t row = 0; row < b.rows; row += rows_at_once) {
      for (int64_t at = 0; at < b.row_bytes; at += most) {
        CopyBlock piece = part(slice, row, at);
        piece.slices = 1;
        piece.rows = std::min(rows_at_once, b.rows - row);
        piece.row_bytes = std::min(most, b.row_bytes - at);
        f(piece);
      }
    }
  }
}

}  // namespace

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
  CopyBlock rows;
  bool moves;  // false: only holds the chunk until the stream has come here
};

void PageableCopies::run_step(void* argument) noexcept {
  const std::unique_ptr<Step> step(static_cast<Step*>(argument));
  if (step->moves) copy_rows(step->rows);
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
void PageableCopies::enqueue(cudaStream_t stream, const CopyBlock& block, bool to_device) {
  try {
    enqueue_steps(stream, merged(block), to_device);
  } catch (...) {
    static_cast<void>(cudaStreamSynchronize(stream));
    throw;
  }
}

void PageableCopies::enqueue_steps(cudaStream_t stream, const CopyBlock& block, bool to_device) {
  const auto chunk = std::make_shared<Chunk>(*this);
  const auto enqueue_step = [&](const CopyBlock& rows, bool moves) {
    auto step = std::make_unique<Step>(Step{chunk, rows, moves});
    GPUMEM_CUDA(cudaLaunchHostFunc(stream, run_step, step.get()));
    static_cast<void>(step.release());  // run_step deletes it
  };
  for_each_piece(block, static_cast<int64_t>(kChunkBytes), [&](const CopyBlock& piece) {
    CopyBlock in = piece;
    in.dst = chunk->get();
    in.dst_pitch = piece.row_bytes;
    in.dst_slice = piece.row_bytes * piece.rows;
    CopyBlock out = piece;
    out.src = chunk->get();
    out.src_pitch = in.dst_pitch;
    out.src_slice = in.dst_slice;
    if (to_device) {
      enqueue_step(in, true);
      GPUMEM_CUDA(copy_by_driver(out, stream));
    } else {
      GPUMEM_CUDA(copy_by_driver(in, stream));
      enqueue_step(out, true);
    }
  });
  if (to_device) enqueue_step(block, false);
}

}  // namespace gpumem
