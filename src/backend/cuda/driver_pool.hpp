// The driver's stream-ordered memory (CUDA C++ Programming Guide, "Stream Ordered Memory Allocator"), from a pool of this context's
// own: the device's default pool, and what the program has set on it, stay as they are.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace gpumem {

class DriverPool {
 public:
  DriverPool() = default;
  DriverPool(const DriverPool&) = delete;
  DriverPool& operator=(const DriverPool&) = delete;

  void open(int ordinal);
  // After all work is done and everything was released.
  void close() noexcept;

  // In the stream's order; nullptr: for every stream once it returns, and released when no stream uses it any more.
  void* allocate(cudaStream_t stream, size_t bytes);
  void release(cudaStream_t stream, void* p) noexcept;
  void trim(size_t keep_bytes) noexcept;

 private:
  cudaMemPool_t pool_ = nullptr;
  cudaStream_t housekeeping_ = nullptr;  // captures nothing, waits for nobody
};

}  // namespace gpumem
