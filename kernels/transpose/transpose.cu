// Transposes. Every kernel reads each element once and writes it once: 2 * batches * rows * cols * element bytes. A square tile goes
// through shared memory, so that both the reads and the writes run along rows; a padded pitch keeps the columns of a tile in
// different banks.
//   tile_vec16  16 bytes an access in global memory, for matrices whose rows all begin on 16-byte boundaries
//   tile_bytes  one element an access, moved byte by byte, 32 x 32 tiles, for any address
#include "kernels/transpose/tiles.cuh"

namespace gpumem::kernels {
namespace {

constexpr int kThreads = kTransposeThreads;
constexpr int kTile = static_cast<int>(kTransposePaddedTile);

template <int kBytes>
__global__ void __launch_bounds__(kThreads) bytes_kernel(const TransposeParams params, const Tiles tiles) {
  synchronize_and_trigger();
  using T = Bytes<kBytes>;
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

template <int kBytes>
__global__ void __launch_bounds__(kThreads) vec16_kernel(const TransposeParams params, const Tiles tiles) {
  synchronize_and_trigger();
  using T = WordTile<kBytes, true>;
  __shared__ typename T::Shared shared;
  const T words;
  for (int64_t tile = blockIdx.x; tile < tiles.all; tile += gridDim.x) {
    const TilePlace origin(tile, tiles, T::kSide, T::kSide);
    const auto* src = static_cast<const typename T::Element*>(params.src) + origin.batch * params.src_batch_stride;
    auto* dst = static_cast<typename T::Element*>(params.dst) + origin.batch * params.dst_batch_stride;
    typename T::Word in[T::kPasses];
    words.load(src, params.src_ld, params.rows, params.cols, origin.row, origin.col, in);
    words.keep(in, shared);
    __syncthreads();
    words.store(dst, params.dst_ld, params.cols, params.rows, origin.col, origin.row, shared);
    __syncthreads();
  }
}

}  // namespace

LaunchResult transpose_tile_vec16(const TransposeParams& params, const Config& config, const Launch& launch) {
  return for_size(params.element_bytes, [&]<int kBytes>() {
    constexpr int64_t kSide = transpose_vec16_tile(kBytes);
    return enqueue_programmatic(vec16_kernel<kBytes>, static_cast<unsigned>(config.grid), kTransposeThreads, launch,
                                params, tiles_of(params, kSide, kSide));
  });
}

LaunchResult transpose_tile_bytes(const TransposeParams& params, const Config& config, const Launch& launch) {
  return for_size(params.element_bytes, [&]<int kBytes>() {
    return enqueue_programmatic(bytes_kernel<kBytes>, static_cast<unsigned>(config.grid), kTransposeThreads, launch,
                                params, tiles_of(params, kTile, kTile));
  });
}

LaunchResult transpose_preload() {
  return for_all_sizes([&]<int kBytes>() { return preload(vec16_kernel<kBytes>); });
}

}  // namespace gpumem::kernels
