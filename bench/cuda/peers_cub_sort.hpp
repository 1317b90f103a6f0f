// cub::DeviceRadixSort, with preallocated scratch memory.
#pragma once

#include <gpumem.h>

#include <functional>
#include <memory>

#include "cuda/cuda_check.hpp"

namespace bench {

// Ascending. keys of u8, i16, i32, i64, f32 or f64. order: positions of u32 or i64, or nullptr. CUB gets the unsorted positions
// from an array that is filled outside the timing; gpumem writes them.
class CubSort {
 public:
  CubSort(gpumem_dtype dtype, const void* keys, int64_t n, void* sorted, void* order, gpumem_dtype order_type);

  void enqueue(cudaStream_t stream) const;

 private:
  using Call = std::function<cudaError_t(void* scratch, std::size_t& scratch_bytes, cudaStream_t stream)>;

  template <class Key>
  Call keys_of(const void* keys, int64_t n, void* sorted) const;
  template <class Key, class Position>
  Call pairs_of(const void* keys, int64_t n, void* sorted, void* order);

  std::unique_ptr<DeviceBytes> positions_;
  Call call_;
  std::size_t scratch_bytes_ = 0;
  std::unique_ptr<DeviceBytes> scratch_;
};

}  // namespace bench
