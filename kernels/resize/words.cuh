// The parts of the kernels of kernels/resize/words.cu: the taps of a tile, the words of src, the words of dst.
#pragma once

#include "kernels/enqueue.cuh"
#include "kernels/resize/resize.hpp"
#include "kernels/resize/tiles.cuh"
#include "kernels/resize/window.cuh"

namespace gpumem::kernels {

struct WordsTiles {
  uint32_t count;
  Divisor<uint32_t> across;  // tiles per row
  ResizeAxis rows;
  ResizeAxis cols;
  ResizeWords src;
  ResizeInside inside;
  bool dst_words;  // every row of dst begins at a word

  __host__ __device__ void set_src(const ResizeWork& work) {
    constexpr int32_t kMostWindowBytes = 12;  // two pixels of 4 bytes at any address
    const int32_t row_bytes = static_cast<int32_t>(work.across.src) * work.channels;
    src = ResizeWords(work.src, (work.down.src - 1) * work.src_pitch + row_bytes);
    inside = ResizeInside(src, row_bytes, kMostWindowBytes);
  }
};

// A lane's cells of a row, 32 lanes apart. A cell is the pixels of a word of dst, or one pixel of 3 bytes.
template <int kChannels>
struct WordsCells {
  static constexpr int kPixels = kChannels == 1 ? 4 : kChannels == 2 ? 2 : 1;
  static constexpr int kCount = resize_words_pixels(kChannels) / kPixels;
  static constexpr int kWindows = kCount * kPixels;
  static constexpr int kStep = 32 * kPixels;  // pixels between cells
  static constexpr int kCols = kStep * kCount;
};

// Taps as byte offsets: of a pixel from the first whole word of src in the first row, and of a row.
struct ColumnTap {
  uint32_t at;
  uint32_t weights;  // of this pixel in the low half, of the next one in the high half
};
struct RowTap {
  uint32_t even;  // the even one of the two rows of src; kNoRow if its weight is 0
  uint32_t odd;
  uint32_t weight;  // of the even row, and kNew... bits
  uint32_t to;      // in dst
};
constexpr uint32_t kNoRow = 0xffffffffu;
constexpr uint32_t kNewEven = 1u << 16;  // the previous row of dst of the same warp did not read it
constexpr uint32_t kNewOdd = 2u << 16;
constexpr uint32_t kAtEnd = 4u << 16;  // a word of a new row reaches beyond an end of src
constexpr uint32_t kWeight = kNewEven - 1;

// A lane's constants for writing, kept in shared memory instead of computed per row.
struct LaneOut {
  uint32_t at;  // offset in a row of dst of the word that the lane writes for its first cell
  uint32_t
      order;  // __byte_perm() selector that joins 3 bytes and the next lane's to a word; 0 in the lane that writes none
  int32_t left;   // pixels from the lane's first one on
  int32_t whole;  // whether all cells of the tile are pixels
};

template <int kChannels>
struct WordsTaps {
  using Cell = WordsCells<kChannels>;

  ColumnTap column[Cell::kCols];
  RowTap row[kResizeWarps * kMaxResizeRows];
  uint32_t ends[2];  // the first and the last word of src
  LaneOut lane[32];

  // Touches no image memory, so it may run before earlier work is done.
  __device__ void fill(const ResizeWork& work, const WordsTiles& tiles, uint32_t first_col, uint32_t first_row) {
    const int count = Cell::kCols + kResizeWarps * static_cast<int>(work.rows_per_thread);
    for (int i = static_cast<int>(threadIdx.x); i < count; i += kResizeThreads) {
      if (i < Cell::kCols) {
        column[i] = column_tap(work, tiles.cols, tiles.src, first_col + static_cast<uint32_t>(i));
      } else {
        row[i - Cell::kCols] = row_tap(work, tiles, first_row + static_cast<uint32_t>(i - Cell::kCols));
      }
    }
    if (threadIdx.x < 32) lane[threadIdx.x] = lane_out(tiles, first_col, threadIdx.x);
    synchronize_and_trigger();
    if (threadIdx.x == 0) ends[0] = tiles.src.first_word();
    if (threadIdx.x == kResizeThreads - 1) ends[1] = tiles.src.last_word();
  }

