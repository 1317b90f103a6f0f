// Resizes of an image in global memory.
// Moves: writes every pixel of dst once. For each, it reads one (nearest) or four (bilinear) pixels of src through the
//         read-only cache, and neighbouring threads share its lines. A reduction by more than two skips much of src.
// Access: global: a thread makes resize_pixels() neighbouring pixels of up to kMaxRowsPerThread rows. It computes its
//         columns once, reads rows that two rows of dst share once, and writes whole words if dst is aligned for it.
//         bytes: one pixel per thread, byte by byte, for any address and pitch.
//         A launch makes the tiles of all images of a batch that are equal and at one distance. The kernels of a list
//         make the same tiles, of up to kResizeImages images.
// H200, f32 bilinear: 22.4 us for 512 planes of 56 x 56 to 112 x 112, 10.5 for 48 of 224 x 224 to 256 x 256, 1.8 for
// one of these (PyTorch: 114, 16.3 and 2.2).
#include "kernels/resize/resize.hpp"

#include <algorithm>

#include "kernels/enqueue.cuh"
#include "kernels/resize/batch.cuh"
#include "kernels/resize/tiles.cuh"
#include "kernels/words.cuh"

namespace gpumem::kernels {
namespace {

constexpr int kThreads = kResizeThreads;

constexpr int word_bytes(int bytes) { return std::min(bytes & -bytes, 16); }

__device__ inline bool aligned(const void* p, int bytes) {
  return (reinterpret_cast<uintptr_t>(p) & static_cast<unsigned>(bytes - 1)) == 0;
}

template <class T, int kChannels>
struct Pixel {
  T element[kChannels];
};

// kWhole: every pixel of src is aligned to its size, which is a power of two.
template <class T, int kChannels, bool kWhole>
__device__ inline Pixel<T, kChannels> read_pixel(const T* from) {
  if constexpr (kWhole) {
    constexpr int kBytes = kChannels * static_cast<int>(sizeof(T));
    union {
      WordOf<kBytes> word;
      Pixel<T, kChannels> pixel;
    } both;
    both.word = __ldg(reinterpret_cast<const WordOf<kBytes>*>(from));
    return both.pixel;
  } else {
    Pixel<T, kChannels> pixel;
#pragma unroll
    for (int c = 0; c < kChannels; ++c) pixel.element[c] = __ldg(from + c);
    return pixel;
  }
}

template <class T, int kChannels>
union Pixels {
  static constexpr int kCount = resize_pixels(kChannels, sizeof(T));
  static constexpr int kElements = kCount * kChannels;
  static constexpr int kWordBytes = word_bytes(kElements * static_cast<int>(sizeof(T)));
  static constexpr int kWords = kElements * static_cast<int>(sizeof(T)) / kWordBytes;
  using Word = WordOf<kWordBytes>;

  Word word[kWords];
  T element[kElements];
  Pixel<T, kChannels> pixel[kCount];
  __device__ Pixels() {}

