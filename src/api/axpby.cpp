// z = alpha x + beta y.
#include <bit>

#include "api/guard.hpp"
#include "ops/operations.hpp"

using namespace gpumem;
using namespace gpumem::api;

namespace {

AxpbyParams params_of(float alpha, const float* x, float beta, const float* y, float* z, int64_t n) noexcept {
  return {.dtype = GPUMEM_F32,
          .alpha = std::bit_cast<uint32_t>(alpha),
          .x = x,
          .beta = std::bit_cast<uint32_t>(beta),
          .y = y,
          .z = z,
          .n = n};
}

AxpbyParams params_of(double alpha, const double* x, double beta, const double* y, double* z, int64_t n) noexcept {
  return {.dtype = GPUMEM_F64,
          .alpha = std::bit_cast<uint64_t>(alpha),
          .x = x,
          .beta = std::bit_cast<uint64_t>(beta),
          .y = y,
          .z = z,
          .n = n};
}

}  // namespace

gpumem_status gpumem_axpby_f32(gpumem_ctx* ctx, float alpha, const float* x, float beta, const float* y, float* z,
                               int64_t n) {
  return run(ctx, axpby, params_of(alpha, x, beta, y, z, n));
}

gpumem_status gpumem_axpby_f64(gpumem_ctx* ctx, double alpha, const double* x, double beta, const double* y, double* z,
                               int64_t n) {
  return run(ctx, axpby, params_of(alpha, x, beta, y, z, n));
}

gpumem_status gpumem_axpby_f32_async(gpumem_ctx* ctx, float alpha, const float* x, float beta, const float* y, float* z,
                                     int64_t n, gpumem_stream* stream) {
  return run(ctx, axpby, params_of(alpha, x, beta, y, z, n), enqueued(stream));
}

gpumem_status gpumem_axpby_f64_async(gpumem_ctx* ctx, double alpha, const double* x, double beta, const double* y,
                                     double* z, int64_t n, gpumem_stream* stream) {
  return run(ctx, axpby, params_of(alpha, x, beta, y, z, n), enqueued(stream));
}
