// z = alpha x + beta y.
#include <bit>

#include "api/guard.hpp"
#include "ops/operations.hpp"

using namespace gpumem;
using namespace gpumem::api;

namespace {

AxpbyCall call_of(float alpha, const float* x, float beta, const float* y, float* z, int64_t n) noexcept {
  return {GPUMEM_F32, std::bit_cast<uint32_t>(alpha), x, std::bit_cast<uint32_t>(beta), y, z, n};
}

AxpbyCall call_of(double alpha, const double* x, double beta, const double* y, double* z, int64_t n) noexcept {
  return {GPUMEM_F64, std::bit_cast<uint64_t>(alpha), x, std::bit_cast<uint64_t>(beta), y, z, n};
}

gpumem_status run(gpumem_ctx* ctx, const AxpbyCall& call) noexcept {
  return with_context(ctx, [&](Context& context) { axpby(context, call, context.own_stream(), Until::complete); });
}

gpumem_status run_async(gpumem_ctx* ctx, const AxpbyCall& call, gpumem_stream* stream) noexcept {
  return with_context(ctx,
                      [&](Context& context) { axpby(context, call, stream_of(context, stream), Until::enqueued); });
}

}  // namespace

gpumem_status gpumem_axpby_f32(gpumem_ctx* ctx, float alpha, const float* x, float beta, const float* y, float* z,
                               int64_t n) {
  return run(ctx, call_of(alpha, x, beta, y, z, n));
}

gpumem_status gpumem_axpby_f64(gpumem_ctx* ctx, double alpha, const double* x, double beta, const double* y, double* z,
                               int64_t n) {
  return run(ctx, call_of(alpha, x, beta, y, z, n));
}

gpumem_status gpumem_axpby_f32_async(gpumem_ctx* ctx, float alpha, const float* x, float beta, const float* y, float* z,
                                     int64_t n, gpumem_stream* stream) {
  return run_async(ctx, call_of(alpha, x, beta, y, z, n), stream);
}

gpumem_status gpumem_axpby_f64_async(gpumem_ctx* ctx, double alpha, const double* x, double beta, const double* y,
                                     double* z, int64_t n, gpumem_stream* stream) {
  return run_async(ctx, call_of(alpha, x, beta, y, z, n), stream);
}
