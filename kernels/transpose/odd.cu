// Transposes of matrices whose rows begin anywhere, elements of 4, 8 and 16 bytes at their natural alignment: 2 * batches * rows *
// cols * element bytes, and a sector of 32 bytes more for each 512 bytes that are read. A row of dst is cut where it crosses a
// boundary of 512 bytes' worth of sectors, each row at places of its own, so that what a warp writes are whole sectors but for the
// ends of the row. A thread has all of its loads in flight at once.
#include "kernels/transpose/tiles.cuh"

namespace gpumem::kernels {
namespace {

constexpr int kCols = static_cast<int>(kTransposeOddCols);
constexpr int kWarps = kTransposeThreads / kCols;

template <int kBytes>
__global__ void __launch_bounds__(kTransposeThreads) odd_kernel(const TransposeLaunch launch, const Tiles tiles) {
  using Element = Aligned<kBytes>;
  constexpr int kRows = static_cast<int>(transpose_odd_rows(kBytes));
  constexpr int kSector = static_cast<int>(transpose_odd_sector(kBytes));
  constexpr int kLoaded = kRows + kSector;  // of these the first is not used
  constexpr int kLoads = (kLoaded + kWarps - 1) / kWarps;
  __shared__ Element shared[kCols][kLoaded + 1];
  const int lane = static_cast<int>(threadIdx.x) % kCols;
  const int warp = static_cast<int>(threadIdx.x) / kCols;
  for (int64_t tile = blockIdx.x; tile < tiles.all; tile += gridDim.x) {
    const TilePlace origin(tile, tiles, kRows, kCols);
    const auto* src = static_cast<const Element*>(launch.src) + origin.batch * launch.src_batch_stride;
    auto* dst = static_cast<Element*>(launch.dst) + origin.batch * launch.dst_batch_stride;
    const int64_t first = origin.row - kSector;
    const int64_t col = origin.col + lane;
    Element in[kLoads];
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      const int64_t row = first + warp + i * kWarps;
      const bool there = row >= 0 && row < launch.rows && warp + i * kWarps < kLoaded && col < launch.cols;
      if (there) in[i] = src[row * launch.src_ld + col];
    }
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      if (warp + i * kWarps < kLoaded) shared[lane][warp + i * kWarps] = in[i];
    }
    __syncthreads();
    for (int c = warp; c < kCols && origin.col + c < launch.cols; c += kWarps) {
      Element* to = dst + (origin.col + c) * launch.dst_ld;
      const auto past_boundary = static_cast<int>(reinterpret_cast<uintptr_t>(to) / kBytes % kSector);
      const int64_t begin = origin.row - past_boundary;
#pragma unroll
      for (int at = lane; at < kRows; at += kCols) {
        const int64_t row = begin + at;
        if (row >= 0 && row < launch.rows) to[row] = shared[c][kSector - past_boundary + at];
      }
    }
    __syncthreads();
  }
}

}  // namespace

cudaError_t transpose_odd(int64_t element_bytes, const TransposeLaunch& launch, cudaStream_t stream) {
  return for_size(element_bytes, [&]<int kBytes>() {
    if constexpr (kBytes < 4) {
      return cudaErrorInvalidValue;
    } else {
      // A row of dst may reach into one more tile by what its first one is moved.
      TransposeLaunch moved = launch;
      moved.rows += transpose_odd_sector(kBytes) - 1;
      return start(odd_kernel<kBytes>, launch.grid, stream, launch,
                   tiles_of(moved, transpose_odd_rows(kBytes), kTransposeOddCols));
    }
  });
}

}  // namespace gpumem::kernels
