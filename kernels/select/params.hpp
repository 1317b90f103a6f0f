// Parameters of a selection of rows by a mask.
#pragma once

#include <cstdint>

#include "gpumem.h"

namespace gpumem {

struct SelectParams {
  bool places = false;  // dst gets the places of the kept rows, numbers of index_type, instead of the rows
  gpumem_dtype index_type = GPUMEM_I64;
  int64_t row_bytes = 1;  // of places: bytes of a number
  const void* src = nullptr;
  int64_t src_pitch = 0;  // bytes
  const uint8_t* mask = nullptr;
  int64_t n = 0;
  void* dst = nullptr;
  int64_t dst_rows = 0;  // at most as many rows are written; 0: only count
  int64_t dst_pitch = 0;
  int64_t* kept = nullptr;

  constexpr int64_t elements() const noexcept { return n * row_bytes; }
};

// The device cuts the mask into tiles. A piece is the part of the mask that one thread loads at a time.
constexpr int kSelectThreads = 256;
constexpr int64_t kSelectTile = 4096;
constexpr int64_t kSelectPiece = 16;

}  // namespace gpumem
