// Resizes of images of bytes by 4-byte words.
// Moves: writes every pixel of dst once, and reads the words around its one or four pixels of src through L1.
// Access: neighbouring lanes make neighbouring pixels, so that a warp's load touches few lines. A block makes a tile of
//         dst that is one warp's pixels wide. It computes the taps of the tile's columns and rows once, into shared
//         memory. A warp walks down some rows and keeps the rows of src that two rows of dst share.
//         The kernel of a batch does the same for up to kResizeImages images.
// Shapes: rows of 32 pixels or more. dst is written by words if it is aligned to them, otherwise by bytes.
#include "kernels/resize/words.cuh"

#include "kernels/resize/batch.cuh"

namespace gpumem::kernels {
namespace {

constexpr int kThreads = kResizeThreads;

template <int kChannels>
__device__ inline void join_pixels(const uint32_t (&pixel)[WordsCells<kChannels>::kWindows],
                                   uint32_t (&bytes)[WordsCells<kChannels>::kCount]) {
#pragma unroll
  for (int k = 0; k < WordsCells<kChannels>::kCount; ++k) {
    if constexpr (kChannels == 1) {
      bytes[k] = gather_bytes<0>(pixel[4 * k], pixel[4 * k + 1], pixel[4 * k + 2], pixel[4 * k + 3]);
    } else if constexpr (kChannels == 2) {
      bytes[k] = __byte_perm(pixel[2 * k], pixel[2 * k + 1], 0x5410);
    } else {
      bytes[k] = pixel[k];
    }
  }
}

template <int kChannels, int kAlign, bool kTuned>
__device__ __forceinline__ void nearest_tile(const ResizeWork& work, const WordsTiles& tiles, uint32_t tile,
                                             WordsTaps<kChannels>& taps) {
  using Cell = WordsCells<kChannels>;
  using Row = WordsRow<kChannels, kChannels, kAlign, kTuned>;
  const ResizeWords& src = tiles.src;
  const WordsPlace place(work, tiles, tile, Cell::kCols);
  taps.fill(work, tiles, place.first_col, place.first_row);
  __syncthreads();
  ColumnTap column[Cell::kWindows];
#pragma unroll
  for (int i = 0; i < Cell::kWindows; ++i) column[i] = taps.of_window(i);
  const WordsOut<kChannels, kTuned> out(work, tiles, taps);
  uint32_t bytes[Cell::kCount];
  for (int i = place.begin; i < place.end; ++i) {
    const RowTap tap = taps.row[i];
    if (tap.weight != 0) {
      uint32_t pixel[Cell::kWindows];
      if ((tap.weight & kAtEnd) == 0) {
        Row row;
        row.read(src, tap.even, column);
#pragma unroll
        for (int w = 0; w < Cell::kWindows; ++w) {
          pixel[w] = row.window[w].part(0, bits_of<kTuned>(tap.even, column[w]));
        }
      } else {
#pragma unroll
        for (int w = 0; w < Cell::kWindows; ++w) {
          typename Row::Window window;
          window.read_at_end(src, (tap.even + column[w].at) & ~3u, taps.ends);
          pixel[w] = window.part(0, bits_of<false>(tap.even, column[w]));
        }
      }
      join_pixels<kChannels>(pixel, bytes);
    }
    out.write(tap.to, bytes);
  }
  __syncthreads();
}

template <int kChannels>
struct WordsLine {
  using Cell = WordsCells<kChannels>;

  uint32_t value[Cell::kWindows * kChannels];

  // One product of two neighbouring bytes of a channel and their two weights: ResizeBlend::across().
  template <class Window>
  __device__ void blend(const Window& window, int i, uint32_t bits, uint32_t weights) {
    const uint32_t low = window.part(0, bits);
    uint32_t* const to = value + i * kChannels;
    if constexpr (kChannels == 1) {
      to[0] = __dp2a_lo(weights, low, 0u);
    } else if constexpr (kChannels == 2) {
      const uint32_t pairs = __byte_perm(low, 0, 0x3120);
      to[0] = __dp2a_lo(weights, pairs, 0u);
      to[1] = __dp2a_hi(weights, pairs, 0u);
    } else {
      const uint32_t high = window.part(1, bits);
      const uint32_t pairs = __byte_perm(low, high, kChannels == 3 ? 0x4130 : 0x5140);
      const uint32_t rest = __byte_perm(low, high, kChannels == 3 ? 0x0052 : 0x7362);
      to[0] = __dp2a_lo(weights, pairs, 0u);
      to[1] = __dp2a_hi(weights, pairs, 0u);
      to[2] = __dp2a_lo(weights, rest, 0u);
      if constexpr (kChannels == 4) to[3] = __dp2a_hi(weights, rest, 0u);
    }
  }

