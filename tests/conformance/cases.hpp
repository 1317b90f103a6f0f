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
  Numbers numbers() { return kAllNumbers[next() % std::size(kAllNumbers)]; }
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
  // Windows, of one vector and of three.
  for (const gpumem_dtype dtype : kAllTypes) {
    for (const int64_t length : {2, 20, 129, 1000}) {
      all.push_back({dtype, GPUMEM_AXIS_ROWS, dealer.one_of<int64_t>({1, 3}), length, length + 5,
                     dealer.one_of<int64_t>({40, 2100}), 1, dealer.coin() ? 0 : info_of(dtype).bytes, dealer.kind(),
                     dealer.kind(), dealer.numbers()});
    }
  }
  // Columns so long, or so many, that a block has several leaves, and that up to 16 nodes a thread and more are left to fold; each with
  // several operations, which go by the place in the list.
  for (const gpumem_dtype dtype : {GPUMEM_F32, GPUMEM_F64, GPUMEM_I32}) {
    for (const int64_t rows : {200000, 300000, 500000}) {
      all.push_back(
          {dtype, GPUMEM_AXIS_COLS, rows, 1, 1, 1, 0, 0, GPUMEM_MEMORY_DEVICE, GPUMEM_MEMORY_DEVICE, Numbers::medium});
    }
    for (int round = 0; round < 3; ++round) {
      all.push_back({dtype, GPUMEM_AXIS_COLS, 3000, 1, 1, 200, 3000, 0, GPUMEM_MEMORY_DEVICE, GPUMEM_MEMORY_DEVICE,
                     Numbers::medium});
    }
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
