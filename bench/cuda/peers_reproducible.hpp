// cub::DeviceReduce::Sum with the same bits on every GPU (determinism gpu_to_gpu), if CCCL 3.1 or newer is available.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "cuda/cuda_check.hpp"

namespace bench {

class CubReproducible {
 public:
  static bool built();  // false: built without such a CCCL

  // *result (a float or a double, on the device) = the sum of x; n < 2^31.
  void enqueue(const float* x, int64_t n, float* result, cudaStream_t stream) const;
  void enqueue(const double* x, int64_t n, double* result, cudaStream_t stream) const;

 private:
  DeviceBytes scratch_{std::size_t{16} << 20};
};

}  // namespace bench