  __device__ const ColumnTap& of_window(int i) const {
    const int lane = static_cast<int>(threadIdx.x % 32);
    return column[i / Cell::kPixels * Cell::kStep + lane * Cell::kPixels + i % Cell::kPixels];
  }

 private:
  // Of four lanes, lanes 0 to 2 write the three words of four pixels of 3 bytes.
  __device__ static LaneOut lane_out(const WordsTiles& tiles, uint32_t first_col, uint32_t lane) {
    constexpr bool kThree = kChannels == 3;
    const uint32_t of_four = lane % 4;
    const uint32_t col = first_col + lane * Cell::kPixels;
    const auto left = static_cast<int32_t>(tiles.cols.dst) - static_cast<int32_t>(col);
    const int32_t of_tile = static_cast<int32_t>(tiles.cols.dst) - static_cast<int32_t>(first_col);
    const uint32_t order = of_four == 0 ? 0x4210 : of_four == 1 ? 0x5421 : of_four == 2 ? 0x6542 : 0;
    return {col * kChannels + (kThree ? of_four : 0), kThree ? order : 1, left, of_tile >= Cell::kCols ? 1 : 0};
  }

  // Beyond the last column or row, the last one's tap.
  __device__ static ColumnTap column_tap(const ResizeWork& work, const ResizeAxis& cols, const ResizeWords& src,
                                         uint32_t i) {
    const uint32_t col = min(i, static_cast<uint32_t>(cols.dst) - 1);
    const auto first = static_cast<uint32_t>(src.first);
    if (work.filter == GPUMEM_FILTER_NEAREST) {
      return {first + static_cast<uint32_t>(resize_nearest<32>(cols, col)) * kChannels, 0};
    }
    constexpr int kBits = ResizeBlend<uint8_t>::kAcross;
    const ResizeTap tap = resize_tap<kBits, 32>(cols, col);
    return {first + static_cast<uint32_t>(tap.index) * kChannels, ((1u << kBits) - tap.weight) | tap.weight << 16};
  }
  __device__ static RowTap row_tap(const ResizeWork& work, const WordsTiles& tiles, uint32_t i) {
    const uint32_t row = min(i, static_cast<uint32_t>(tiles.rows.dst) - 1);
    RowTap tap = rows_of(work, tiles, row);
    RowTap above{kNoRow, kNoRow, 0, 0};
    if (row % static_cast<uint32_t>(work.rows_per_thread) != 0) above = rows_of(work, tiles, row - 1);
    tap.to = row * static_cast<uint32_t>(work.dst_pitch);
    const auto note = [&](uint32_t from, uint32_t before, uint32_t is_new) {
      if (from == kNoRow || from == before) return;
      tap.weight |= is_new | (tiles.inside.has(from) ? 0 : kAtEnd);
    };
    note(tap.even, above.even, kNewEven);
    note(tap.odd, above.odd, kNewOdd);
    return tap;
  }
  __device__ static RowTap rows_of(const ResizeWork& work, const WordsTiles& tiles, uint32_t row) {
    const auto pitch = static_cast<uint32_t>(work.src_pitch);
    if (work.filter == GPUMEM_FILTER_NEAREST) {
      return {static_cast<uint32_t>(resize_nearest<32>(tiles.rows, row)) * pitch, kNoRow, 0, 0};
    }
    constexpr int kBits = ResizeBlend<uint8_t>::kDown;
    const ResizeTap tap = resize_tap<kBits, 32>(tiles.rows, row);
    const uint32_t upper = static_cast<uint32_t>(tap.index) * pitch;
    const uint32_t lower = tap.weight != 0 ? upper + pitch : kNoRow;
    if (tap.index % 2 == 0) return {upper, lower, (1u << kBits) - tap.weight, 0};
    return {lower, upper, tap.weight, 0};
  }
};

template <int kByte>
__device__ inline uint32_t gather_bytes(uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  constexpr unsigned kPair = kByte | (kByte + 4) << 4;
  return __byte_perm(__byte_perm(a, b, kPair), __byte_perm(c, d, kPair), 0x5410);
}

// The bytes of a row of src that a lane reads. kSteady: every row has the same misalignment as the first.
template <int kChannels, int kBytes, int kAlign, bool kSteady>
struct WordsRow {
  using Cell = WordsCells<kChannels>;
  using Window = ResizeWindow<kBytes, kAlign>;
  static constexpr bool kSame = kSteady;