  __device__ void write(T* to, int count) const {
    if (count == kCount && aligned(to, kWordBytes)) {
#pragma unroll
      for (int i = 0; i < kWords; ++i) reinterpret_cast<Word*>(to)[i] = word[i];
    } else {
#pragma unroll
      for (int i = 0; i < kElements; ++i) {
        if (i < count * kChannels) to[i] = element[i];
      }
    }
  }
};

__device__ inline int columns_left(const ResizeWork& work, int64_t col, int most) {
  const int64_t left = work.across.dst - col;
  return left < most ? static_cast<int>(left) : most;
}

template <class T>
__device__ inline const T* src_row(const ResizeWork& work, int64_t row) {
  return reinterpret_cast<const T*>(static_cast<const char*>(work.src) + row * work.src_pitch);
}
template <class T>
__device__ inline T* dst_row(const ResizeWork& work, int64_t row) {
  return reinterpret_cast<T*>(static_cast<char*>(work.dst) + row * work.dst_pitch);
}

template <class T, int kChannels, bool kWhole>
__device__ __forceinline__ void nearest_tile(const ResizeWork& work, const ResizeTiles& tiles, int64_t tile) {
  using Out = Pixels<T, kChannels>;
  const ResizePlace place(work, tiles, tile, Out::kCount);
  const int count = columns_left(work, place.col, Out::kCount);
  int64_t at[Out::kCount];
#pragma unroll
  for (int i = 0; i < Out::kCount; ++i) {
    at[i] = resize_nearest<64>(work.across, place.col + (i < count ? i : 0)) * kChannels;
  }
  synchronize_and_trigger();
  for (int64_t row = place.row; row < place.end; ++row) {
    const T* from = src_row<T>(work, resize_nearest<64>(work.down, row));
    Out out;
#pragma unroll
    for (int i = 0; i < Out::kCount; ++i) out.pixel[i] = read_pixel<T, kChannels, kWhole>(from + at[i]);
    out.write(dst_row<T>(work, row) + place.col * kChannels, count);
  }
}

// Images at one distance, as many as work.batches. f(work, tile): makes a tile of one image.
template <class F>
__device__ __forceinline__ void for_tiles(const EqualImages& images, const ResizeTiles& tiles, const F& f) {
  for (int64_t i = blockIdx.x; i < tiles.count * images.batches; i += gridDim.x) {
    const Quotient tile(i, tiles.count);
    f(images.work(tile.quotient), tile.rest);
  }
}

template <class T, int kChannels, bool kWhole>
__global__ void __launch_bounds__(kThreads)
    nearest_kernel(const __grid_constant__ EqualImages images, const __grid_constant__ ResizeTiles tiles) {
  for_tiles(images, tiles,
            [&](const ResizeWork& work, int64_t tile) { nearest_tile<T, kChannels, kWhole>(work, tiles, tile); });
}

template <class T, int kChannels, bool kWhole>
struct BlendedLines {
  using Blend = ResizeBlend<T>;
  using Line = typename Blend::Line;
  using Out = Pixels<T, kChannels>;

  int64_t at[Out::kCount];
  uint32_t weight[Out::kCount];
  int64_t upper_row = -1;
  int64_t lower_row = -1;
  Line upper[Out::kElements];
  Line lower[Out::kElements];

  __device__ BlendedLines(const ResizeWork& work, int64_t col, int count) {
#pragma unroll
    for (int i = 0; i < Out::kCount; ++i) {
      const ResizeTap tap = resize_tap<Blend::kAcross, 64>(work.across, col + (i < count ? i : 0));
      at[i] = tap.index * kChannels;
      weight[i] = tap.weight;
    }
  }

  // Rows of src come in order, so the new upper row may be the old lower row. Both rows are in flight before the first
  // is used.
  __device__ void move_to(const ResizeWork& work, const ResizeTap& tap) {
    if (tap.index != upper_row && tap.index == lower_row) {
#pragma unroll
      for (int i = 0; i < Out::kElements; ++i) upper[i] = lower[i];
      upper_row = lower_row;
    }
    const bool new_upper = tap.index != upper_row;
    const bool new_lower = tap.weight != 0 && tap.next() != lower_row;
    Neighbours of_upper, of_lower;
    if (new_upper) of_upper.read(*this, src_row<T>(work, tap.index));
    if (new_lower) of_lower.read(*this, src_row<T>(work, tap.next()));
    if (new_upper) {
      of_upper.blend(*this, upper);
      upper_row = tap.index;
    }
    if (new_lower) {
      of_lower.blend(*this, lower);
      lower_row = tap.next();
    }
  }

 private:
  // The pixels of a row of src on both sides of each pixel of dst.
  struct Neighbours {
    Pixel<T, kChannels> left[Out::kCount];
    Pixel<T, kChannels> right[Out::kCount];

