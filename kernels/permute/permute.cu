// Permutations of axes.
// Moves: reads and writes each element once: 2 * elements * element bytes. If neighbours of dst are far apart in src,
//         strided_scalar reads evicted cache lines again.
// Access: tiled: axis 0 is contiguous in dst, another axis in src. Square tiles over the two pass through shared
//         memory, so that reads and writes both run along lines. A padded pitch keeps a tile's columns in different
//         banks.
//         strided_scalar: one element per thread in the order of dst, byte by byte if addresses are not aligned.
// Shapes: if one of a tile's two axes is short, most lanes are idle. The table prefers `packed` (packed.cu) or
//         `strided_scalar` for such shapes.
// Multiplications (kernels/division.hpp) convert numbers into indices, in 32 bits if all of them fit.
#include "kernels/alignment.hpp"
#include "kernels/division.hpp"
#include "kernels/enqueue.cuh"
#include "kernels/limits.hpp"
#include "kernels/permute/limits.hpp"
#include "kernels/permute/permute.hpp"
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

// A plane: `across` is the fastest axis of src, `down` the fastest of dst.
template <class Index>
struct Tiles {
  const void* src;
  void* dst;
  int64_t across;
  int64_t down;
  int64_t src_pitch;  // elements of src between neighbours along `down`
  int64_t dst_pitch;  // elements of dst between neighbours along `across`
  int64_t tiles;      // of all planes
  Divisor<Index> tiles_across;
  Divisor<Index> tiles_down;
  Outer<Index> outer;
};

template <int kBytes, class Index>
__global__ void __launch_bounds__(kThreads) tiles_kernel(const __grid_constant__ Tiles<Index> t) {
  grid_dependency_synchronize();
  using T = WordOf<kBytes>;
  constexpr int kTile = static_cast<int>(permute_tile(kBytes));
  constexpr int kPitch = kTile + (kBytes >= 4 ? 1 : 4 / kBytes);  // words of 4 bytes of a column are in different banks
  constexpr int kRowsAtOnce = kThreads / kTile;
  constexpr int kPasses = kTile / kRowsAtOnce;
  __shared__ T shared[kTile][kPitch];
  const int lane = static_cast<int>(threadIdx.x) % kTile;
  const int first = static_cast<int>(threadIdx.x) / kTile;
  for (int64_t tile = blockIdx.x; tile < t.tiles; tile += gridDim.x) {
    const auto number = static_cast<Index>(tile);
    const Index row_of_tiles = t.tiles_across.quotient(number);
    const Index plane = t.tiles_down.quotient(row_of_tiles);
    const int64_t across = static_cast<int64_t>(number - row_of_tiles * t.tiles_across.value) * kTile;
    const int64_t down = static_cast<int64_t>(row_of_tiles - plane * t.tiles_down.value) * kTile;
    const Offsets at = offsets_of(plane, t.outer);
    const T* from = static_cast<const T*>(t.src) + at.src + (down + first) * t.src_pitch + across + lane;
    T* to = static_cast<T*>(t.dst) + at.dst + (across + first) * t.dst_pitch + down + lane;
    T words[kPasses];
#pragma unroll
    for (int pass = 0; pass < kPasses; ++pass) {
      const int row = pass * kRowsAtOnce;
      if (down + first + row < t.down && across + lane < t.across) words[pass] = from[row * t.src_pitch];
    }
#pragma unroll
    for (int pass = 0; pass < kPasses; ++pass) shared[first + pass * kRowsAtOnce][lane] = words[pass];
    __syncthreads();
#pragma unroll
    for (int pass = 0; pass < kPasses; ++pass) {
      const int row = pass * kRowsAtOnce;
      if (across + first + row < t.across && down + lane < t.down) to[row * t.dst_pitch] = shared[lane][first + row];
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

template <class Index>
Outer<Index> outer_axes(const PermuteAxes& axes, int32_t left_out, int32_t also) {
  Outer<Index> outer;
  for (int32_t d = 0; d < axes.rank; ++d) {
    if (d != left_out && d != also) add(outer, axes, d);
  }
  return outer;
}

template <class Arguments>
LaunchResult start(void (*kernel)(Arguments), const Arguments& arguments, int64_t grid, Stream stream) {
  return enqueue_programmatic(kernel, static_cast<unsigned>(grid), kThreads, stream, arguments);
}

template <int kBytes, class Index>
LaunchResult start_tiles(const PermuteParams& params, const Config& config, const Launch& launch) {
  const PermuteAxes& axes = params.axes;
  const int64_t tile = permute_tile(kBytes);
  const int32_t fastest = src_fastest(axes);
  Tiles<Index> tiles{};
  tiles.src = params.src;
  tiles.dst = params.dst;
  tiles.across = axes.extent[fastest];
  tiles.down = axes.extent[0];
  tiles.src_pitch = axes.src_stride[0];
  tiles.dst_pitch = axes.dst_stride[fastest];
  const int64_t across = ceil_div(tiles.across, tile);
  const int64_t down = ceil_div(tiles.down, tile);
  tiles.tiles = axes.elements() / tiles.across / tiles.down * across * down;
  tiles.tiles_across = Divisor<Index>(static_cast<Index>(across));
  tiles.tiles_down = Divisor<Index>(static_cast<Index>(down));
  tiles.outer = outer_axes<Index>(axes, 0, fastest);
  return start(tiles_kernel<kBytes, Index>, tiles, config.grid, launch);
}

template <class T, class Index>
LaunchResult start_elements(const PermuteParams& params, const Config& config, const Launch& launch) {
  Elements<Index> elements{params.src, params.dst, params.axes.elements(), outer_axes<Index>(params.axes, -1, -1)};
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
  LaunchResult error = for_all_sizes(
      [&]<int kBytes>() { return preload(tiles_kernel<kBytes, uint32_t>, elements_kernel<WordOf<kBytes>, uint32_t>); });
  if (error == cudaSuccess) error = permute_contiguous_boxes_preload();
  if (error == cudaSuccess) error = permute_pieces_preload();
  return error == cudaSuccess ? permute_packed_preload() : error;
}

}  // namespace gpumem::kernels
