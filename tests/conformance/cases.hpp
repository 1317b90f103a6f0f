// The one list of cases: operation x type x shape x stride or leading dimension x alignment x kind of memory of each operand.
// Plain data, so that other programs (fuzzers' seeds, benchmarks) can take it too.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

#include "gpumem.h"
#include "support/numbers.hpp"

namespace gpumem_test {

struct ReduceCase {  // each is run for every operation that its type has
  gpumem_dtype dtype;
  int64_t n;
  int64_t stride;  // elements
  size_t offset;   // bytes from a multiple of 16
  gpumem_memory_kind x;
  gpumem_memory_kind result;
  Numbers numbers;
};

// Lines of `batches` matrices, each for some of the operations.
struct AxisCase {
  gpumem_dtype dtype;
  gpumem_axis axis;
  int64_t rows;
  int64_t cols;
  int64_t ld;
  int64_t batches;
  int64_t batch_stride;
  size_t offset;
  gpumem_memory_kind x;
  gpumem_memory_kind result;
  Numbers numbers;
};

enum class Segments {
  short_ones,  // of 0 to 8 elements
  mixed,       // of every order of magnitude
  one_huge,    // among empty and tiny ones
  sparse       // that leave elements of x out at both ends
};

struct SegmentsCase {
  gpumem_dtype dtype;
  Segments shape;
  int64_t segments;
  int64_t longest;
  size_t offset;
  gpumem_memory_kind x;
  gpumem_memory_kind offsets;
  gpumem_memory_kind result;
  Numbers numbers;
};

struct TransposeCase {
  int64_t element_bytes;
  int64_t rows;
  int64_t cols;
  int64_t src_ld;
  int64_t dst_ld;
  size_t src_offset;
  size_t dst_offset;
  gpumem_memory_kind src;
  gpumem_memory_kind dst;
  int64_t batches = 1;
  int64_t src_batch_stride = 0;
  int64_t dst_batch_stride = 0;
};

struct CopyCase {
  size_t bytes;
  size_t src_offset;
  size_t dst_offset;
  gpumem_memory_kind src;
  gpumem_memory_kind dst;
};

struct PitchedCase {  // one range where there is one row in one slice
  int64_t row_bytes;
  int64_t rows;
  int64_t slices;
  int64_t src_pitch;
  int64_t src_slice;
  int64_t dst_pitch;
  int64_t dst_slice;
  size_t src_offset;
  size_t dst_offset;
  gpumem_memory_kind src;
  gpumem_memory_kind dst;
};

struct FillCase {
  int64_t pattern_bytes;
  int64_t count;
  size_t offset;
  gpumem_memory_kind dst;
  bool uniform;  // all bytes of the pattern are the same
  int64_t rows = 1;
  int64_t pitch = 0;  // bytes; of rows
};

// Every thirteenth case, for runs under slow checkers. 13 divides the length of no list of values, so each still comes
// up.
template <class Case>
std::vector<Case> thinned(const std::vector<Case>& all, bool quick) {
  if (!quick) return all;
  std::vector<Case> some;
  for (size_t i = 0; i < all.size(); i += 13) some.push_back(all[i]);
  return some;
}

namespace cases {

inline constexpr int kKinds = 4;
inline gpumem_memory_kind kind(size_t i) { return static_cast<gpumem_memory_kind>(i % kKinds); }

// Deals the kinds of memory, and the kinds of numbers, out over cases that are too many to take each with each.
class Dealer {
 public:
  gpumem_memory_kind kind() { return cases::kind(next()); }
  Numbers numbers() { return kAllNumbers[next() % 5]; }
  gpumem_dtype dtype() { return kAllTypes[next() % 12]; }
  template <class T>
  T one_of(std::initializer_list<T> all) {
    return all.begin()[next() % all.size()];
  }
  bool coin() { return next() % 2 == 0; }

 private:
  size_t next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<size_t>(state_ >> 40);
  }
  uint64_t state_ = 1;
};

}  // namespace cases