  template <class Row>
  __device__ void blend(const Row& from, uint32_t row, const ColumnTap (&column)[Cell::kWindows]) {
#pragma unroll
    for (int i = 0; i < Cell::kWindows; ++i) {
      blend(from.window[i], i, bits_of<Row::kSame>(row, column[i]), column[i].weights);
    }
  }

  template <class Window>
  __device__ void blend_at_end(const ResizeWords& src, uint32_t row, const ColumnTap (&column)[Cell::kWindows],
                               const uint32_t (&ends)[2]) {
#pragma unroll
    for (int i = 0; i < Cell::kWindows; ++i) {
      Window window;
      window.read_at_end(src, (row + column[i].at) & ~3u, ends);
      blend(window, i, bits_of<false>(row, column[i]), column[i].weights);
    }
  }
};

// The bytes of one cell between two lines: ResizeBlend::down(), whose result is the highest byte.
template <int kChannels>
__device__ inline uint32_t cell_between(const WordsLine<kChannels>& even, const WordsLine<kChannels>& odd, int k,
                                        uint32_t even_weight) {
  constexpr int kCount = WordsCells<kChannels>::kPixels * kChannels;
  const uint32_t odd_weight = (1u << ResizeBlend<uint8_t>::kDown) - even_weight;
  uint32_t sum[kCount];
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    const int at = k * kCount + i;
    sum[i] = even.value[at] * even_weight + (odd.value[at] * odd_weight + (1u << 23));
  }
  if constexpr (kCount == 3) {
    return __byte_perm(__byte_perm(sum[0], sum[1], 0x0073), sum[2], 0x0710);
  } else {
    return gather_bytes<3>(sum[0], sum[1], sum[2], sum[3]);
  }
}

template <int kChannels, int kAlign, bool kTuned>
__device__ __forceinline__ void bilinear_tile(const ResizeWork& work, const WordsTiles& tiles, uint32_t tile,
                                              WordsTaps<kChannels>& taps) {
  using Cell = WordsCells<kChannels>;
  using Row = WordsRow<kChannels, 2 * kChannels, kAlign, kTuned>;
  const ResizeWords& src = tiles.src;
  const WordsPlace place(work, tiles, tile, Cell::kCols);
  taps.fill(work, tiles, place.first_col, place.first_row);
  __syncthreads();
  ColumnTap column[Cell::kWindows];
#pragma unroll
  for (int i = 0; i < Cell::kWindows; ++i) column[i] = taps.of_window(i);
  const WordsOut<kChannels, kTuned> out(work, tiles, taps);
  WordsLine<kChannels> even{};
  WordsLine<kChannels> odd{};
  for (int i = place.begin; i < place.end; ++i) {
    const RowTap tap = taps.row[i];
    const bool new_even = (tap.weight & kNewEven) != 0;
    const bool new_odd = (tap.weight & kNewOdd) != 0;
    if ((tap.weight & kAtEnd) != 0) {
      if (new_even) even.template blend_at_end<typename Row::Window>(src, tap.even, column, taps.ends);
      if (new_odd) odd.template blend_at_end<typename Row::Window>(src, tap.odd, column, taps.ends);
    } else if (new_even || new_odd) {
      Row rows[2];
      if (new_even && new_odd) {  // both are in flight before the first is used
        rows[0].read(src, tap.even, column);
        rows[1].read(src, tap.odd, column);
        even.blend(rows[0], tap.even, column);
        odd.blend(rows[1], tap.odd, column);
      } else if (new_even) {
        rows[0].read(src, tap.even, column);
        even.blend(rows[0], tap.even, column);
      } else {
        rows[1].read(src, tap.odd, column);
        odd.blend(rows[1], tap.odd, column);
      }
    }
    uint32_t bytes[Cell::kCount];
#pragma unroll
    for (int k = 0; k < Cell::kCount; ++k) bytes[k] = cell_between<kChannels>(even, odd, k, tap.weight & kWeight);
    out.write(tap.to, bytes);
  }
  __syncthreads();
}

template <int kChannels, int kAlign, bool kTuned>
__global__ void __launch_bounds__(kThreads, 4)
    nearest_words(const __grid_constant__ ResizeWork work, const __grid_constant__ WordsTiles tiles) {
  __shared__ WordsTaps<kChannels> taps;
  for (uint32_t tile = blockIdx.x; tile < tiles.count; tile += gridDim.x) {
    nearest_tile<kChannels, kAlign, kTuned>(work, tiles, tile, taps);
  }
}

// With four blocks per multiprocessor, a thread has 64 registers; with three, 80.
constexpr int blocks_for(int channels, int align) { return channels == 1 || (channels == 4 && align == 1) ? 3 : 4; }

template <int kChannels, int kAlign, bool kTuned>
__global__ void __launch_bounds__(kThreads, blocks_for(kChannels, kAlign))
    bilinear_words(const __grid_constant__ ResizeWork work, const __grid_constant__ WordsTiles tiles) {
  __shared__ WordsTaps<kChannels> taps;
  for (uint32_t tile = blockIdx.x; tile < tiles.count; tile += gridDim.x) {
    bilinear_tile<kChannels, kAlign, kTuned>(work, tiles, tile, taps);
  }
}

// The images of a batch, at any address and pitch. `tiles` describes the tiles of the first image.
template <int kChannels, bool kNearest>
__global__ void __launch_bounds__(kThreads, 3)
    batch_words(const __grid_constant__ ResizeWork batch, const __grid_constant__ WordsTiles tiles,
                const __grid_constant__ ResizeImages images) {
  __shared__ WordsTaps<kChannels> taps;
  const auto all = tiles.count * static_cast<uint32_t>(images.count);
  for (uint32_t tile = blockIdx.x; tile < all; tile += gridDim.x) {
    const uint32_t k = tile / tiles.count;
    const ResizeWork work = images.work(batch, k);
    WordsTiles own = tiles;
    own.rows.src = work.down.src;
    own.cols.src = work.across.src;
    own.set_src(work);
    if constexpr (kNearest) {
      nearest_tile<kChannels, 1, false>(work, own, tile - k * tiles.count, taps);
    } else {
      bilinear_tile<kChannels, 1, false>(work, own, tile - k * tiles.count, taps);
    }
  }
}

using Kernel = void (*)(ResizeWork, WordsTiles);
using BatchKernel = void (*)(ResizeWork, WordsTiles, ResizeImages);
static_assert(sizeof(ResizeWork) + sizeof(WordsTiles) + sizeof(ResizeImages) <= 4096);

template <int kChannels, int kAlign>
Kernel kernel_of(const ResizeWork& work, bool tuned) {
  if (work.filter == GPUMEM_FILTER_NEAREST) {
    return tuned ? nearest_words<kChannels, kAlign, true> : nearest_words<kChannels, kAlign, false>;
  }
  return tuned ? bilinear_words<kChannels, kAlign, true> : bilinear_words<kChannels, kAlign, false>;
}

bool in_words(const void* image, int64_t pitch) {
  return reinterpret_cast<uintptr_t>(image) % 4 == 0 && pitch % 4 == 0;
}

Kernel kernel_of(const ResizeWork& work, bool dst_words) {
  const bool tuned = dst_words && work.src_pitch % 4 == 0;
  if (work.channels == 4 && in_words(work.src, work.src_pitch)) return kernel_of<4, 4>(work, tuned);
  return for_channels(work.channels, [&]<int kChannels>() { return kernel_of<kChannels, 1>(work, tuned); });
}

WordsTiles tiles_of(const ResizeWork& work) {
  const int64_t across = ceil_div(work.across.dst, int64_t{32} * resize_words_pixels(work.channels));
  const int64_t down = ceil_div(work.down.dst, kResizeWarps * work.rows_per_thread);
  WordsTiles tiles{static_cast<uint32_t>(across * down),
                   Divisor<uint32_t>(static_cast<uint32_t>(across)),
                   work.down,
                   work.across,
                   ResizeWords(),
                   ResizeInside(),
                   in_words(work.dst, work.dst_pitch)};
  tiles.set_src(work);
  return tiles;
}

}  // namespace

LaunchResult resize_words(const ResizeParams& params, const Config& config, const Launch& launch) {
  if (params.dtype != GPUMEM_U8 || params.channels < 1 || params.channels > 4) return cudaErrorInvalidValue;
  if (params.batches > 1) {
    const BatchKernel kernel = for_channels(params.channels, [&]<int kChannels>() -> BatchKernel {
      return params.filter == GPUMEM_FILTER_NEAREST ? batch_words<kChannels, true> : batch_words<kChannels, false>;
    });
    return resize_in_launches(params, config, [&](const ResizeWork& work, const ResizeImages& images) {
      WordsTiles tiles = tiles_of(work);
      tiles.dst_words = tiles.dst_words && work.dst_image_stride % 4 == 0;
      return enqueue_programmatic(kernel, resize_batch_grid(images, tiles.count), kThreads, launch, work, tiles,
                                  images);
    });
  }
  const ResizeWork work = resize_work(params, config);
  const WordsTiles tiles = tiles_of(work);
  return enqueue_programmatic(kernel_of(work, tiles.dst_words), static_cast<unsigned>(config.grid), kThreads, launch,
                              work, tiles);
}

}  // namespace gpumem::kernels