    __device__ void read(const BlendedLines& of, const T* from) {
#pragma unroll
      for (int i = 0; i < Out::kCount; ++i) {
        left[i] = read_pixel<T, kChannels, kWhole>(from + of.at[i]);
        right[i] = read_pixel<T, kChannels, kWhole>(from + of.at[i] + (of.weight[i] != 0 ? kChannels : 0));
      }
    }
    __device__ void blend(const BlendedLines& of, Line (&line)[Out::kElements]) const {
#pragma unroll
      for (int i = 0; i < Out::kElements; ++i) {
        const int pixel = i / kChannels;
        const int c = i % kChannels;
        line[i] = Blend::across(left[pixel].element[c], right[pixel].element[c], of.weight[pixel]);
      }
    }
  };
};

template <class T, int kChannels, bool kWhole>
__device__ __forceinline__ void bilinear_tile(const ResizeWork& work, const ResizeTiles& tiles, int64_t tile) {
  using Out = Pixels<T, kChannels>;
  using Blend = ResizeBlend<T>;
  const ResizePlace place(work, tiles, tile, Out::kCount);
  const int count = columns_left(work, place.col, Out::kCount);
  BlendedLines<T, kChannels, kWhole> lines(work, place.col, count);
  synchronize_and_trigger();
  for (int64_t row = place.row; row < place.end; ++row) {
    const ResizeTap tap = resize_tap<Blend::kDown, 64>(work.down, row);
    lines.move_to(work, tap);
    Out out;
#pragma unroll
    for (int i = 0; i < Out::kElements; ++i) {
      const auto lower = tap.weight != 0 ? lines.lower[i] : lines.upper[i];
      out.element[i] = Blend::down(lines.upper[i], lower, tap.weight);
    }
    out.write(dst_row<T>(work, row) + place.col * kChannels, count);
  }
}

// With three blocks per multiprocessor, a thread has 80 registers and spills none.
template <class T, int kChannels, bool kWhole>
__global__ void __launch_bounds__(kThreads, 3)
    bilinear_kernel(const __grid_constant__ EqualImages images, const __grid_constant__ ResizeTiles tiles) {
  for_tiles(images, tiles,
            [&](const ResizeWork& work, int64_t tile) { bilinear_tile<T, kChannels, kWhole>(work, tiles, tile); });
}

template <class T>
__device__ inline T read_bytes(const unsigned char* from) {
  Bytes<sizeof(T)> in;
#pragma unroll
  for (int i = 0; i < static_cast<int>(sizeof(T)); ++i) in.bytes[i] = __ldg(from + i);
  return std::bit_cast<T>(in);
}

template <class T>
__device__ __forceinline__ void bytes_tile(const ResizeWork& work, const ResizeTiles& tiles, int64_t tile) {
  using Blend = ResizeBlend<T>;
  const int64_t pixel = int64_t{work.channels} * static_cast<int64_t>(sizeof(T));
  const ResizePlace place(work, tiles, tile, 1);
  synchronize_and_trigger();
  for (int64_t row = place.row; row < place.end; ++row) {
    auto* to = dst_row<unsigned char>(work, row) + place.col * pixel;
    if (work.filter == GPUMEM_FILTER_NEAREST) {
      const auto* from =
          src_row<unsigned char>(work, resize_nearest(work.down, row)) + resize_nearest(work.across, place.col) * pixel;
      for (int64_t i = 0; i < pixel; ++i) to[i] = __ldg(from + i);
      continue;
    }
    const ResizeTap down = resize_tap<Blend::kDown>(work.down, row);
    const ResizeTap across = resize_tap<Blend::kAcross>(work.across, place.col);
    const auto* upper = src_row<unsigned char>(work, down.index) + across.index * pixel;
    const auto* lower = src_row<unsigned char>(work, down.next()) + across.index * pixel;
    const int64_t step = across.weight != 0 ? pixel : 0;
    for (int64_t at = 0; at < pixel; at += static_cast<int64_t>(sizeof(T))) {
      const auto a = Blend::across(read_bytes<T>(upper + at), read_bytes<T>(upper + step + at), across.weight);
      const auto b = Blend::across(read_bytes<T>(lower + at), read_bytes<T>(lower + step + at), across.weight);
      Bytewise::store(reinterpret_cast<T*>(to + at), Blend::down(a, b, down.weight));
    }
  }
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    bytes_kernel(const __grid_constant__ EqualImages images, const __grid_constant__ ResizeTiles tiles) {
  for_tiles(images, tiles, [&](const ResizeWork& work, int64_t tile) { bytes_tile<T>(work, tiles, tile); });
}

// The same for the listed images of a batch.
template <class F>
__device__ __forceinline__ void for_tiles(const ResizeWork& batch, const ResizeTiles& tiles, const ResizeImages& images,
                                          const F& f) {
  for (int64_t i = blockIdx.x; i < tiles.count * images.count; i += gridDim.x) {
    const Quotient tile(i, tiles.count);
    f(images.work(batch, tile.quotient), tile.rest);
  }
}

template <class T, int kChannels>
__global__ void __launch_bounds__(kThreads)
    nearest_list(const __grid_constant__ ResizeWork batch, const __grid_constant__ ResizeTiles tiles,
                 const __grid_constant__ ResizeImages images) {
  for_tiles(batch, tiles, images,
            [&](const ResizeWork& work, int64_t tile) { nearest_tile<T, kChannels, false>(work, tiles, tile); });
}

template <class T, int kChannels>
__global__ void __launch_bounds__(kThreads, 3)
    bilinear_list(const __grid_constant__ ResizeWork batch, const __grid_constant__ ResizeTiles tiles,
                  const __grid_constant__ ResizeImages images) {
  for_tiles(batch, tiles, images,
            [&](const ResizeWork& work, int64_t tile) { bilinear_tile<T, kChannels, false>(work, tiles, tile); });
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    bytes_list(const __grid_constant__ ResizeWork batch, const __grid_constant__ ResizeTiles tiles,
               const __grid_constant__ ResizeImages images) {
  for_tiles(batch, tiles, images, [&](const ResizeWork& work, int64_t tile) { bytes_tile<T>(work, tiles, tile); });
}

using Kernel = void (*)(EqualImages, ResizeTiles);
using ListKernel = void (*)(ResizeWork, ResizeTiles, ResizeImages);
static_assert(sizeof(ResizeWork) + sizeof(ResizeTiles) + sizeof(ResizeImages) <= 4096);

// src_stride: resize_src_stride()
LaunchResult start(Kernel kernel, int64_t src_stride, const ResizeParams& params, const Config& config,
                   const Launch& launch) {
  const EqualImages images{resize_work(params, config), src_stride};
  return enqueue_programmatic(kernel, static_cast<unsigned>(config.grid), kThreads, launch, images,
                              config.own.get<ResizeTiles>());
}

LaunchResult start_list(ListKernel kernel, const ResizeParams& params, const Config& config, const Launch& launch) {
  const auto tiles = config.own.get<ResizeTiles>();
  return resize_in_launches(params, config, [&](const ResizeWork& work, const ResizeImages& images) {
    return enqueue_programmatic(kernel, resize_batch_grid(images, tiles.count), kThreads, launch, work, tiles, images);
  });
}

template <class T, int kChannels>
Kernel global_kernel(const ResizeParams& params, int64_t src_stride) {
  constexpr int kBytes = kChannels * static_cast<int>(sizeof(T));
  const bool nearest = params.filter == GPUMEM_FILTER_NEAREST;
  if constexpr (kChannels == 2 || kChannels == 4) {
    if ((reinterpret_cast<uintptr_t>(params.src) | static_cast<uint64_t>(params.src_pitch | src_stride)) % kBytes ==
        0) {
      return nearest ? nearest_kernel<T, kChannels, true> : bilinear_kernel<T, kChannels, true>;
    }
  }
  return nearest ? nearest_kernel<T, kChannels, false> : bilinear_kernel<T, kChannels, false>;
}

}  // namespace

LaunchResult resize_global(const ResizeParams& params, const Config& config, const Launch& launch) {
  const int64_t src_stride = resize_src_stride(params);
  return for_pixel_type(params.dtype, [&]<class T>() {
    return for_channels(params.channels, [&]<int kChannels>() {
      if (src_stride < 0) {
        const bool nearest = params.filter == GPUMEM_FILTER_NEAREST;
        return start_list(nearest ? nearest_list<T, kChannels> : bilinear_list<T, kChannels>, params, config, launch);
      }
      return start(global_kernel<T, kChannels>(params, src_stride), src_stride, params, config, launch);
    });
  });
}

LaunchResult resize_bytes(const ResizeParams& params, const Config& config, const Launch& launch) {
  const int64_t src_stride = resize_src_stride(params);
  return for_pixel_type(params.dtype, [&]<class T>() {
    return src_stride < 0 ? start_list(bytes_list<T>, params, config, launch)
                          : start(bytes_kernel<T>, src_stride, params, config, launch);
  });
}

LaunchResult resize_preload() { return preload(bytes_kernel<uint8_t>); }

}  // namespace gpumem::kernels
