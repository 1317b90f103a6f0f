// z = a0 x0 + a1 x1 + ..., or x0 x1, over views. Each source is read once and z written once, n elements for each of them; where sources are
// shifted views of one array (a stencil) all but the first find most of theirs in the caches. A block takes a tile of neighbouring elements
// of z, whatever the lengths of its rows.
//   coalesced  one element a thread and step, of elements at their own alignment
//   bytes      the same, an element moved byte by byte, for any address
// A thread reads what it overwrites itself and nothing else of z, so z may be a source; nothing here may assume that they differ.
#include <algorithm>
#include <cstring>

#include "kernels/arithmetic/limits.hpp"
#include "kernels/cuda_launchers.hpp"
#include "kernels/division.hpp"
#include "kernels/enqueue.cuh"
#include "kernels/rounded.cuh"
#include "kernels/words.cuh"

namespace gpumem::kernels {
namespace {

template <class T>
struct Views {
  int64_t n;
  int64_t extent[kMaxViewRank];
  Divisor<uint64_t> divisor[kMaxViewRank];      // by the extents
  Divisor<uint32_t> within_tile[kMaxViewRank];  // by those of less than a tile
  int terms;
  T factor[kMaxTerms];
  const T* x[kMaxTerms];
  int64_t x_stride[kMaxTerms][kMaxViewRank];
  T* z;
  int64_t z_stride[kMaxViewRank];
};

// Indices along the axes.
template <int kRank>
struct Place {
  int64_t at[kRank];

  // `steps` elements on, fewer than a tile.
  template <class T>
  __device__ Place after(const Views<T>& v, uint32_t steps) const {
    Place next = *this;
    next.at[kRank - 1] += steps;
#pragma unroll
    for (int d = kRank - 1; d > 0; --d) {
      int64_t carry = next.at[d] >= v.extent[d] ? 1 : 0;
      if (v.extent[d] < kArithmeticTile) carry = v.within_tile[d].quotient(static_cast<uint32_t>(next.at[d]));
      next.at[d] -= carry * v.extent[d];
      next.at[d - 1] += carry;
    }
    return next;
  }
  __device__ int64_t offset(const int64_t (&stride)[kMaxViewRank]) const {
    int64_t offset = 0;
#pragma unroll
    for (int d = 0; d < kRank; ++d) offset += at[d] * stride[d];
    return offset;
  }
};

template <int kRank, class T>
__device__ Place<kRank> place_of(const Views<T>& v, int64_t i) {
  Place<kRank> place;
#pragma unroll
  for (int d = kRank - 1; d > 0; --d) {
    const auto quotient = static_cast<int64_t>(v.divisor[d].quotient(static_cast<uint64_t>(i)));
    place.at[d] = i - quotient * v.extent[d];
    i = quotient;
  }
  place.at[0] = i;
  return place;
}

template <class T, int kRank, bool kProduct, class Access>
__global__ void __launch_bounds__(kArithmeticThreads) views_kernel(const __grid_constant__ Views<T> v) {
  after_earlier_work();
  for (int64_t tile = blockIdx.x * kArithmeticTile; tile < v.n; tile += gridDim.x * kArithmeticTile) {
    const Place<kRank> first = place_of<kRank>(v, tile);
    Place<kRank> place[kArithmeticEach];
    T z[kArithmeticEach];
    bool exists[kArithmeticEach];
#pragma unroll
    for (int e = 0; e < kArithmeticEach; ++e) {
      const uint32_t steps = threadIdx.x + e * kArithmeticThreads;
      exists[e] = tile + steps < v.n;
      place[e] = first.after(v, steps);
      z[e] = 0;
    }
#pragma unroll
    for (int k = 0; k < (kProduct ? 2 : kMaxTerms); ++k) {
      if (k >= v.terms) break;
      T x[kArithmeticEach];
#pragma unroll
      for (int e = 0; e < kArithmeticEach; ++e) {
        x[e] = exists[e] ? Access::load(v.x[k] + place[e].offset(v.x_stride[k])) : T{};
      }
#pragma unroll
      for (int e = 0; e < kArithmeticEach; ++e) {
        const T term = kProduct && k == 0 ? x[e] : product(kProduct ? z[e] : v.factor[k], x[e]);
        z[e] = kProduct || k == 0 ? term : sum(z[e], term);
      }
    }
#pragma unroll
    for (int e = 0; e < kArithmeticEach; ++e) {
      if (exists[e]) Access::store(v.z + place[e].offset(v.z_stride), canonical(z[e]));
    }
  }
}

template <class T>
Views<T> views_of(const ArithmeticParams& params) {
  Views<T> v{};
  v.n = params.elements();
  v.terms = params.terms;
  v.z = static_cast<T*>(params.z);
  for (int d = 0; d < params.rank; ++d) {
    v.extent[d] = params.extents[d];
    v.divisor[d] = Divisor<uint64_t>(static_cast<uint64_t>(params.extents[d]));
    if (params.extents[d] < kArithmeticTile) {
      v.within_tile[d] = Divisor<uint32_t>(static_cast<uint32_t>(params.extents[d]));
    }
    v.z_stride[d] = params.z_strides[d];
  }
  for (int k = 0; k < params.terms; ++k) {
    v.x[k] = static_cast<const T*>(params.x[k]);
    std::memcpy(&v.factor[k], &params.factors[k], sizeof(T));
    std::copy_n(params.x_strides[k], kMaxViewRank, v.x_stride[k]);
  }
  return v;
}

template <class T, class Access>
cudaError_t start(const ArithmeticParams& params, const LaunchShape& shape, Stream stream) {
  const Views<T> views = views_of<T>(params);
  const auto with_op = [&]<int kRank>() {
    const auto kernel = params.op == Arithmetic::multiply ? views_kernel<T, kRank, true, Access>
                                                          : views_kernel<T, kRank, false, Access>;
    return enqueue_early(kernel, static_cast<unsigned>(shape.grid), kArithmeticThreads, stream, views);
  };
  if (params.rank == 1) return with_op.template operator()<1>();
  return params.rank == 2 ? with_op.template operator()<2>() : with_op.template operator()<3>();
}

template <class Access>
cudaError_t launch(const ArithmeticParams& params, const LaunchShape& shape, Stream stream) {
  return params.dtype == GPUMEM_F32 ? start<float, Access>(params, shape, stream)
                                    : start<double, Access>(params, shape, stream);
}

cudaError_t preload_most() {
  return preload(views_kernel<float, 2, false, Aligned>, views_kernel<double, 2, false, Aligned>);
}

constexpr CudaLauncher<ArithmeticParams> kLaunchers[] = {{"coalesced", launch<Aligned>}, {"bytes", launch<Bytewise>}};

}  // namespace
}  // namespace gpumem::kernels

namespace gpumem {
CudaLaunchers<ArithmeticParams> ArithmeticFamily::on_cuda() noexcept {
  return {kernels::kLaunchers, kernels::preload_most};
}
}  // namespace gpumem
