// Transposes of matrices whose rows begin anywhere, elements of 4 and 8 bytes at their natural alignment: 2 * batches * rows *
// cols * element bytes. A tile is copied to shared memory element by element without going through registers, so that 2048 threads
// fit on a multiprocessor (through registers, with half as many, the same reads and writes took 249 us in place of 219). A row of
// dst is cut at boundaries of sectors of 32 bytes, each row at places of its own, so that what is written are whole sectors, 16
// bytes an access, but for the ends of the row; so a tile reads a sector's worth of rows more than it writes, which the
// neighbouring tile reads at about the same time. On an H200 10007 x 9973 elements of 4 bytes take 224 us, cudaMemcpyAsync 192,
// cuBLAS geam 229.
#include <cuda_pipeline_primitives.h>

#include "kernels/limits.hpp"
#include "kernels/transpose/tiles.cuh"

namespace gpumem::kernels {
namespace {

constexpr int kThreads = kTransposeThreads;
constexpr int kWarps = kThreads / 32;

template <int kBytes>
struct Realigned {
  using Element = WordOf<kBytes>;
  static constexpr int kVector = 16 / kBytes;
  static constexpr int kSector = static_cast<int>(realigned_sector(kBytes));
  static constexpr int kRows = static_cast<int>(realigned_rows(kBytes));
  static constexpr int kLoaded = kRows + kSector;
  static constexpr int kCols = static_cast<int>(realigned_cols(kBytes));
  static constexpr int kEights = (kRows / kVector + 7) / 8;  // a warp writes eight words of four rows at a time
  static_assert(kCols % 32 == 0 && kCols % 4 == 0 && kRows % kSector == 0);
};

template <int kBytes>
__global__ void __launch_bounds__(kThreads, resident_blocks(8, kThreads))
    realigned_kernel(const TransposeParams params, const Tiles tiles) {
  synchronize_and_trigger();
  using O = Realigned<kBytes>;
  using Element = typename O::Element;
  __shared__ Element shared[O::kLoaded][O::kCols + 1];
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  for (int64_t tile = blockIdx.x; tile < tiles.all; tile += gridDim.x) {
    const TilePlace origin(tile, tiles, O::kRows, O::kCols);
    const int64_t first = origin.row - O::kSector;
    // Of the tile's rows and columns those that are there, in 32 bits.
    const int row_begin = first < 0 ? O::kSector : 0;
    const int row_end = static_cast<int>(min(params.rows - first, int64_t{O::kLoaded}));
    const int cols = static_cast<int>(min(params.cols - origin.col, int64_t{O::kCols}));
    const auto* from = static_cast<const Element*>(params.src) + origin.batch * params.src_batch_stride +
                       (first + warp) * params.src_ld + origin.col + lane;
#pragma unroll
    for (int i = 0; i < (O::kLoaded + kWarps - 1) / kWarps; ++i, from += kWarps * params.src_ld) {
      const int r = warp + i * kWarps;
      if (r < row_begin || r >= row_end) continue;
#pragma unroll
      for (int c = 0; c < O::kCols; c += 32) {
        if (c + lane < cols) __pipeline_memcpy_async(&shared[r][c + lane], from + c, kBytes);
      }
    }
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    auto* dst =
        static_cast<Element*>(params.dst) + origin.batch * params.dst_batch_stride + origin.col * params.dst_ld + first;
#pragma unroll 4
    for (int unit = warp; unit < O::kCols / 4 * O::kEights; unit += kWarps) {
      const int c = unit / O::kEights * 4 + lane / 8;
      const int at = (unit % O::kEights * 8 + lane % 8) * O::kVector;
      if (at >= O::kRows || c >= cols) continue;
      Element* to = dst + c * params.dst_ld;
      // A sector's worth of rows precedes the tile's own: as far past a boundary as the first of them does the row begin.
      const auto past_sector = static_cast<int>(reinterpret_cast<uintptr_t>(to) / kBytes % O::kSector);
      const int row = O::kSector - past_sector + at;
      ElementWord<kBytes> out;
#pragma unroll
      for (int k = 0; k < O::kVector; ++k) out.element[k] = shared[row + k][c];
      if (row >= row_begin && row + O::kVector <= row_end) {
        __stcs(reinterpret_cast<uint4*>(to + row), out.word);
      } else {
#pragma unroll
        for (int k = 0; k < O::kVector; ++k) {
          if (row + k >= row_begin && row + k < row_end) to[row + k] = out.element[k];
        }
      }
    }
    __syncthreads();
  }
}

template <int kBytes>
LaunchResult launch_odd(const TransposeParams& params, const Config& config, const Launch& launch) {
  // A row of dst may reach into one more tile by what its first one is moved.
  TransposeParams moved = params;
  moved.rows += Realigned<kBytes>::kSector - 1;
  return enqueue_programmatic(realigned_kernel<kBytes>, static_cast<unsigned>(config.grid), kTransposeThreads, launch,
                              params, tiles_of(moved, Realigned<kBytes>::kRows, Realigned<kBytes>::kCols));
}

}  // namespace

LaunchResult transpose_tile_realigned(const TransposeParams& params, const Config& config, const Launch& launch) {
  if (params.element_bytes == 4) return launch_odd<4>(params, config, launch);
  if (params.element_bytes == 8) return launch_odd<8>(params, config, launch);
  return cudaErrorInvalidValue;
}

}  // namespace gpumem::kernels
