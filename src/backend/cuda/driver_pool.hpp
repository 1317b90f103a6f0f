// The driver's stream-ordered memory (CUDA C++ Programming Guide, "Stream Ordered Memory Allocator"). The pool is this
// context's own. The device's default pool and the program's settings of it stay unchanged.
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
  // After all work is done and all memory was released.
  void close() noexcept;

  // In the stream's order. nullptr: usable on every stream after return, and released when none uses it any more.
  void* allocate(cudaStream_t stream, size_t bytes);
  void release(cudaStream_t stream, void* p) noexcept;
  void trim(size_t keep_bytes) noexcept;

 private:
  cudaMemPool_t pool_ = nullptr;
  cudaStream_t housekeeping_ = nullptr;  // never captures, never waits
};

}  // namespace gpumem
