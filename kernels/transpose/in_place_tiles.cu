// Square transposes in place, 2 * batches * rows * rows * element bytes: each block takes a tile and the one across the diagonal
// through shared memory and writes each to the other's place.
//   in_place_tiles_vec16  16 bytes an access in global memory, for elements of 4, 8 and 16 bytes whose rows all begin on 16-byte boundaries
//   in_place_tiles        one element an access; any leading dimension, elements at any address
#include "kernels/transpose/tiles.cuh"

namespace gpumem::kernels {
namespace {

constexpr int kTile = static_cast<int>(kTransposePaddedTile);
constexpr int kRowsAtOnce = kTransposeThreads / kTile;

template <class T>
__global__ void __launch_bounds__(kTransposeThreads)
    swap_kernel(const TransposeParams params, int64_t across, int64_t per_matrix, int64_t all) {
  synchronize_and_trigger();
  __shared__ T upper[kTile][kTile + 1];
  __shared__ T lower[kTile][kTile + 1];
  const int lane = static_cast<int>(threadIdx.x) % kTile;
  const int first = static_cast<int>(threadIdx.x) / kTile;
  for (int64_t pair = blockIdx.x; pair < all; pair += gridDim.x) {
    const Quotient matrix(pair, per_matrix);
    const TilePair tiles(matrix.rest, across);
    if (tiles.col >= across) continue;  // the whole block: of an odd number of tiles
    auto* data = static_cast<T*>(params.dst) + matrix.quotient * params.dst_batch_stride;
    const int64_t row = tiles.row * kTile;
    const int64_t col = tiles.col * kTile;
    const bool diagonal = row == col;
    for (int r = first; r < kTile; r += kRowsAtOnce) {
      if (row + r < params.rows && col + lane < params.rows) {
        upper[r][lane] = data[(row + r) * params.dst_ld + col + lane];
      }
      if (!diagonal && col + r < params.rows && row + lane < params.rows) {
        lower[r][lane] = data[(col + r) * params.dst_ld + row + lane];
      }
    }
    __syncthreads();
    for (int r = first; r < kTile; r += kRowsAtOnce) {
      if (col + r < params.rows && row + lane < params.rows) {
        data[(col + r) * params.dst_ld + row + lane] = upper[lane][r];
      }
      if (!diagonal && row + r < params.rows && col + lane < params.rows) {
        data[(row + r) * params.dst_ld + col + lane] = lower[lane][r];
      }
    }
    __syncthreads();
  }
}

template <int kBytes>
__global__ void __launch_bounds__(kTransposeThreads)
    swap_words_kernel(const TransposeParams params, int64_t across, int64_t per_matrix, int64_t all) {
  synchronize_and_trigger();
  using T = WordTile<kBytes, false>;
  alignas(16) __shared__ typename T::Shared upper;
  alignas(16) __shared__ typename T::Shared lower;
  const T tile;
  for (int64_t pair = blockIdx.x; pair < all; pair += gridDim.x) {
    const Quotient matrix(pair, per_matrix);
    const TilePair tiles(matrix.rest, across);
    if (tiles.col >= across) continue;  // the whole block: of an odd number of tiles
    auto* data = static_cast<typename T::Element*>(params.dst) + matrix.quotient * params.dst_batch_stride;
    const int64_t row = tiles.row * T::kSide;
    const int64_t col = tiles.col * T::kSide;
    typename T::Word above[T::kPasses];
    typename T::Word below[T::kPasses];
    tile.load(data, params.dst_ld, params.rows, params.rows, row, col, above);
    if (row != col) tile.load(data, params.dst_ld, params.rows, params.rows, col, row, below);
    tile.keep(above, upper);
    if (row != col) tile.keep(below, lower);
    __syncthreads();
    tile.store(data, params.dst_ld, params.rows, params.rows, col, row, upper);
    if (row != col) tile.store(data, params.dst_ld, params.rows, params.rows, row, col, lower);
    __syncthreads();
  }
}

}  // namespace

LaunchResult transpose_in_place_tiles_vec16(const TransposeParams& params, const Config& config, const Launch& launch) {
  const auto swap = [&]<int kBytes>() {
    const int64_t across = tiles_along(params.rows, transpose_vec16_tile(kBytes));
    const int64_t per_matrix = transpose_tile_pairs(across);
    return enqueue_programmatic(swap_words_kernel<kBytes>, static_cast<unsigned>(config.grid), kTransposeThreads,
                                launch, params, across, per_matrix, per_matrix * params.batches);
  };
  if (params.element_bytes == 4) return swap.template operator()<4>();
  if (params.element_bytes == 8) return swap.template operator()<8>();
  if (params.element_bytes == 16) return swap.template operator()<16>();
  return cudaErrorInvalidValue;
}

LaunchResult transpose_in_place_tiles(const TransposeParams& params, const Config& config, const Launch& launch) {
  const int64_t across = tiles_along(params.rows, kTile);
  const int64_t per_matrix = transpose_tile_pairs(across);
  return for_size(params.element_bytes, [&]<int kBytes>() {
    return enqueue_programmatic(aligned(params.dst, kBytes) ? swap_kernel<WordOf<kBytes>> : swap_kernel<Bytes<kBytes>>,
                                static_cast<unsigned>(config.grid), kTransposeThreads, launch, params, across,
                                per_matrix, per_matrix * params.batches);
  });
}

}  // namespace gpumem::kernels
