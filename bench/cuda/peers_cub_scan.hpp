// cub::DeviceScan::InclusiveSum, with preallocated scratch memory.
#pragma once

#include <cuda_runtime.h>
#include <gpumem.h>

#include <cstdint>
#include <functional>
#include <memory>

#include "cuda/cuda_check.hpp"

namespace bench {

class CubScan {
 public:
  // i32, i64, f32 and f64. Sums have the type of the elements: i32 wraps, f32 accumulates in f32.
  CubScan(gpumem_dtype dtype, const void* x, int64_t n, void* result);

  void enqueue(cudaStream_t stream) const;

 private:
  using Call = std::function<cudaError_t(void* scratch, std::size_t& scratch_bytes, cudaStream_t stream)>;

  template <class T>
  static Call call_of(const void* x, int64_t n, void* result);

  Call call_;
  std::size_t scratch_bytes_ = 0;
  std::unique_ptr<DeviceBytes> scratch_;
};

}  // namespace bench
