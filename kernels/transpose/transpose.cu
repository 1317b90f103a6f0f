// Transposes. Every kernel reads each element once and writes it once: 2 * batches * rows * cols * element bytes. A square tile goes
// through shared memory, so that both the reads and the writes run along rows; a padded pitch keeps the columns of a tile in
// different banks.
//   tile_vec16   16 bytes an access in global memory, for matrices whose rows all begin on 16-byte boundaries
//   tile_padded  one element an access, 32 x 32 tiles, for elements at their natural alignment
//   tile_bytes   the same, an element moved byte by byte, for any address
#include "kernels/transpose/tiles.cuh"

namespace gpumem::kernels {
namespace {

constexpr int kThreads = kTransposeThreads;

template <class T, int kTile>
__global__ void __launch_bounds__(kThreads) padded_kernel(const TransposeParams params, const Tiles tiles) {
  after_earlier_work();
  __shared__ T shared[kTile][kTile + 1];
  const int lane = threadIdx.x % kTile;
  const int first = threadIdx.x / kTile;
  for (int64_t tile = blockIdx.x; tile < tiles.all; tile += gridDim.x) {
    const TilePlace origin(tile, tiles, kTile, kTile);
    const auto* src = static_cast<const T*>(params.src) + origin.batch * params.src_batch_stride;
    auto* dst = static_cast<T*>(params.dst) + origin.batch * params.dst_batch_stride;
    for (int r = first; r < kTile; r += kThreads / kTile) {
      const int64_t row = origin.row + r;
      const int64_t col = origin.col + lane;
      if (row < params.rows && col < params.cols) shared[r][lane] = src[row * params.src_ld + col];
    }
    __syncthreads();
    for (int c = first; c < kTile; c += kThreads / kTile) {
      const int64_t row = origin.row + lane;
      const int64_t col = origin.col + c;
      if (row < params.rows && col < params.cols) dst[col * params.dst_ld + row] = shared[lane][c];
    }
    __syncthreads();
  }
}

// Elements kVector apart in a row of 16 bytes. pitch: 4 bytes past a multiple of 128, or one element where that is longer.
template <int kBytes>
struct Vec16 {
  static constexpr int kTile = static_cast<int>(transpose_vec16_tile(kBytes));
  static constexpr int kVector = 16 / kBytes;
  static constexpr int kPitch = kTile + (kBytes >= 4 ? 1 : 4 / kBytes);
  static constexpr int kAcross = kTile / kVector;  // words in a row of the tile
  static constexpr int kRowsAtOnce = kThreads / kAcross;
  static constexpr int kPasses = kTile / kRowsAtOnce;
  using Element = WordOf<kBytes>;
  union Word {
    uint4 word;
    Element element[kVector];
    __device__ Word() {}
  };
};

template <int kBytes>
__global__ void __launch_bounds__(kThreads) vec16_kernel(const TransposeParams params, const Tiles tiles) {
  after_earlier_work();
  using V = Vec16<kBytes>;
  using Element = typename V::Element;
  using Word = typename V::Word;
  __shared__ Element shared[V::kTile][V::kPitch];
  const int along = static_cast<int>(threadIdx.x) % V::kAcross * V::kVector;
  const int first = static_cast<int>(threadIdx.x) / V::kAcross;
  for (int64_t tile = blockIdx.x; tile < tiles.all; tile += gridDim.x) {
    const TilePlace origin(tile, tiles, V::kTile, V::kTile);
    const auto* src = static_cast<const Element*>(params.src) + origin.batch * params.src_batch_stride;
    auto* dst = static_cast<Element*>(params.dst) + origin.batch * params.dst_batch_stride;
    const int64_t col = origin.col + along;
    Word in[V::kPasses];
#pragma unroll
    for (int pass = 0; pass < V::kPasses; ++pass) {
      const int64_t row = origin.row + first + pass * V::kRowsAtOnce;
      const Element* from = src + row * params.src_ld + col;
      if (row < params.rows && col + V::kVector <= params.cols) {
        in[pass].word = __ldcs(reinterpret_cast<const uint4*>(from));
      } else if (row < params.rows) {
#pragma unroll
        for (int i = 0; i < V::kVector; ++i) {
          if (col + i < params.cols) in[pass].element[i] = from[i];
        }
      }
    }
#pragma unroll
    for (int pass = 0; pass < V::kPasses; ++pass) {
#pragma unroll
      for (int i = 0; i < V::kVector; ++i) shared[first + pass * V::kRowsAtOnce][along + i] = in[pass].element[i];
    }
    __syncthreads();
    const int64_t row = origin.row + along;
#pragma unroll
    for (int pass = 0; pass < V::kPasses; ++pass) {
      const int c = first + pass * V::kRowsAtOnce;
      const int64_t out_row = origin.col + c;
      Element* to = dst + out_row * params.dst_ld + row;
      Word out;
#pragma unroll
      for (int i = 0; i < V::kVector; ++i) out.element[i] = shared[along + i][c];
      if (out_row < params.cols && row + V::kVector <= params.rows) {
        __stcs(reinterpret_cast<uint4*>(to), out.word);
      } else if (out_row < params.cols) {
#pragma unroll
        for (int i = 0; i < V::kVector; ++i) {
          if (row + i < params.rows) to[i] = out.element[i];
        }
      }
    }
    __syncthreads();
  }
}

}  // namespace

cudaError_t transpose_tile_vec16(const TransposeParams& params, const LaunchShape& shape, Stream stream) {
  return for_size(params.element_bytes, [&]<int kBytes>() {
    constexpr int kTile = Vec16<kBytes>::kTile;
    return start(vec16_kernel<kBytes>, shape.grid, stream, params, tiles_of(params, kTile, kTile));
  });
}

cudaError_t transpose_tile_padded(const TransposeParams& params, const LaunchShape& shape, Stream stream) {
  return for_size(params.element_bytes, [&]<int kBytes>() {
    constexpr int kTile = kTransposePaddedTile;
    return start(padded_kernel<WordOf<kBytes>, kTile>, shape.grid, stream, params, tiles_of(params, kTile, kTile));
  });
}

cudaError_t transpose_tile_bytes(const TransposeParams& params, const LaunchShape& shape, Stream stream) {
  return for_size(params.element_bytes, [&]<int kBytes>() {
    constexpr int kTile = kTransposePaddedTile;
    return start(padded_kernel<Bytes<kBytes>, kTile>, shape.grid, stream, params, tiles_of(params, kTile, kTile));
  });
}

cudaError_t transpose_preload() {
  return for_all_sizes(
      [&]<int kBytes>() { return preload(vec16_kernel<kBytes>, padded_kernel<WordOf<kBytes>, kTransposePaddedTile>); });
}

}  // namespace gpumem::kernels
