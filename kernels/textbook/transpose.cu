// The textbook's transposes, to learn from.
// Moves: 2 * batches * rows * cols * element bytes, one element per thread.
// Access: naive reads along rows and writes down columns, so each write of a warp goes to 32 rows of dst.
//         shared goes through a 32 x 32 tile of shared memory and writes along rows, but each column of the tile is in one bank.
//         shared_padded adds a column to the tile, which spreads its columns over the banks.
// Shapes: elements at their natural alignment. With few rows or columns, most of a tile is empty.
// Reaches: 4 bytes, 16384 x 16384: H200 naive 464 GB/s, shared 913, shared_padded 1235; H100 477, 908 and 1207.
#include "kernels/transpose/tiles.cuh"

namespace gpumem::kernels {
namespace {

constexpr int kTile = 32;
static_assert(kTile * kTile == kTextbookThreads);

template <class T>
__global__ void __launch_bounds__(kTextbookThreads) naive_kernel(const TransposeParams params, const Tiles tiles) {
  for (int64_t tile = blockIdx.x; tile < tiles.all; tile += gridDim.x) {
    const TilePlace origin(tile, tiles, kTile, kTile);
    const auto* src = static_cast<const T*>(params.src) + origin.batch * params.src_batch_stride;
    auto* dst = static_cast<T*>(params.dst) + origin.batch * params.dst_batch_stride;
    const int64_t row = origin.row + threadIdx.x / kTile;
    const int64_t col = origin.col + threadIdx.x % kTile;
    if (row < params.rows && col < params.cols) dst[col * params.dst_ld + row] = src[row * params.src_ld + col];
  }
}

template <class T, int kPadding>
__global__ void __launch_bounds__(kTextbookThreads) shared_kernel(const TransposeParams params, const Tiles tiles) {
  __shared__ T shared[kTile][kTile + kPadding];
  const int x = static_cast<int>(threadIdx.x) % kTile;
  const int y = static_cast<int>(threadIdx.x) / kTile;
  for (int64_t tile = blockIdx.x; tile < tiles.all; tile += gridDim.x) {
    const TilePlace origin(tile, tiles, kTile, kTile);
    const auto* src = static_cast<const T*>(params.src) + origin.batch * params.src_batch_stride;
    auto* dst = static_cast<T*>(params.dst) + origin.batch * params.dst_batch_stride;
    if (origin.row + y < params.rows && origin.col + x < params.cols) {
      shared[y][x] = src[(origin.row + y) * params.src_ld + origin.col + x];
    }
    __syncthreads();
    if (origin.row + x < params.rows && origin.col + y < params.cols) {
      dst[(origin.col + y) * params.dst_ld + origin.row + x] = shared[x][y];
    }
    __syncthreads();
  }
}

template <class Kernel>
LaunchResult start_textbook(Kernel kernel, const TransposeParams& params, const Config& config, const Launch& launch) {
  return enqueue(kernel, static_cast<unsigned>(config.grid), kTextbookThreads, launch, params,
                 tiles_of(params, kTile, kTile));
}

}  // namespace

LaunchResult transpose_naive(const TransposeParams& params, const Config& config, const Launch& launch) {
  return for_size(params.element_bytes,
                  [&]<int kBytes>() { return start_textbook(naive_kernel<WordOf<kBytes>>, params, config, launch); });
}

LaunchResult transpose_shared(const TransposeParams& params, const Config& config, const Launch& launch) {
  return for_size(params.element_bytes, [&]<int kBytes>() {
    return start_textbook(shared_kernel<WordOf<kBytes>, 0>, params, config, launch);
  });
}

LaunchResult transpose_shared_padded(const TransposeParams& params, const Config& config, const Launch& launch) {
  return for_size(params.element_bytes, [&]<int kBytes>() {
    return start_textbook(shared_kernel<WordOf<kBytes>, 1>, params, config, launch);
  });
}

}  // namespace gpumem::kernels
