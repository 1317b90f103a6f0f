// z = alpha x + beta y.
#include <bit>

#include "api/guard.hpp"
#include "ops/operations.hpp"

using namespace gpumem;
using namespace gpumem::api;

gpumem_status gpumem_axpby_f32(gpumem_ctx* ctx, float alpha, const float* x, float beta, const float* y, float* z,
                               int64_t n) {
  return run(ctx, axpby, {GPUMEM_F32, std::bit_cast<uint32_t>(alpha), x, std::bit_cast<uint32_t>(beta), y, z, n});
}

gpumem_status gpumem_axpby_f64(gpumem_ctx* ctx, double alpha, const double* x, double beta, const double* y, double* z,
                               int64_t n) {
  return run(ctx, axpby, {GPUMEM_F64, std::bit_cast<uint64_t>(alpha), x, std::bit_cast<uint64_t>(beta), y, z, n});
}

gpumem_status gpumem_axpby_f32_async(gpumem_ctx* ctx, float alpha, const float* x, float beta, const float* y, float* z,
                                     int64_t n, gpumem_stream* stream) {
  return run(ctx, axpby, {GPUMEM_F32, std::bit_cast<uint32_t>(alpha), x, std::bit_cast<uint32_t>(beta), y, z, n},
             enqueued(stream));
}

gpumem_status gpumem_axpby_f64_async(gpumem_ctx* ctx, double alpha, const double* x, double beta, const double* y,
                                     double* z, int64_t n, gpumem_stream* stream) {
  return run(ctx, axpby, {GPUMEM_F64, std::bit_cast<uint64_t>(alpha), x, std::bit_cast<uint64_t>(beta), y, z, n},
             enqueued(stream));
}
