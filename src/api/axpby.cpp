// z = alpha x + beta y.
#include <bit>
#include <type_traits>

#include "api/guard.hpp"
#include "ops/operations.hpp"

using namespace gpumem;
using namespace gpumem::api;

namespace {

template <class T>
AxpbyParams params_of(T alpha, const T* x, T beta, const T* y, T* z, int64_t n) noexcept {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  return {kDtypeOf<T>, std::bit_cast<Bits>(alpha), x, std::bit_cast<Bits>(beta), y, z, n};
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
