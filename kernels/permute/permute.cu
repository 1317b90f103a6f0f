// Permutations of axes.
// Moves: reads and writes each element once: 2 * elements * element bytes. If neighbours of dst are far apart in src,
//         strided_scalar reads evicted cache lines again.
// Access: tiled: square tiles over a plane (kernels/permute/plane.hpp) pass through shared memory, so that reads and
//         writes both run along lines. A padded pitch keeps a tile's columns in different banks. The offsets of a
//         tile's rows and columns are in shared memory too, because a side of the plane may have several axes.
//         strided_scalar: one element per thread in the order of dst, byte by byte if addresses are not aligned.
// Shapes: if a side of the plane is short, most lanes are idle. The table prefers `packed` (packed.cu) or
//         `strided_scalar` for such shapes.
// Multiplications (kernels/division.hpp) convert numbers into indices, in 32 bits if all of them fit.
#include "kernels/alignment.hpp"
#include "kernels/division.hpp"
#include "kernels/enqueue.cuh"
#include "kernels/limits.hpp"
#include "kernels/permute/limits.hpp"
#include "kernels/permute/permute.hpp"
#include "kernels/permute/plane.hpp"
#include "kernels/words.cuh"

namespace gpumem::kernels {
namespace {

constexpr int kThreads = kPermuteThreads;

// Axes for the indices of a number, fastest first. Read only by compile-time indices.
template <class Index>
struct Outer {
  int32_t rank = 0;
  Divisor<Index> extent[kMaxPermuteRank];
  int64_t src_stride[kMaxPermuteRank];  // elements
  int64_t dst_stride[kMaxPermuteRank];
};

struct Offsets {
  int64_t src = 0;
  int64_t dst = 0;
};

template <class Index>
__device__ __forceinline__ Offsets offsets_of(Index number, const Outer<Index>& outer) {
  Offsets at;
#pragma unroll
  for (int d = 0; d < kMaxPermuteRank; ++d) {
    if (d >= outer.rank) break;
    const Index rest = outer.extent[d].quotient(number);
    const auto index = static_cast<int64_t>(number - rest * outer.extent[d].value);
    at.src += index * outer.src_stride[d];
    at.dst += index * outer.dst_stride[d];
    number = rest;
  }
  return at;
}

template <class Index>
struct Tiles {
  const void* src;
  void* dst;
  int64_t across;  // elements of the plane
  int64_t down;
  int64_t tiles;  // of all planes
  Divisor<Index> tiles_across;
  Divisor<Index> tiles_down;
  Outer<Index> across_axes;
  Outer<Index> down_axes;
  Outer<Index> outer;
};

// kSingle: each side of the plane is one axis.
template <int kBytes, class Index, bool kSingle>
__global__ void __launch_bounds__(kThreads) tiles_kernel(const __grid_constant__ Tiles<Index> t) {
  grid_dependency_synchronize();
  using T = WordOf<kBytes>;
  constexpr int kTile = static_cast<int>(permute_tile(kBytes));
  constexpr int kPitch = kTile + (kBytes >= 4 ? 1 : 4 / kBytes);  // words of 4 bytes of a column are in different banks
  constexpr int kRowsAtOnce = kThreads / kTile;
  constexpr int kPasses = kTile / kRowsAtOnce;
  __shared__ T shared[kTile][kPitch];
  __shared__ int64_t src_at[kSingle ? 1 : kTile];
  __shared__ int64_t dst_at[kSingle ? 1 : kTile];
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % kTile;
  const int first = thread / kTile;
  for (int64_t tile = blockIdx.x; tile < t.tiles; tile += gridDim.x) {
    const auto number = static_cast<Index>(tile);
    const Index row_of_tiles = t.tiles_across.quotient(number);
    const Index plane = t.tiles_down.quotient(row_of_tiles);
    const int64_t across = static_cast<int64_t>(number - row_of_tiles * t.tiles_across.value) * kTile;
    const int64_t down = static_cast<int64_t>(row_of_tiles - plane * t.tiles_down.value) * kTile;
    if constexpr (!kSingle) {
      if (thread < kTile) {
        src_at[thread] = offsets_of(static_cast<Index>(down + thread), t.down_axes).src;
      } else if (thread < 2 * kTile) {
        dst_at[lane] = offsets_of(static_cast<Index>(across + lane), t.across_axes).dst;
      }
      __syncthreads();
    }
    const Offsets at = offsets_of(plane, t.outer);
    const T* from = static_cast<const T*>(t.src) + at.src + across + lane;
    T* to = static_cast<T*>(t.dst) + at.dst + down + lane;
    const int64_t src_pitch = t.down_axes.src_stride[0];
    const int64_t dst_pitch = t.across_axes.dst_stride[0];
    if constexpr (kSingle) {
      from += (down + first) * src_pitch;
      to += (across + first) * dst_pitch;
    }
    T words[kPasses];
#pragma unroll
    for (int pass = 0; pass < kPasses; ++pass) {
      const int row = pass * kRowsAtOnce;
      if (down + first + row < t.down && across + lane < t.across) {
        words[pass] = from[kSingle ? row * src_pitch : src_at[first + row]];
      }
    }
#pragma unroll
    for (int pass = 0; pass < kPasses; ++pass) shared[first + pass * kRowsAtOnce][lane] = words[pass];
    __syncthreads();
#pragma unroll
    for (int pass = 0; pass < kPasses; ++pass) {
      const int row = pass * kRowsAtOnce;
      if (across + first + row < t.across && down + lane < t.down) {
        to[kSingle ? row * dst_pitch : dst_at[first + row]] = shared[lane][first + row];
      }
    }
    __syncthreads();
  }
}

template <class Index>
struct Elements {
  const void* src;
  void* dst;
  int64_t elements;
  Outer<Index> outer;
};

template <class T, class Index>
__global__ void __launch_bounds__(kThreads) elements_kernel(const __grid_constant__ Elements<Index> e) {
  grid_dependency_synchronize();
  const int64_t step = int64_t{gridDim.x} * kThreads;
  for (int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x; i < e.elements; i += step) {
    const Offsets at = offsets_of(static_cast<Index>(i), e.outer);
    static_cast<T*>(e.dst)[at.dst] = static_cast<const T*>(e.src)[at.src];
  }
}

template <class Index>
void add(Outer<Index>& outer, const PermuteAxes& axes, int32_t axis) {
  outer.extent[outer.rank] = Divisor<Index>(static_cast<Index>(axes.extent[axis]));
  outer.src_stride[outer.rank] = axes.src_stride[axis];
  outer.dst_stride[outer.rank++] = axes.dst_stride[axis];
}

template <class Arguments>
LaunchResult start(void (*kernel)(Arguments), const Arguments& arguments, int64_t grid, Stream stream) {
  return enqueue_programmatic(kernel, static_cast<unsigned>(grid), kThreads, stream, arguments);
}

template <int kBytes, class Index>
LaunchResult start_tiles(const PermuteParams& params, const Config& config, const Launch& launch) {
  const PermuteAxes& axes = params.axes;
  const auto plane = config.own.get<PermutePlane>();
  const int64_t tile = permute_tile(kBytes);
  const int64_t across = ceil_div(plane.across, tile);
  const int64_t down = ceil_div(plane.down, tile);
  Tiles<Index> tiles{};
  tiles.src = params.src;
  tiles.dst = params.dst;
  tiles.across = plane.across;
  tiles.down = plane.down;
  tiles.tiles = axes.elements() / plane.across / plane.down * across * down;
  tiles.tiles_across = Divisor<Index>(static_cast<Index>(across));
  tiles.tiles_down = Divisor<Index>(static_cast<Index>(down));
  for (int32_t k = 0; k < plane.across_axes; ++k) add(tiles.across_axes, axes, plane.across_axis[k]);
  for (int32_t d = 0; d < plane.down_axes; ++d) add(tiles.down_axes, axes, d);
  for (int32_t d = 0; d < axes.rank; ++d) {
    if (!plane.has(d)) add(tiles.outer, axes, d);
  }
  const bool single = plane.across_axes == 1 && plane.down_axes == 1;
  auto* const kernel = single ? tiles_kernel<kBytes, Index, true> : tiles_kernel<kBytes, Index, false>;
  return start(kernel, tiles, config.grid, launch);
}

template <class T, class Index>
LaunchResult start_elements(const PermuteParams& params, const Config& config, const Launch& launch) {
  Elements<Index> elements{params.src, params.dst, params.axes.elements(), {}};
  for (int32_t d = 0; d < params.axes.rank; ++d) add(elements.outer, params.axes, d);
  return start(elements_kernel<T, Index>, elements, config.grid, launch);
}

// Calls f with the word type that holds the number of elements. Numbers of pieces and their divisors are not greater.
template <class F>
LaunchResult for_index(const PermuteAxes& axes, const F& f) {
  return axes.elements() <= UINT32_MAX ? f.template operator()<uint32_t>() : f.template operator()<uint64_t>();
}

}  // namespace

LaunchResult permute_tiled(const PermuteParams& params, const Config& config, const Launch& launch) {
  return for_size(params.axes.element_bytes, [&]<int kBytes>() {
    return for_index(params.axes, [&]<class Index>() { return start_tiles<kBytes, Index>(params, config, launch); });
  });
}

LaunchResult transpose_tiled(const TransposeParams& params, const Config& config, const Launch& launch) {
  return permute_tiled({.src = params.src, .dst = params.dst, .axes = transposed_axes(params)}, config, launch);
}

LaunchResult permute_strided_scalar(const PermuteParams& params, const Config& config, const Launch& launch) {
  const int64_t bytes = params.axes.element_bytes;
  const bool by_words = aligned(params.src, bytes) && aligned(params.dst, bytes);
  return for_size(bytes, [&]<int kBytes>() {
    return for_index(params.axes, [&]<class Index>() {
      return by_words ? start_elements<WordOf<kBytes>, Index>(params, config, launch)
                      : start_elements<Bytes<kBytes>, Index>(params, config, launch);
    });
  });
}

LaunchResult permute_copy(const PermuteParams& params, const Config&, const Launch& launch) {
  const auto bytes = static_cast<size_t>(params.axes.elements() * params.axes.element_bytes);
  return cudaMemcpyAsync(params.dst, params.src, bytes, cudaMemcpyDefault, launch);
}

LaunchResult permute_preload() {
  LaunchResult error = for_all_sizes([&]<int kBytes>() {
    return preload(tiles_kernel<kBytes, uint32_t, true>, elements_kernel<WordOf<kBytes>, uint32_t>);
  });
  if (error == cudaSuccess) error = permute_contiguous_boxes_preload();
  if (error == cudaSuccess) error = permute_pieces_preload();
  return error == cudaSuccess ? permute_packed_preload() : error;
}

}  // namespace gpumem::kernels
