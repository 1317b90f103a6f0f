// Square transposes in place, 2 * batches * rows * rows * element bytes: each block takes a tile and the one across the diagonal
// through shared memory and writes each to the other's place. Any leading dimension; elements at any address.
#include "kernels/transpose/tiles.cuh"

namespace gpumem::kernels {
namespace {

constexpr int kTile = static_cast<int>(kTransposePaddedTile);
constexpr int kRowsAtOnce = kTransposeThreads / kTile;

template <class T>
__global__ void __launch_bounds__(kTransposeThreads)
    swap_kernel(const TransposeLaunch launch, int64_t across, int64_t per_matrix, int64_t all) {
  after_earlier_work();
  __shared__ T upper[kTile][kTile + 1];
  __shared__ T lower[kTile][kTile + 1];
  const int lane = static_cast<int>(threadIdx.x) % kTile;
  const int first = static_cast<int>(threadIdx.x) / kTile;
  for (int64_t pair = blockIdx.x; pair < all; pair += gridDim.x) {
    const Quotient matrix(pair, per_matrix);
    const TilePair tiles(matrix.rest, across);
    if (tiles.col >= across) continue;  // the whole block: of an odd number of tiles
    auto* data = static_cast<T*>(launch.dst) + matrix.quotient * launch.dst_batch_stride;
    const int64_t row = tiles.row * kTile;
    const int64_t col = tiles.col * kTile;
    const bool diagonal = row == col;
    for (int r = first; r < kTile; r += kRowsAtOnce) {
      if (row + r < launch.rows && col + lane < launch.rows) {
        upper[r][lane] = data[(row + r) * launch.dst_ld + col + lane];
      }
      if (!diagonal && col + r < launch.rows && row + lane < launch.rows) {
        lower[r][lane] = data[(col + r) * launch.dst_ld + row + lane];
      }
    }
    __syncthreads();
    for (int r = first; r < kTile; r += kRowsAtOnce) {
      if (col + r < launch.rows && row + lane < launch.rows) {
        data[(col + r) * launch.dst_ld + row + lane] = upper[lane][r];
      }
      if (!diagonal && row + r < launch.rows && col + lane < launch.rows) {
        data[(row + r) * launch.dst_ld + col + lane] = lower[lane][r];
      }
    }
    __syncthreads();
  }
}

}  // namespace

cudaError_t transpose_swap_tiles(int64_t element_bytes, const TransposeLaunch& launch, cudaStream_t stream) {
  const int64_t across = tiles_along(launch.rows, kTile);
  const int64_t per_matrix = transpose_tile_pairs(across);
  return for_size(element_bytes, [&]<int kBytes>() {
    const bool aligned = reinterpret_cast<uintptr_t>(launch.dst) % kBytes == 0;
    return start(aligned ? swap_kernel<Aligned<kBytes>> : swap_kernel<Bytes<kBytes>>, launch.grid, stream, launch,
                 across, per_matrix, per_matrix * launch.batches);
  });
}

}  // namespace gpumem::kernels