inline std::vector<ReduceCase> reduce_cases(bool quick) {
  std::vector<ReduceCase> all;
  cases::Dealer dealer;
  const auto add = [&](gpumem_dtype dtype, int64_t n, int64_t stride, size_t offset, gpumem_memory_kind x) {
    all.push_back({dtype, n, stride, offset, x, dealer.kind(), dealer.numbers()});
  };
  for (const int64_t n : {0, 1, 2, 3, 7, 8, 31, 32, 33, 127, 128, 129, 1000, 1023, 1024, 1025, 4095, 4096, 4097}) {
    for (const gpumem_dtype dtype : kAllTypes) {
      const size_t element = info_of(dtype).bytes;
      add(dtype, n, 1, 0, dealer.kind());
      add(dtype, n, 1, element * dealer.one_of({1u, 2u, 3u, 5u}), GPUMEM_MEMORY_DEVICE);
      add(dtype, n, dealer.one_of<int64_t>({2, 3, 17}), element * dealer.one_of({0u, 1u, 3u}), dealer.kind());
      add(dtype, n, dealer.one_of<int64_t>({1, 1, 2, 5}), dealer.one_of<size_t>({1, 2, 3, 7}), dealer.kind());
    }
  }
  for (const gpumem_dtype dtype : kAllTypes) {
    for (const gpumem_memory_kind kind : {int32_t{GPUMEM_MEMORY_DEVICE}, dealer.kind()}) {
      add(dtype, dealer.one_of<int64_t>({65535, 65536, 65537}), 1, dealer.one_of<size_t>({0, 8, 1}), kind);
      add(dtype, dealer.one_of<int64_t>({65535, 65537}), dealer.one_of<int64_t>({2, 3, 17}), 0, kind);
    }
    add(dtype, 150001, dealer.one_of<int64_t>({1, 2}), dealer.one_of<size_t>({0, 8, 3}), GPUMEM_MEMORY_DEVICE);
  }
  for (const gpumem_dtype dtype : {GPUMEM_I32, GPUMEM_F64, GPUMEM_F32}) {
    add(dtype, (int64_t{1} << 20) + 5, 1, 0, GPUMEM_MEMORY_DEVICE);
    add(dtype, (int64_t{1} << 20) + 5, 1, info_of(dtype).bytes, dealer.kind());
  }
  // Every pair of kinds once, and every kind of numbers.
  for (size_t pair = 0; pair < cases::kKinds * cases::kKinds; ++pair) {
    for (const Numbers numbers : kAllNumbers) {
      all.push_back({dealer.dtype(), 20000, 1, 0, cases::kind(pair), cases::kind(pair / cases::kKinds), numbers});
    }
  }
  return thinned(all, quick);
}

inline std::vector<AxisCase> axis_cases(bool quick) {
  static constexpr int64_t kExtents[] = {1, 2, 3, 7, 16, 17, 31, 64, 127, 128, 129, 1000, 1025, 3000};
  std::vector<AxisCase> all;
  cases::Dealer dealer;
  for (const gpumem_axis axis : {GPUMEM_AXIS_ROWS, GPUMEM_AXIS_COLS}) {
    for (const int64_t rows : kExtents) {
      for (const int64_t cols : kExtents) {
        if (rows * cols > 400000) continue;
        const int rounds = rows * cols > 20000 ? 1 : 3;
        for (int round = 0; round < rounds; ++round) {
          const gpumem_dtype dtype = dealer.dtype();
          const int64_t ld = cols + dealer.one_of<int64_t>({0, 0, 1, 7, 16});
          const int64_t batches = rows * cols > 2000 ? dealer.one_of<int64_t>({1, 2}) : dealer.one_of<int64_t>({1, 3});
          const int64_t batch_stride = dealer.one_of<int64_t>({rows * ld, rows * ld + 5, 0, ld, 1});
          const size_t offset = dealer.coin() ? 0 : info_of(dtype).bytes * dealer.one_of({1u, 3u});
          all.push_back({dtype, axis, rows, cols, ld, batches, batch_stride, dealer.coin() ? offset : offset / 2,
                         dealer.kind(), dealer.kind(), dealer.numbers()});
        }
      }
    }
    all.push_back({GPUMEM_F64, axis, 100000, 3, 3, 1, 0, 0, GPUMEM_MEMORY_DEVICE, GPUMEM_MEMORY_DEVICE, Numbers::full});
    all.push_back(
        {GPUMEM_F32, axis, 2, 70001, 70003, 1, 0, 4, GPUMEM_MEMORY_DEVICE, GPUMEM_MEMORY_PAGEABLE, Numbers::medium});
  }
  return thinned(all, quick);
}

