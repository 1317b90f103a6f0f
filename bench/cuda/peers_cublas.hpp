// cuBLAS as a baseline, if the build has it.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <memory>

namespace bench {

// Enqueues on one stream. Results are on the device, of the elements' type; n < 2^31.
class Blas {
 public:
  static std::unique_ptr<Blas> make(cudaStream_t stream);  // null: built without cuBLAS

  virtual ~Blas() = default;
  // dst (cols x rows) = transpose of src (rows x cols), both row-major and dense; 4 bytes: Sgeam, 8 bytes: Dgeam.
  virtual void transpose(const void* src, void* dst, int64_t rows, int64_t cols, int element_bytes) = 0;
  virtual void dot(const float* x, const float* y, int64_t n, float* result) = 0;
  virtual void dot(const double* x, const double* y, int64_t n, double* result) = 0;
  virtual void nrm2(const float* x, int64_t n, float* result) = 0;
  virtual void nrm2(const double* x, int64_t n, double* result) = 0;
  // y = factor * x + y.
  virtual void axpy(float factor, const float* x, float* y, int64_t n) = 0;
  virtual void axpy(double factor, const double* x, double* y, int64_t n) = 0;
};

}  // namespace bench
