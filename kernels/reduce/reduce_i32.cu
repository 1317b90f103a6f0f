// Reductions of i32. Every kernel reads x once, n * 4 bytes, and writes one value.
//   one_block, last_block  16-byte loads, several in flight a thread, each block a contiguous tile; the block that finishes last
//                          folds the tiles' values, so one launch does it all. For stride 1.
//   two_pass               4-byte coalesced loads, grid-stride; a second launch folds. The plain form.
//   two_pass_elements      the same for any stride and alignment.
#include "kernels/limits.hpp"
#include "kernels/reduce/block_fold.cuh"
#include "kernels/reduce/reduce_i32.hpp"
#include "kernels/reduce/terms.cuh"

namespace gpumem::kernels {
namespace {

template <int kOp>
__device__ __forceinline__ void take4(Term<kOp>& term, const int4& v) {
  term.take(v.x);
  term.take(v.y);
  term.take(v.z);
  term.take(v.w);
}

// The up to three elements before the first 16-byte boundary and after the last: one a thread.
template <int kOp>
__device__ __forceinline__ void take_ends(Term<kOp>& term, const int32_t* x, int64_t n, int64_t head, int64_t vectors) {
  const int64_t tail = head + vectors * 4;
  if (threadIdx.x < head) term.take(x[threadIdx.x]);
  if (threadIdx.x < n - tail) term.take(x[tail + threadIdx.x]);
}

// Vectors [first, last) of a block's tile, kLoads of them in flight a thread. Streaming loads: nothing is read twice.
template <int kOp, int kThreads, int kLoads>
__device__ __forceinline__ void take_tile(Term<kOp>& term, const int4* x, int64_t first, int64_t last) {
  int64_t at = first + threadIdx.x;
  for (; at + (kLoads - 1) * kThreads < last; at += kLoads * kThreads) {
    int4 v[kLoads];
#pragma unroll
    for (int i = 0; i < kLoads; ++i) v[i] = __ldcs(x + at + i * kThreads);
#pragma unroll
    for (int i = 0; i < kLoads; ++i) take4(term, v[i]);
  }
  for (; at < last; at += kThreads) take4(term, __ldcs(x + at));
}

// True in the block that is the last of the grid to come here; its threads then see every block's partial value.
// atomicInc wraps to 0 by itself, so the counter is ready for the next launch.
template <class Wide>
__device__ __forceinline__ bool last_to_arrive(Wide* partials, Wide value, unsigned* counter) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    partials[blockIdx.x] = value;
    __threadfence();
    last = atomicInc(counter, gridDim.x - 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  return last;
}

template <int kOp, int kThreads, class Wide>
__device__ __forceinline__ void fold_partials(const Wide* partials, int64_t count, ReduceResult* result,
                                              uint32_t ticket) {
  Int128 value = neutral<kOp, Int128>();
  for (int64_t i = threadIdx.x; i < count; i += kThreads) {
    value = combine<kOp>(value, static_cast<Int128>(*const_cast<const volatile Wide*>(partials + i)));
  }
  value = block_fold<kOp, kThreads>(value);
  if (threadIdx.x == 0) publish(result, value, ticket);
}

// Room for 1024 threads an SM and no more: asked for a full SM, the compiler spares registers by taking the loads two by two.
template <int kOp, int kThreads, int kLoads>
__global__ void __launch_bounds__(kThreads, 1024 / kThreads) tile_kernel(const ReduceLaunch launch) {
  using Wide = typename Term<kOp>::Wide;
  const auto* x = static_cast<const int32_t*>(launch.x);
  const int64_t to_boundary = (16 - reinterpret_cast<uintptr_t>(x) % 16) % 16 / 4;
  const int64_t head = to_boundary < launch.n ? to_boundary : launch.n;
  const int64_t vectors = (launch.n - head) / 4;
  const int64_t tile = launch.tile / 4;
  const int64_t first = blockIdx.x * tile;
  const int64_t last = gridDim.x == 1 || first + tile > vectors ? vectors : first + tile;

  Term<kOp> term;
  if (blockIdx.x == 0) take_ends(term, x, launch.n, head, vectors);
  take_tile<kOp, kThreads, kLoads>(term, reinterpret_cast<const int4*>(x + head), first, last);
  const Wide value = block_fold<kOp, kThreads>(term.wide());
  if (gridDim.x == 1) {
    if (threadIdx.x == 0) publish(launch.result, value, launch.ticket);
    return;
  }
  auto* partials = static_cast<Wide*>(launch.partials);
  if (last_to_arrive(partials, value, launch.counter)) {
    fold_partials<kOp, kThreads>(partials, gridDim.x, launch.result, launch.ticket);
  }
}

constexpr int kPassThreads = kTwoPassThreads;

struct AlignedElements {
  __device__ static int32_t load(const char* p) { return *reinterpret_cast<const int32_t*>(p); }
};
struct UnalignedElements {
  __device__ static int32_t load(const char* p) {
    const auto* b = reinterpret_cast<const unsigned char*>(p);
    return static_cast<int32_t>(b[0] | (b[1] << 8) | (b[2] << 16) | (static_cast<uint32_t>(b[3]) << 24));
  }
};

template <int kOp, class Elements>
__global__ void __launch_bounds__(kPassThreads) first_pass_kernel(const ReduceLaunch launch) {
  const auto* x = static_cast<const char*>(launch.x);
  const int64_t pitch = launch.stride * static_cast<int64_t>(sizeof(int32_t));
  const int64_t step = int64_t{gridDim.x} * kPassThreads;
  Term<kOp> term;
  for (int64_t i = int64_t{blockIdx.x} * kPassThreads + threadIdx.x; i < launch.n; i += step) {
    term.take(Elements::load(x + i * pitch));
  }
  const auto value = block_fold<kOp, kPassThreads>(term.wide());
  if (threadIdx.x == 0) static_cast<typename Term<kOp>::Wide*>(launch.partials)[blockIdx.x] = value;
}

template <int kOp>
__global__ void __launch_bounds__(kPassThreads) second_pass_kernel(const ReduceLaunch launch) {
  const auto* partials = static_cast<const typename Term<kOp>::Wide*>(launch.partials);
  fold_partials<kOp, kPassThreads>(partials, launch.grid, launch.result, launch.ticket);
}

// Calls f with the operation as a compile-time constant.
template <class F>
cudaError_t for_op(gpumem_reduce_op op, const F& f) {
  switch (op) {
    case GPUMEM_SUM:
      return f.template operator()<GPUMEM_SUM>();
    case GPUMEM_MIN:
      return f.template operator()<GPUMEM_MIN>();
    case GPUMEM_MAX:
      return f.template operator()<GPUMEM_MAX>();
    case GPUMEM_SUM_ABS:
      return f.template operator()<GPUMEM_SUM_ABS>();
    case GPUMEM_SUM_SQUARES:
      return f.template operator()<GPUMEM_SUM_SQUARES>();
    case GPUMEM_SUM_CUBES:
      return f.template operator()<GPUMEM_SUM_CUBES>();
    case GPUMEM_MAX_ABS:
      return f.template operator()<GPUMEM_MAX_ABS>();
    default:
      return cudaErrorInvalidValue;
  }
}

template <class Elements>
cudaError_t two_passes(gpumem_reduce_op op, const ReduceLaunch& launch, cudaStream_t stream) {
  return for_op(op, [&]<int kOp>() {
    first_pass_kernel<kOp, Elements><<<static_cast<unsigned>(launch.grid), kPassThreads, 0, stream>>>(launch);
    second_pass_kernel<kOp><<<1, kPassThreads, 0, stream>>>(launch);
    return cudaGetLastError();
  });
}

template <class Kernel>
cudaError_t load(Kernel* kernel) {
  cudaFuncAttributes attributes;
  return cudaFuncGetAttributes(&attributes, kernel);
}

}  // namespace

cudaError_t reduce_one_block(gpumem_reduce_op op, const ReduceLaunch& launch, cudaStream_t stream) {
  return for_op(op, [&]<int kOp>() {
    tile_kernel<kOp, kOneBlockThreads, kOneBlockLoads><<<1, kOneBlockThreads, 0, stream>>>(launch);
    return cudaGetLastError();
  });
}

cudaError_t reduce_last_block(gpumem_reduce_op op, const ReduceLaunch& launch, cudaStream_t stream) {
  return for_op(op, [&]<int kOp>() {
    const auto grid = static_cast<unsigned>(launch.grid);
    if (launch.tile <= int64_t{kLastBlockThreads} * kLastBlockShortLoads * 4) {
      tile_kernel<kOp, kLastBlockThreads, kLastBlockShortLoads><<<grid, kLastBlockThreads, 0, stream>>>(launch);
    } else {
      tile_kernel<kOp, kLastBlockThreads, kLastBlockLongLoads><<<grid, kLastBlockThreads, 0, stream>>>(launch);
    }
    return cudaGetLastError();
  });
}

cudaError_t reduce_two_pass(gpumem_reduce_op op, const ReduceLaunch& launch, cudaStream_t stream) {
  return two_passes<AlignedElements>(op, launch, stream);
}

cudaError_t reduce_two_pass_elements(gpumem_reduce_op op, const ReduceLaunch& launch, cudaStream_t stream) {
  const bool aligned = reinterpret_cast<uintptr_t>(launch.x) % sizeof(int32_t) == 0;
  return aligned ? two_passes<AlignedElements>(op, launch, stream) : two_passes<UnalignedElements>(op, launch, stream);
}

cudaError_t reduce_preload() {
  for (gpumem_reduce_op op = GPUMEM_SUM; op <= GPUMEM_MAX_ABS; ++op) {
    const cudaError_t error = for_op(op, [&]<int kOp>() {
      if (const cudaError_t e = load(tile_kernel<kOp, kOneBlockThreads, kOneBlockLoads>); e != cudaSuccess) return e;
      if (const cudaError_t e = load(tile_kernel<kOp, kLastBlockThreads, kLastBlockShortLoads>); e != cudaSuccess)
        return e;
      return load(tile_kernel<kOp, kLastBlockThreads, kLastBlockLongLoads>);
    });
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

}  // namespace gpumem::kernels
