// Scratch memory that a call takes and returns in its stream's order, from a pool of the library's own. A captured call
// makes it part of the graph. Without pools, each call allocates it and waits for its work.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <mutex>

#include "base/device_props.hpp"

namespace gpumem {

class StreamMemory {
 public:
  class Block {
   public:
    Block(StreamMemory& memory, const DeviceProps& props, size_t bytes, cudaStream_t stream);
    ~Block();
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;

    void* get() const noexcept { return p_; }

   private:
    const bool pooled_;
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
