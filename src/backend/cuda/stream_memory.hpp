// Scratch memory that a call takes and gives back in its stream's order. It comes from a pool of the library's own, which keeps what
// the last calls have used; a captured call makes it a part of the graph.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <mutex>

namespace gpumem {

class StreamMemory {
 public:
  // Throws. With 0 bytes the block is empty.
  class Block {
   public:
    Block(StreamMemory& memory, int32_t device, size_t bytes, cudaStream_t stream);
    ~Block();
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;

    void* get() const noexcept { return p_; }

   private:
    cudaStream_t stream_;
    void* p_ = nullptr;
  };

  // When the device is idle.
  void close() noexcept;

 private:
  cudaMemPool_t pool(int32_t device);

  std::mutex mutex_;
  cudaMemPool_t pool_ = nullptr;
};

}  // namespace gpumem
