// The one list of cases: operation x shape x stride or leading dimension x alignment x kind of memory of each operand.
// Plain data, so that other programs (fuzzers' seeds, benchmarks) can take it too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "gpumem.h"

namespace gpumem_test {

// What the elements of a reduction are like; with full-range numbers nearly every sum of cubes overflows.
enum class Numbers {
  small,      // |x| < 2^8
  medium,     // |x| < 2^20
  full,       // all of int32_t
  extreme,    // INT32_MIN, INT32_MAX and what lies next to 0
  cancelling  // x and -x, far from each other: sums of cubes leave 64 bits and come back
};
inline constexpr Numbers kAllNumbers[] = {Numbers::small, Numbers::medium, Numbers::full, Numbers::extreme,
                                          Numbers::cancelling};

struct ReduceCase {  // each is run for every operation
  int64_t n;
  int64_t stride;  // elements
  size_t offset;   // bytes from a multiple of 16
  gpumem_memory_kind x;
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
};

struct CopyCase {
  size_t bytes;
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
  for (const int64_t n : {0, 1, 2, 3, 7, 8, 31, 32, 33, 127, 128, 129, 1000, 1023, 1024, 1025, 4095, 4096, 4097}) {
    for (const int64_t stride : {1, 2, 3, 17}) {
      for (const size_t offset : {0, 4, 8, 12, 1, 2, 3}) {
        for (size_t i = 0; i < cases::kKinds; ++i) {
          all.push_back({n, stride, offset, cases::kind(i), dealer.kind(), dealer.numbers()});
        }
      }
    }
  }
  struct Large {
    int64_t n;
    std::vector<int64_t> strides;
    std::vector<size_t> offsets;
  };
  for (const Large& large : {Large{65535, {1, 2, 3, 17}, {0, 4, 1}}, Large{65537, {1, 2, 3, 17}, {0, 12, 3}},
                             Large{1000003, {1, 2, 3}, {0, 8, 2}}, Large{(int64_t{1} << 22) + 5, {1, 3}, {0, 4, 3}}}) {
    for (const int64_t stride : large.strides) {
      for (const size_t offset : large.offsets) {
        for (const gpumem_memory_kind x : {int32_t{GPUMEM_MEMORY_DEVICE}, dealer.kind()}) {
          all.push_back({large.n, stride, offset, x, dealer.kind(), dealer.numbers()});
        }
      }
    }
  }
  // Every pair of kinds once, and every kind of numbers.
  for (size_t pair = 0; pair < cases::kKinds * cases::kKinds; ++pair) {
    for (const Numbers numbers : kAllNumbers) {
      all.push_back({20000, 1, 0, cases::kind(pair), cases::kind(pair / cases::kKinds), numbers});
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
  }
  return thinned(all, quick);
}

}  // namespace gpumem_test
