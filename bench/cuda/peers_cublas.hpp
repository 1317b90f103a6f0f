// cuBLAS, where it is there: geam as an out-of-place transposition, dot, nrm2 and axpy.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <memory>

namespace bench {

class Geam {
 public:
  static bool built();  // false: this program was built without cuBLAS

  Geam();
  ~Geam();

  // dst (cols x rows) = transpose of src (rows x cols), both row-major and dense; 4 bytes: Sgeam, 8 bytes: Dgeam.
  void enqueue(const void* src, void* dst, int64_t rows, int64_t cols, int element_bytes, cudaStream_t stream);

 private:
  struct Handle;
  std::unique_ptr<Handle> handle_;
};

// Results on the device (pointer mode device), of the elements' type.
class Blas {
 public:
  explicit Blas(cudaStream_t stream);
  ~Blas();

  // n < 2^31.
  void enqueue_dot(const float* x, const float* y, int64_t n, float* result);
  void enqueue_dot(const double* x, const double* y, int64_t n, double* result);
  void enqueue_nrm2(const float* x, int64_t n, float* result);
  void enqueue_nrm2(const double* x, int64_t n, double* result);

  // y = factor * x + y.
  void enqueue_axpy(float factor, const float* x, float* y, int64_t n);
  void enqueue_axpy(double factor, const double* x, double* y, int64_t n);

 private:
  struct Handle;
  std::unique_ptr<Handle> handle_;
};

}  // namespace bench
