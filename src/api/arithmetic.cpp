#include <algorithm>

#include "api/guard.hpp"
#include "ops/operations.hpp"

using namespace gpumem;
using namespace gpumem::api;

namespace {

template <class T>
gpumem_status lincomb(gpumem_ctx* ctx, int32_t rank, const int64_t* extents, int32_t terms, const T* factors,
                      const T* const* x, const int64_t* x_strides, T* z, const int64_t* z_strides, Order order = {}) {
  ArithmeticCall call{.op = Arithmetic::lincomb,
                      .dtype = kDtypeOf<T>,
                      .rank = rank,
                      .extents = extents,
                      .terms = terms,
                      .factors = factors,
                      .x = reinterpret_cast<const void* const*>(x),
                      .z = z,
                      .z_strides = z_strides};
  if (x_strides != nullptr && rank >= 0 && rank <= kMaxViewRank) {
    for (int32_t k = 0; k < std::min(terms, kMaxTerms); ++k) call.x_strides[k] = x_strides + int64_t{k} * rank;
  }
  return run(ctx, arithmetic, call, order);
}

template <class T>
gpumem_status multiply(gpumem_ctx* ctx, int32_t rank, const int64_t* extents, const T* x, const int64_t* x_strides,
                       const T* y, const int64_t* y_strides, T* z, const int64_t* z_strides, Order order = {}) {
  const void* const sources[] = {x, y};
  return run(ctx, arithmetic,
             {.op = Arithmetic::multiply,
              .dtype = kDtypeOf<T>,
              .rank = rank,
              .extents = extents,
              .terms = 2,
              .x = sources,
              .x_strides = {x_strides, y_strides},
              .z = z,
              .z_strides = z_strides},
             order);
}

}  // namespace

gpumem_status gpumem_lincomb_f32(gpumem_ctx* ctx, int32_t rank, const int64_t* extents, int32_t terms,
                                 const float* factors, const float* const* x, const int64_t* x_strides, float* z,
                                 const int64_t* z_strides) {
  return lincomb(ctx, rank, extents, terms, factors, x, x_strides, z, z_strides);
}

gpumem_status gpumem_lincomb_f64(gpumem_ctx* ctx, int32_t rank, const int64_t* extents, int32_t terms,
                                 const double* factors, const double* const* x, const int64_t* x_strides, double* z,
                                 const int64_t* z_strides) {
  return lincomb(ctx, rank, extents, terms, factors, x, x_strides, z, z_strides);
}

gpumem_status gpumem_lincomb_f32_async(gpumem_ctx* ctx, int32_t rank, const int64_t* extents, int32_t terms,
                                       const float* factors, const float* const* x, const int64_t* x_strides, float* z,
                                       const int64_t* z_strides, gpumem_stream* stream) {
  return lincomb(ctx, rank, extents, terms, factors, x, x_strides, z, z_strides, enqueued(stream));
}

gpumem_status gpumem_lincomb_f64_async(gpumem_ctx* ctx, int32_t rank, const int64_t* extents, int32_t terms,
                                       const double* factors, const double* const* x, const int64_t* x_strides,
                                       double* z, const int64_t* z_strides, gpumem_stream* stream) {
  return lincomb(ctx, rank, extents, terms, factors, x, x_strides, z, z_strides, enqueued(stream));
}

gpumem_status gpumem_multiply_f32(gpumem_ctx* ctx, int32_t rank, const int64_t* extents, const float* x,
                                  const int64_t* x_strides, const float* y, const int64_t* y_strides, float* z,
                                  const int64_t* z_strides) {
  return multiply(ctx, rank, extents, x, x_strides, y, y_strides, z, z_strides);
}

gpumem_status gpumem_multiply_f64(gpumem_ctx* ctx, int32_t rank, const int64_t* extents, const double* x,
                                  const int64_t* x_strides, const double* y, const int64_t* y_strides, double* z,
                                  const int64_t* z_strides) {
  return multiply(ctx, rank, extents, x, x_strides, y, y_strides, z, z_strides);
}

gpumem_status gpumem_multiply_f32_async(gpumem_ctx* ctx, int32_t rank, const int64_t* extents, const float* x,
                                        const int64_t* x_strides, const float* y, const int64_t* y_strides, float* z,
                                        const int64_t* z_strides, gpumem_stream* stream) {
  return multiply(ctx, rank, extents, x, x_strides, y, y_strides, z, z_strides, enqueued(stream));
}

gpumem_status gpumem_multiply_f64_async(gpumem_ctx* ctx, int32_t rank, const int64_t* extents, const double* x,
                                        const int64_t* x_strides, const double* y, const int64_t* y_strides, double* z,
                                        const int64_t* z_strides, gpumem_stream* stream) {
  return multiply(ctx, rank, extents, x, x_strides, y, y_strides, z, z_strides, enqueued(stream));
}
