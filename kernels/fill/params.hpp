// Parameters of a fill.
#pragma once

#include <cstdint>

#include "kernels/limits.hpp"

namespace gpumem {

// One store per thread. Eight such blocks fill a multiprocessor of 2048 threads.
constexpr int kFillThreads = 256;

struct FillParams {
  void* dst = nullptr;
  const void* pattern = nullptr;
  int64_t pattern_bytes = 1;
  int64_t count = 0;  // patterns per row
  int64_t rows = 1;
  int64_t pitch = 0;  // bytes between the starts of rows
  int32_t rank = 1;   // of gpumem_fill(), gpumem_fill_2d()
  // the pattern repeated, once it has been read; every row begins with it, at multiples of 16
  unsigned char word[16] = {};

  constexpr int64_t row_bytes() const noexcept { return count * pattern_bytes; }
  constexpr int64_t elements() const noexcept { return row_bytes() * rows; }
  constexpr bool uniform() const noexcept {
    for (const unsigned char byte : word) {
      if (byte != word[0]) return false;
    }
    return true;
  }
  // The widest access that every row is aligned for.
  int64_t access() const noexcept {
    return widest_access(reinterpret_cast<uintptr_t>(dst) | (rows > 1 ? static_cast<uint64_t>(pitch) : 0));
  }
};

}  // namespace gpumem
