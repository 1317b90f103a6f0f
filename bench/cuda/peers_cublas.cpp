#include "cuda/peers_cublas.hpp"

#if BENCH_HAS_CUBLAS

#include <cublas_v2.h>

#include <stdexcept>
#include <string>

namespace bench {
namespace {

void check_cublas(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw std::runtime_error(std::string("cuBLAS: ") + cublasGetStatusString(status));
}

class Cublas : public Blas {
 public:
  explicit Cublas(cudaStream_t stream) {
    check_cublas(cublasCreate(&handle_));
    check_cublas(cublasSetStream(handle_, stream));
  }
  ~Cublas() override { cublasDestroy(handle_); }
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;

  // Row-major rows x cols is column-major cols x rows, so C (rows x cols, column-major) = 1 * A^T + 0 * C.
  void transpose(const void* src, void* dst, int64_t rows, int64_t cols, int element_bytes) override {
    const int m = static_cast<int>(rows), n = static_cast<int>(cols);
    cublasHandle_t handle = with(CUBLAS_POINTER_MODE_HOST);
    if (element_bytes == 4) {
      const float one = 1, zero = 0;
      auto* c = static_cast<float*>(dst);
      check_cublas(cublasSgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, m, n, &one, static_cast<const float*>(src), n, &zero,
                               c, m, c, m));
    } else {
      const double one = 1, zero = 0;
      auto* c = static_cast<double*>(dst);
      check_cublas(cublasDgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, m, n, &one, static_cast<const double*>(src), n, &zero,
                               c, m, c, m));
    }
  }
  void dot(const float* x, const float* y, int64_t n, float* result) override {
    check_cublas(cublasSdot(with(CUBLAS_POINTER_MODE_DEVICE), static_cast<int>(n), x, 1, y, 1, result));
  }
  void dot(const double* x, const double* y, int64_t n, double* result) override {
    check_cublas(cublasDdot(with(CUBLAS_POINTER_MODE_DEVICE), static_cast<int>(n), x, 1, y, 1, result));
  }
  void nrm2(const float* x, int64_t n, float* result) override {
    check_cublas(cublasSnrm2(with(CUBLAS_POINTER_MODE_DEVICE), static_cast<int>(n), x, 1, result));
  }
  void nrm2(const double* x, int64_t n, double* result) override {
    check_cublas(cublasDnrm2(with(CUBLAS_POINTER_MODE_DEVICE), static_cast<int>(n), x, 1, result));
  }
  void axpy(float factor, const float* x, float* y, int64_t n) override {
    check_cublas(cublasSaxpy(with(CUBLAS_POINTER_MODE_HOST), static_cast<int>(n), &factor, x, 1, y, 1));
  }
  void axpy(double factor, const double* x, double* y, int64_t n) override {
    check_cublas(cublasDaxpy(with(CUBLAS_POINTER_MODE_HOST), static_cast<int>(n), &factor, x, 1, y, 1));
  }

 private:
  // Factors are on the host, results on the device.
  cublasHandle_t with(cublasPointerMode_t mode) {
    check_cublas(cublasSetPointerMode(handle_, mode));
    return handle_;
  }

  cublasHandle_t handle_ = nullptr;
};

}  // namespace

std::unique_ptr<Blas> Blas::make(cudaStream_t stream) { return std::make_unique<Cublas>(stream); }

}  // namespace bench

#else

std::unique_ptr<bench::Blas> bench::Blas::make(cudaStream_t) { return nullptr; }

#endif
