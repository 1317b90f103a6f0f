#include "cuda/peers_cublas.hpp"

#include <stdexcept>
#include <string>

#if BENCH_HAS_CUBLAS
#include <cublas_v2.h>
#endif

namespace bench {

#if BENCH_HAS_CUBLAS

namespace {

void check_cublas(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw std::runtime_error(std::string("cuBLAS: ") + cublasGetStatusString(status));
}

struct OwnedHandle {
  cublasHandle_t value = nullptr;
  OwnedHandle() { check_cublas(cublasCreate(&value)); }
  ~OwnedHandle() { cublasDestroy(value); }
  OwnedHandle(const OwnedHandle&) = delete;
  OwnedHandle& operator=(const OwnedHandle&) = delete;
};

}  // namespace

struct Geam::Handle : OwnedHandle {};
struct Blas::Handle : OwnedHandle {};

bool Geam::built() { return true; }

// Row-major rows x cols is column-major cols x rows, so C (rows x cols, column-major) = 1 * A^T + 0 * C.
void Geam::enqueue(const void* src, void* dst, int64_t rows, int64_t cols, int element_bytes, cudaStream_t stream) {
  check_cublas(cublasSetStream(handle_->value, stream));
  const int m = static_cast<int>(rows), n = static_cast<int>(cols);
  if (element_bytes == 4) {
    const float one = 1, zero = 0;
    auto* c = static_cast<float*>(dst);
    check_cublas(cublasSgeam(handle_->value, CUBLAS_OP_T, CUBLAS_OP_N, m, n, &one, static_cast<const float*>(src), n,
                             &zero, c, m, c, m));
  } else {
    const double one = 1, zero = 0;
    auto* c = static_cast<double*>(dst);
    check_cublas(cublasDgeam(handle_->value, CUBLAS_OP_T, CUBLAS_OP_N, m, n, &one, static_cast<const double*>(src), n,
                             &zero, c, m, c, m));
  }
}

Blas::Blas(cudaStream_t stream) : handle_(std::make_unique<Handle>()) {
  check_cublas(cublasSetStream(handle_->value, stream));
  check_cublas(cublasSetPointerMode(handle_->value, CUBLAS_POINTER_MODE_DEVICE));
}

void Blas::enqueue_dot(const float* x, const float* y, int64_t n, float* result) {
  check_cublas(cublasSdot(handle_->value, static_cast<int>(n), x, 1, y, 1, result));
}
void Blas::enqueue_dot(const double* x, const double* y, int64_t n, double* result) {
  check_cublas(cublasDdot(handle_->value, static_cast<int>(n), x, 1, y, 1, result));
}
void Blas::enqueue_nrm2(const float* x, int64_t n, float* result) {
  check_cublas(cublasSnrm2(handle_->value, static_cast<int>(n), x, 1, result));
}
void Blas::enqueue_nrm2(const double* x, int64_t n, double* result) {
  check_cublas(cublasDnrm2(handle_->value, static_cast<int>(n), x, 1, result));
}

// The factor of an axpy lies on the host.
void Blas::enqueue_axpy(float factor, const float* x, float* y, int64_t n) {
  check_cublas(cublasSetPointerMode(handle_->value, CUBLAS_POINTER_MODE_HOST));
  check_cublas(cublasSaxpy(handle_->value, static_cast<int>(n), &factor, x, 1, y, 1));
  check_cublas(cublasSetPointerMode(handle_->value, CUBLAS_POINTER_MODE_DEVICE));
}
void Blas::enqueue_axpy(double factor, const double* x, double* y, int64_t n) {
  check_cublas(cublasSetPointerMode(handle_->value, CUBLAS_POINTER_MODE_HOST));
  check_cublas(cublasDaxpy(handle_->value, static_cast<int>(n), &factor, x, 1, y, 1));
  check_cublas(cublasSetPointerMode(handle_->value, CUBLAS_POINTER_MODE_DEVICE));
}

#else

struct Geam::Handle {};
struct Blas::Handle {};

bool Geam::built() { return false; }

void Geam::enqueue(const void*, void*, int64_t, int64_t, int, cudaStream_t) {
  throw std::logic_error("built without cuBLAS");
}

Blas::Blas(cudaStream_t) {}
void Blas::enqueue_dot(const float*, const float*, int64_t, float*) {}
void Blas::enqueue_dot(const double*, const double*, int64_t, double*) {}
void Blas::enqueue_nrm2(const float*, int64_t, float*) {}
void Blas::enqueue_nrm2(const double*, int64_t, double*) {}
void Blas::enqueue_axpy(float, const float*, float*, int64_t) {}
void Blas::enqueue_axpy(double, const double*, double*, int64_t) {}

#endif

Geam::Geam() : handle_(std::make_unique<Handle>()) {}
Geam::~Geam() = default;
Blas::~Blas() = default;

}  // namespace bench
