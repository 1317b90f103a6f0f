// Copies between heap memory and the device that are asynchronous for the caller. cudaMemcpyAsync may read pageable memory
// during the call and may wait for the stream; so the bytes go through a pinned chunk, in steps that are all enqueued at once:
// a host function moves a piece between the heap and the chunk, and the copy engine moves it between the chunk and the device.
// Rows lie in the chunk without their gaps: the host function leaves them out, or puts them in, on the heap's side, and the copy
// engine on the device's.
// The host functions make no CUDA call, so nothing that waits inside the driver can wait for them in a circle.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "engine/copy_block.hpp"

namespace gpumem {

class PageableCopies {
 public:
  static constexpr size_t kChunkBytes = size_t{4} << 20;

  PageableCopies() = default;
  PageableCopies(const PageableCopies&) = delete;
  PageableCopies& operator=(const PageableCopies&) = delete;

  // One side is pageable host memory, the other memory of the device.
  void enqueue(cudaStream_t stream, const CopyBlock& block, bool to_device);
  // After all streams have been waited for.
  void close() noexcept;

 private:
  struct Step;
  class Chunk;
  void enqueue_steps(cudaStream_t stream, const CopyBlock& block, bool to_device);
  static void run_step(void* step) noexcept;
  void* take_chunk();
  void give_back(void* chunk) noexcept;

  std::mutex mutex_;
  std::vector<void*> idle_;
  size_t chunks_ = 0;  // idle_ has room for all of them
};

}  // namespace gpumem