  Window window[Cell::kWindows];

  __device__ void read(const ResizeWords& src, uint32_t row, const ColumnTap (&column)[Cell::kWindows]) {
    const unsigned char* const from = src.base + row;
#pragma unroll
    for (int i = 0; i < Cell::kWindows; ++i) {
      window[i].read(kSteady ? from + (column[i].at & ~3u) : src.base + ((row + column[i].at) & ~3u));
    }
  }
};

// 8 times the offset of a pixel. Its lowest five bits give the pixel's place in a word.
template <bool kSteady>
__device__ inline uint32_t bits_of(uint32_t row, const ColumnTap& column) {
  return (kSteady ? column.at : row + column.at) * 8;
}

// The destination of a lane's cells. kWords: dst is written by words. Otherwise it is decided at run time.
template <int kChannels, bool kWords>
struct WordsOut {
  using Cell = WordsCells<kChannels>;

  unsigned char* dst;
  LaneOut lane;
  bool words;

  __device__ WordsOut(const ResizeWork& work, const WordsTiles& tiles, const WordsTaps<kChannels>& taps)
      : dst(static_cast<unsigned char*>(work.dst)),
        lane(taps.lane[threadIdx.x % 32]),
        words(kWords || tiles.dst_words) {}

  // Writes the bytes of each cell's pixels. Every lane of the warp takes part.
  __device__ void write(uint32_t row, const uint32_t (&bytes)[Cell::kCount]) const {
    uint32_t word[Cell::kCount];
#pragma unroll
    for (int k = 0; k < Cell::kCount; ++k) {
      word[k] = bytes[k];
      if (kChannels == 3) word[k] = __byte_perm(bytes[k], __shfl_down_sync(0xffffffffu, bytes[k], 1), lane.order);
    }
    unsigned char* const to = dst + (row + lane.at);
    if (words && lane.whole != 0) {
      if (kChannels == 3 && lane.order == 0) return;
#pragma unroll
      for (int k = 0; k < Cell::kCount; ++k) *reinterpret_cast<uint32_t*>(to + k * Cell::kStep * kChannels) = word[k];
    } else {
#pragma unroll
      for (int k = 0; k < Cell::kCount; ++k) {
        write_some(to + k * Cell::kStep * kChannels, lane.left - k * Cell::kStep, word[k], bytes[k]);
      }
    }
  }

 private:
  // `here`: the pixels left from the cell on, if positive.
  __device__ void write_some(unsigned char* to, int here, uint32_t word, uint32_t bytes) const {
    const int of_four = kChannels == 3 ? static_cast<int>(threadIdx.x % 4) : 0;
    if (words && here + of_four >= (kChannels == 3 ? 4 : Cell::kPixels)) {
      if (lane.order != 0) *reinterpret_cast<uint32_t*>(to) = word;
      return;
    }
#pragma unroll
    for (int i = 0; i < Cell::kPixels * kChannels; ++i) {
      if (i / kChannels < here) to[i - of_four] = static_cast<unsigned char>(bytes >> (8 * i));
    }
  }
};

struct WordsPlace {
  uint32_t first_col;
  uint32_t first_row;
  int begin;
  int end;

  __device__ WordsPlace(const ResizeWork& work, const WordsTiles& tiles, uint32_t tile, int cols) {
    const int rows = static_cast<int>(work.rows_per_thread);
    const uint32_t down = tiles.across.quotient(tile);
    first_col = (tile - down * tiles.across.value) * static_cast<uint32_t>(cols);
    first_row = down * static_cast<uint32_t>(kResizeWarps * rows);
    begin = static_cast<int>(threadIdx.x / 32) * rows;
    end = min(static_cast<int>(tiles.rows.dst - first_row), begin + rows);
  }
};

}  // namespace gpumem::kernels