inline std::vector<SegmentsCase> segments_cases(bool quick) {
  std::vector<SegmentsCase> all;
  cases::Dealer dealer;
  for (const Segments shape : {Segments::short_ones, Segments::mixed, Segments::one_huge, Segments::sparse}) {
    for (const int64_t segments : {0, 1, 2, 31, 33, 128, 1000}) {
      for (const gpumem_dtype dtype : kAllTypes) {
        const int64_t longest = shape == Segments::short_ones ? 8 : dealer.one_of<int64_t>({1, 40, 1025, 5000, 50000});
        all.push_back({dtype, shape, segments, longest, info_of(dtype).bytes * dealer.one_of({0u, 0u, 1u, 3u}),
                       dealer.kind(), dealer.kind(), dealer.kind(), dealer.numbers()});
      }
    }
  }
  return thinned(all, quick);
}

inline std::vector<TransposeCase> transpose_cases(bool quick) {
  struct Layout {
    size_t src_offset, dst_offset;
    int64_t src_pad, dst_pad;  // elements between rows; -1: up to a multiple of 16 elements
  };
  static constexpr Layout kLayouts[] = {{0, 0, 0, 0},  {0, 0, -1, -1},  {0, 0, 1, 3},   {1, 0, 0, 1},
                                        {0, 1, -1, 0}, {4, 8, -1, -1},  {8, 4, 5, 2},   {3, 5, 1, 1},
                                        {15, 2, 0, 7}, {0, 13, -1, -1}, {12, 0, 0, -1}, {0, 8, -1, -1}};
  const auto padded = [](int64_t width, int64_t pad) { return pad >= 0 ? width + pad : (width + 15) / 16 * 16; };
  static constexpr int64_t kExtents[] = {1, 2, 3, 31, 32, 33, 63, 64, 65, 1000};
  std::vector<TransposeCase> all;
  size_t pair = 0;
  for (const int64_t element : {1, 2, 4, 8, 16}) {
    for (const int64_t rows : kExtents) {
      for (const int64_t cols : kExtents) {
        for (const Layout& l : kLayouts) {
          if (rows * cols > 100000 && (&l - kLayouts) % 5 != 0) continue;  // large ones: only some
          all.push_back({element, rows, cols, padded(cols, l.src_pad), padded(rows, l.dst_pad), l.src_offset,
                         l.dst_offset, cases::kind(pair), cases::kind(pair / cases::kKinds)});
          pair += 5;  // prime to 16, so that the pairs drift through the layouts
        }
      }
    }
  }
  for (const int64_t element : {1, 2, 4, 8, 16}) {
    for (pair = 0; pair < cases::kKinds * cases::kKinds; ++pair) {
      all.push_back({element, 100, 60, 64, 112, 0, 0, cases::kind(pair), cases::kind(pair / cases::kKinds)});
    }
    all.push_back({element, 0, 5, 5, 4, 0, 0, GPUMEM_MEMORY_DEVICE, GPUMEM_MEMORY_DEVICE});
    all.push_back({element, 5, 0, 5, 5, 0, 0, GPUMEM_MEMORY_PAGEABLE, GPUMEM_MEMORY_DEVICE});
  }
  // Every alignment of either side, with what is left of a tile.
  for (const int64_t element : {1, 2, 4, 8, 16}) {
    for (size_t offset = 0; offset < 16; ++offset) {
      const gpumem_memory_kind device = GPUMEM_MEMORY_DEVICE;
      all.push_back({element, 150, 133, 133, 150, offset, offset * 7 % 16, device, device});
      all.push_back({element, 133, 150, 151, 141, 0, offset, device, device});
      all.push_back({element, 3, 700, 700, 3, offset, offset * 5 % 16, device, device});
      all.push_back({element, 700, 5, 7, 701, 0, offset, device, device});
    }
  }
  // Batches: side by side, with gaps, and one source for all of them.
  cases::Dealer dealer;
  for (const int64_t element : {1, 2, 4, 8, 16}) {
    for (const int64_t batches : {0, 1, 2, 7}) {
      for (const int64_t extent : {1, 3, 16, 33, 64, 65}) {
        const int64_t rows = dealer.coin() ? extent : dealer.one_of<int64_t>({1, 2, 17, 70});
        const int64_t cols = dealer.coin() ? extent : dealer.one_of<int64_t>({1, 3, 32, 130});
        const int64_t src_ld = cols + dealer.one_of<int64_t>({0, 0, 3, 16});
        const int64_t dst_ld = rows + dealer.one_of<int64_t>({0, 0, 1, 16});
        const int64_t src_tight = rows * src_ld;
        const int64_t src_stride = dealer.one_of<int64_t>({src_tight, src_tight, 0, 1, src_tight + 5, src_tight + 64});
        const int64_t dst_stride = cols * dst_ld + dealer.one_of<int64_t>({0, 0, 3, 64});
        const size_t offset = dealer.coin() ? 0 : static_cast<size_t>(element) * dealer.one_of({1u, 3u});
        all.push_back({element, rows, cols, src_ld, dst_ld, offset, dealer.coin() ? 0 : offset, dealer.kind(),
                       dealer.kind(), batches, src_stride, dst_stride});
      }
    }
    all.push_back({element, 3, 2, 2, 3, 0, 0, GPUMEM_MEMORY_DEVICE, GPUMEM_MEMORY_DEVICE, 65536, 6, 6});
    all.push_back({element, 3, 5, 5, 3, 0, 0, dealer.kind(), dealer.kind(), 5000, 17, 16});
  }
  return thinned(all, quick);
}

