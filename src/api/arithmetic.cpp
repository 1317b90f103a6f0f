#include <algorithm>

#include "api/guard.hpp"
#include "ops/operations.hpp"

using namespace gpumem;
using namespace gpumem::api;

namespace {

using Numbers = const double* const*;

template <class T>
ArithmeticCall sum_of(int32_t rank, const int64_t* extents, int32_t terms, const T* factors, const T* const* x,
                      const int64_t* x_strides, T* z, const int64_t* z_strides) {
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
  return call;
}

template <class T>
ArithmeticCall sum_at(int32_t rank, const int64_t* extents, int32_t terms, const T* factors, Numbers numerators,
                      Numbers denominators, const T* const* x, const int64_t* x_strides, T* z,
                      const int64_t* z_strides) {
  static constexpr T kOnes[kMaxTerms] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  ArithmeticCall call = sum_of(rank, extents, terms, factors != nullptr ? factors : kOnes, x, x_strides, z, z_strides);
  call.numerators = numerators;
  call.denominators = denominators;
  return call;
}

template <class T>
gpumem_status lincomb(gpumem_ctx* ctx, int32_t rank, const int64_t* extents, int32_t terms, const T* factors,
                      const T* const* x, const int64_t* x_strides, T* z, const int64_t* z_strides, Order order = {}) {
  return run(ctx, arithmetic, sum_of(rank, extents, terms, factors, x, x_strides, z, z_strides), order);
}

template <class T>
gpumem_status lincomb_at(gpumem_ctx* ctx, int32_t rank, const int64_t* extents, int32_t terms, const T* factors,
                         Numbers numerators, Numbers denominators, const T* const* x, const int64_t* x_strides, T* z,
                         const int64_t* z_strides, Order order = {}) {
  return run(ctx, arithmetic,
             sum_at(rank, extents, terms, factors, numerators, denominators, x, x_strides, z, z_strides), order);
}

template <class T>
gpumem_status lincomb_dot(gpumem_ctx* ctx, int32_t rank, const int64_t* extents, int32_t terms, const T* factors,
                          Numbers numerators, Numbers denominators, const T* const* x, const int64_t* x_strides, T* z,
                          const int64_t* z_strides, int32_t dots, const T* const* w, const int64_t* w_strides,
                          double* results, Order order = {}) {
  ArithmeticCall call = sum_at(rank, extents, terms, factors, numerators, denominators, x, x_strides, z, z_strides);
  call.has_dots = true;
  call.dots = dots;
  call.w = reinterpret_cast<const void* const*>(w);
  call.results = results;
  if (w_strides != nullptr && rank >= 0 && rank <= kMaxViewRank) {
    for (int32_t k = 0; k < std::min(dots, kMaxDots); ++k) call.w_strides[k] = w_strides + int64_t{k} * rank;
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

gpumem_status gpumem_lincomb_at_f32(gpumem_ctx* ctx, int32_t rank, const int64_t* extents, int32_t terms,
                                    const float* factors, const double* const* numerators,
                                    const double* const* denominators, const float* const* x, const int64_t* x_strides,
                                    float* z, const int64_t* z_strides) {
  return lincomb_at(ctx, rank, extents, terms, factors, numerators, denominators, x, x_strides, z, z_strides);
}

gpumem_status gpumem_lincomb_at_f32_async(gpumem_ctx* ctx, int32_t rank, const int64_t* extents, int32_t terms,
                                          const float* factors, const double* const* numerators,
                                          const double* const* denominators, const float* const* x,
                                          const int64_t* x_strides, float* z, const int64_t* z_strides,
                                          gpumem_stream* stream) {
  return lincomb_at(ctx, rank, extents, terms, factors, numerators, denominators, x, x_strides, z, z_strides,
                    enqueued(stream));
}

gpumem_status gpumem_lincomb_at_f64(gpumem_ctx* ctx, int32_t rank, const int64_t* extents, int32_t terms,
                                    const double* factors, const double* const* numerators,
                                    const double* const* denominators, const double* const* x, const int64_t* x_strides,
                                    double* z, const int64_t* z_strides) {
  return lincomb_at(ctx, rank, extents, terms, factors, numerators, denominators, x, x_strides, z, z_strides);
}

gpumem_status gpumem_lincomb_at_f64_async(gpumem_ctx* ctx, int32_t rank, const int64_t* extents, int32_t terms,
                                          const double* factors, const double* const* numerators,
                                          const double* const* denominators, const double* const* x,
                                          const int64_t* x_strides, double* z, const int64_t* z_strides,
                                          gpumem_stream* stream) {
  return lincomb_at(ctx, rank, extents, terms, factors, numerators, denominators, x, x_strides, z, z_strides,
                    enqueued(stream));
}

gpumem_status gpumem_lincomb_dot_f32(gpumem_ctx* ctx, int32_t rank, const int64_t* extents, int32_t terms,
                                     const float* factors, const double* const* numerators,
                                     const double* const* denominators, const float* const* x, const int64_t* x_strides,
                                     float* z, const int64_t* z_strides, int32_t dots, const float* const* w,
                                     const int64_t* w_strides, double* results) {
  return lincomb_dot(ctx, rank, extents, terms, factors, numerators, denominators, x, x_strides, z, z_strides, dots, w,
                     w_strides, results);
}

gpumem_status gpumem_lincomb_dot_f32_async(gpumem_ctx* ctx, int32_t rank, const int64_t* extents, int32_t terms,
                                           const float* factors, const double* const* numerators,
                                           const double* const* denominators, const float* const* x,
                                           const int64_t* x_strides, float* z, const int64_t* z_strides, int32_t dots,
                                           const float* const* w, const int64_t* w_strides, double* results,
                                           gpumem_stream* stream) {
  return lincomb_dot(ctx, rank, extents, terms, factors, numerators, denominators, x, x_strides, z, z_strides, dots, w,
                     w_strides, results, enqueued(stream));
}

gpumem_status gpumem_lincomb_dot_f64(gpumem_ctx* ctx, int32_t rank, const int64_t* extents, int32_t terms,
                                     const double* factors, const double* const* numerators,
                                     const double* const* denominators, const double* const* x,
                                     const int64_t* x_strides, double* z, const int64_t* z_strides, int32_t dots,
                                     const double* const* w, const int64_t* w_strides, double* results) {
  return lincomb_dot(ctx, rank, extents, terms, factors, numerators, denominators, x, x_strides, z, z_strides, dots, w,
                     w_strides, results);
}

gpumem_status gpumem_lincomb_dot_f64_async(gpumem_ctx* ctx, int32_t rank, const int64_t* extents, int32_t terms,
                                           const double* factors, const double* const* numerators,
                                           const double* const* denominators, const double* const* x,
                                           const int64_t* x_strides, double* z, const int64_t* z_strides, int32_t dots,
                                           const double* const* w, const int64_t* w_strides, double* results,
                                           gpumem_stream* stream) {
  return lincomb_dot(ctx, rank, extents, terms, factors, numerators, denominators, x, x_strides, z, z_strides, dots, w,
                     w_strides, results, enqueued(stream));
}
