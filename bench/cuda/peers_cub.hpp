// cub::DeviceReduce, with its scratch allocated beforehand.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <functional>

#include "cuda/cuda_check.hpp"

namespace bench {

enum class CubOp {
  sum_i32,  // what users call: wraps where the sum leaves 32 bits
  sum_i64,  // a 64-bit result, and so 64-bit accumulators: the same value as the library's
  min,
  sum_squares,  // 64-bit
  sum_cubes
};

class CubReduce {
 public:
  CubReduce(CubOp op, const int32_t* x, int64_t n);  // n <= 2^32 - 1

  void enqueue(cudaStream_t stream) const;

  // The result's place on the device, and how many bytes of it count (4 or 8).
  void* result() const { return result_.as(); }
  std::size_t result_bytes() const;

 private:
  cudaError_t call(void* scratch, std::size_t& scratch_bytes, cudaStream_t stream) const;

  CubOp op_;
  const int32_t* x_;
  uint32_t n_;
  DeviceBytes result_{8};
  std::size_t scratch_bytes_;
  DeviceBytes scratch_;
};

}  // namespace bench