// In place: src and dst are one.
inline std::vector<TransposeCase> transpose_in_place_cases(bool quick) {
  std::vector<TransposeCase> all;
  cases::Dealer dealer;
  const auto add = [&](int64_t element, int64_t rows, int64_t cols, int64_t pad, int64_t batches, size_t offset) {
    const int64_t src_ld = cols + pad;
    const int64_t dst_ld = rows + pad;
    const int64_t stride = std::max(rows * src_ld, cols * dst_ld) + dealer.one_of<int64_t>({0, 0, 5});
    const gpumem_memory_kind kind = dealer.kind();
    all.push_back({element, rows, cols, src_ld, dst_ld, offset, offset, kind, kind, batches, stride, stride});
  };
  for (const int64_t element : {1, 2, 4, 8, 16}) {
    for (const int64_t side : {1, 2, 3, 31, 32, 33, 63, 64, 65, 300}) {
      for (const int64_t pad : {0, 1, 16}) {
        add(element, side, side, pad, 1, static_cast<size_t>(element) * dealer.one_of({0u, 1u, 3u}));
        add(element, side, side, pad, dealer.one_of<int64_t>({0, 2, 5}), dealer.one_of<size_t>({0, 1, 7, 15}));
      }
    }
    add(element, 1000, 1000, 0, 1, 0);
    // Sides with and without a common divisor, either way round.
    for (const int64_t rows : {1, 2, 3, 4, 7, 24, 31, 64, 129}) {
      for (const int64_t cols : {2, 3, 5, 8, 36, 63, 64, 300}) {
        if (rows == cols) continue;
        const size_t offset = dealer.coin() ? 0 : static_cast<size_t>(element);
        add(element, rows, cols, 0, 1, dealer.coin() ? offset : offset / 2);
        add(element, cols, rows, 0, dealer.one_of<int64_t>({1, 0, 3}), offset);
      }
    }
    add(element, 3, 2, 0, 5000, 0);
    add(element, 499, 503, 0, 1, 1);
    add(element, 512, 320, 0, 1, 0);
    add(element, 96, 1280, 0, 2, 0);
    // Rows that do not fit into the shared memory of a block.
    const int64_t long_row = 232448 / element + 3;
    if (element >= 4) add(element, 3, long_row, 0, 1, 0);
    if (element >= 8) add(element, long_row, 4, 0, 2, 0);
  }
  all = thinned(all, quick);
  // For every variant there is at least one, however few the cases: a square whose rows begin on 16-byte boundaries.
  for (const int64_t element : {4, 8, 16}) {
    all.push_back(
        {element, 100, 100, 104, 104, 0, 0, GPUMEM_MEMORY_DEVICE, GPUMEM_MEMORY_DEVICE, 2, 104 * 100, 104 * 100});
  }
  return all;
}

