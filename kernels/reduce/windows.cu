// Reductions of windows: lines of at most 1024 elements that begin one element apart, as in a moving sum.
// Moves: reads x once from memory, and once from the caches per 128 elements of a window. Writes one value per window.
// Access: lane l of one window and lane l - 1 of the next have the same elements, so a block computes each partial
//         result once for all its windows. A place of x has two partial results, because some lanes have one term more
//         than the others. Each step halves the lanes.
// Shapes: 32 or more windows of 2 to 1024 elements, in one vector or several at a time.
// H200: sums of 252 f32, 500,000 windows, take 6.5 us.
#include "kernels/reduce/line_plans.hpp"
#include "kernels/reduce/terms.cuh"

namespace gpumem::kernels {
namespace {

// Sums, sums of squares, products, minima and maxima, except squares of 64 bits (window_operation()).
template <class Term>
constexpr bool kOfWindows = true;
template <gpumem_dtype kType>
constexpr bool kOfWindows<FloatElement<kType, GPUMEM_SUM_ABS>> = false;
template <int kSize>
constexpr bool kOfWindows<WideElement<kSize>> = kSize == 8;
template <>
constexpr bool kOfWindows<CompensatedElement> = false;
template <>
constexpr bool kOfWindows<PowerElement> = false;

// Adds up lane 0's terms for each window that begins at one of the thread's places. x has `there` elements. `more` gets
// all terms of a window, `few` the terms of lanes that have one fewer.
template <class Term, int kEach>
__device__ __forceinline__ void add_terms(const Term& term, const char* x, int length, int there,
                                          typename Term::Partial (&few)[kEach], typename Term::Partial (&more)[kEach]) {
  const int t = static_cast<int>(threadIdx.x);
#pragma unroll 1
  for (int from = 0; from < length; from += kLeafLanes) {
    const bool all_lanes = from + kLeafLanes <= length;
    BitsOf<Term> element[kEach];
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int place = from + i * kWindowThreads + t;
      if (place < there) element[i] = *reinterpret_cast<const BitsOf<Term>*>(x + place * Term::kBytes);
    }
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      if (from + i * kWindowThreads + t >= there) continue;
      term.enter(more[i], element[i]);
      if (all_lanes) few[i] = more[i];
    }
  }
}

// Combines the lanes of all windows in the reproducible order. `own_few` becomes the result of each window. few and
// more are in shared memory, with one value per place.
template <class Partial, int kEach>
__device__ __forceinline__ void fold_lanes(int length, Partial* few, Partial* more, Partial (&own_few)[kEach],
                                           Partial (&own_more)[kEach]) {
  const int t = static_cast<int>(threadIdx.x);
  int rest = length % kLeafLanes;  // lanes with one term more
#pragma unroll 1
  for (int half = kLeafLanes / 2; half > 0; half /= 2) {
    if (length < half) continue;
    const bool both = rest >= half;  // the upper half has lanes with one term more
    if (both) rest -= half;
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      few[i * kWindowThreads + t] = own_few[i];
      if (both) more[i * kWindowThreads + t] = own_more[i];
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int other =
          min(i * kWindowThreads + t + half, kEach * kWindowThreads - 1);  // no window begins at the last places
      const Partial far = few[other];
      if (both) {
        own_few[i] = combine(own_more[i], far);
        own_more[i] = combine(own_more[i], more[other]);
      } else {
        own_few[i] = combine(own_few[i], far);
        own_more[i] = combine(own_more[i], far);
      }
    }
    __syncthreads();
  }
}

template <class Term>
__global__ void __launch_bounds__(kWindowThreads)
    windows_kernel(const __grid_constant__ ReduceLaunch launch, const Divisor<uint64_t> tiles) {
  using Partial = typename Term::Partial;
  constexpr int kPlaces = window_places(leaf_kind_of<Term>());
  constexpr auto kWindows = static_cast<int>(windows_of_block(leaf_kind_of<Term>()));
  constexpr int kEach = kPlaces / kWindowThreads;
  __shared__ Partial few[kPlaces];
  __shared__ Partial more[kPlaces];
  begin_lines(launch);
  const Term term(launch.dtype, launch.op);
  const LineLayout& lines = launch.lines;
  const auto vector = static_cast<int64_t>(tiles.quotient(blockIdx.x));
  const int64_t first = (blockIdx.x - vector * static_cast<int64_t>(tiles.value)) * kWindows;
  const auto length = static_cast<int>(lines.length);
  const int64_t left = lines.count - first * lines.per_batch;  // windows of all vectors
  const auto windows = static_cast<int>(left < kWindows * lines.per_batch ? left / lines.per_batch : kWindows);
  const char* x = static_cast<const char*>(launch.x) + (vector * lines.pitch + first) * Term::kBytes;
  const int t = static_cast<int>(threadIdx.x);

  Partial own_few[kEach];
  Partial own_more[kEach];
  add_terms(term, x, length, windows + length - 1, own_few, own_more);
  fold_lanes(length, few, more, own_few, own_more);
#pragma unroll
  for (int i = 0; i < kEach; ++i) few[i * kWindowThreads + t] = own_few[i];
#pragma unroll 1
  for (int window = t; window < windows; window += kWindowThreads) {
    finish<Term, false>(launch, (first + window) * lines.per_batch + vector, {nullptr, nullptr, lines.length, true},
                        typename Term::Node(few[window]));
  }
}

}  // namespace

LaunchResult reduce_windows(const ReduceLaunch& launch, Stream stream) {
  return for_element(launch.dtype, launch.op, [&]<class Term>() {
    if constexpr (!kOfWindows<Term>) {
      return cudaErrorInvalidValue;  // planned otherwise than launched
    } else {
      constexpr int64_t kWindows = windows_of_block(leaf_kind_of<Term>());
      const int64_t windows = launch.lines.count / launch.lines.per_batch;
      return enqueue_programmatic(windows_kernel<Term>, static_cast<unsigned>(launch.grid), kWindowThreads, stream,
                                  launch,
                                  Divisor<uint64_t>(static_cast<uint64_t>((windows + kWindows - 1) / kWindows)));
    }
  });
}

}  // namespace gpumem::kernels