inline std::vector<CopyCase> copy_cases(bool quick) {
  std::vector<CopyCase> all;
  const auto for_each_pair = [&](size_t bytes, size_t src_offset, size_t dst_offset) {
    for (size_t pair = 0; pair < cases::kKinds * cases::kKinds; ++pair) {
      all.push_back({bytes, src_offset, dst_offset, cases::kind(pair), cases::kind(pair / cases::kKinds)});
    }
  };
  for (const size_t bytes :
       {0, 1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 63, 64, 65, 127, 255, 256, 257, 1000, 4095, 4096, 4097}) {
    for (const size_t src_offset : {0, 1, 3, 8}) {
      for (const size_t dst_offset : {0, 1, 7, 8}) for_each_pair(bytes, src_offset, dst_offset);
    }
  }
  for (const size_t bytes : {65535, 65537, 1048589}) {
    for (const size_t offset : {0, 5}) for_each_pair(bytes, offset, 0);
  }
  for_each_pair(8388613, 3, 1);
  return thinned(all, quick);
}

inline std::vector<PitchedCase> pitched_cases(bool quick) {
  std::vector<PitchedCase> all;
  cases::Dealer dealer;
  size_t pair = 0;
  const auto deal_pitch = [&](int64_t width) {
    const int64_t wider = width + dealer.one_of<int64_t>({0, 0, 1, 3, 4, 8, 16, 129});
    return dealer.coin() ? wider : (wider + 15) / 16 * 16;
  };
  const auto deal_slice = [&](int64_t pitch, int64_t rows, int64_t width) {
    const int64_t least = (rows - 1) * pitch + width;
    return dealer.one_of<int64_t>({least, rows * pitch, (rows + 2) * pitch, least + 5, (least + 31) / 16 * 16});
  };
  const auto add = [&](int64_t width, int64_t rows, int64_t slices) {
    const int64_t src_pitch = deal_pitch(width);
    const int64_t dst_pitch = dealer.one_of<int64_t>({0, 0, 1}) != 0 ? src_pitch : deal_pitch(width);
    const size_t offset = dealer.one_of<size_t>({0, 0, 0, 1, 2, 3, 4, 8, 12, 15});
    all.push_back({width, rows, slices, src_pitch, deal_slice(src_pitch, rows, width), dst_pitch,
                   deal_slice(dst_pitch, rows, width), offset,
                   dealer.coin() ? offset : dealer.one_of<size_t>({0, 4, 8, 5}), cases::kind(pair),
                   cases::kind(pair / cases::kKinds)});
    pair += 5;  // prime to 16, so that the pairs drift through the layouts
  };
  for (const int64_t width :
       {1, 2, 3, 4, 6, 7, 8, 12, 15, 16, 17, 24, 31, 32, 33, 40, 48, 60, 63, 64, 65, 72, 96, 99, 128, 256, 300, 1001}) {
    for (const int64_t rows : {1, 2, 3, 17, 33, 100}) {
      for (const int64_t slices : {1, 1, 1, 2, 5}) add(width, rows, slices);
    }
  }
  for (const int64_t bytes : {1, 3, 4, 5, 8, 13, 16, 31, 1000, 4096, 65537, 1048589}) {
    for (int i = 0; i < 16; ++i) add(bytes, 1, 1);
  }
  for (int i = 0; i < 4; ++i) {
    add(5, 20000, 2);
    add(70000, 20, 1);
    add(100003, 3, 3);
  }
  // Longer than what goes over the link at once: rows, slices, and many slices.
  const auto host = static_cast<gpumem_memory_kind>(GPUMEM_MEMORY_PAGEABLE);
  const auto device = static_cast<gpumem_memory_kind>(GPUMEM_MEMORY_DEVICE);
  constexpr int64_t kMiB = 1 << 20;
  for (const auto& [src, dst] : {std::pair{host, device}, std::pair{device, host}, std::pair{device, device}}) {
    all.push_back({4 * kMiB + 5, 2, 1, 4 * kMiB + 9, 0, 4 * kMiB + 5, 0, 0, 1, src, dst});
    all.push_back({kMiB + 3, 5, 2, kMiB + 16, 6 * kMiB, kMiB + 3, 5 * kMiB + 64, 3, 0, src, dst});
    all.push_back({300, 50, 300, 304, 16000, 303, 15200, 0, 0, src, dst});
  }
  all = thinned(all, quick);
  // For every variant there is at least one, however few the cases: ranges of the device, equally and not equally misaligned.
  for (const size_t dst_offset : {0, 5, 9}) all.push_back({70001, 1, 1, 0, 0, 0, 0, 5, dst_offset, device, device});
  return all;
}

inline std::vector<FillCase> fill_cases(bool quick) {
  std::vector<FillCase> all;
  cases::Dealer dealer;
  for (const int64_t pattern_bytes : {1, 2, 4, 8, 16}) {
    for (const int64_t count : {0, 1, 2, 3, 7, 15, 16, 17, 63, 64, 65, 255, 1000, 4097}) {
      for (size_t offset = 0; offset < 16; ++offset) {
        all.push_back({pattern_bytes, count, offset, dealer.kind(), dealer.coin()});
      }
    }
    for (size_t i = 0; i < cases::kKinds; ++i) {
      for (const size_t offset : {0, 1, 8}) {
        all.push_back({pattern_bytes, 65537, offset, cases::kind(i), true});
        all.push_back({pattern_bytes, (3 << 20) / pattern_bytes + 3, offset, cases::kind(i), false});
      }
    }
    for (const int64_t count : {1, 2, 3, 5, 8, 13, 31, 64, 100, 1001}) {
      for (const int64_t rows : {2, 3, 20, 67}) {
        const int64_t width = count * pattern_bytes;
        for (const int64_t pitch : {width, width + 1, width + pattern_bytes, width + 8, (width + 31) / 16 * 16}) {
          const size_t offset = dealer.one_of<size_t>({0, 0, 1, 2, 4, 8, 13});
          all.push_back({pattern_bytes, count, offset, dealer.kind(), dealer.coin(), rows, pitch});
        }
      }
    }
    all.push_back({pattern_bytes, (2 << 20) / pattern_bytes, 4, dealer.kind(), false, 3, (2 << 20) + 32});
    all.push_back({pattern_bytes, 40, 0, GPUMEM_MEMORY_DEVICE, false, 9000, 40 * pattern_bytes + 16});
  }
  return thinned(all, quick);
}

}  // namespace gpumem_test
