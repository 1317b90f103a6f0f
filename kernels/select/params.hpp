// Parameters of a selection of rows by a mask.
#pragma once

#include <cstdint>

#include "gpumem.h"

namespace gpumem {

struct SelectParams {
  int64_t row_bytes = 1;
  const void* src = nullptr;
  int64_t src_pitch = 0;  // bytes
  bool places = false;    // dst gets the places of the rows as index_type, instead of the rows
  gpumem_dtype index_type = GPUMEM_I64;
  const uint8_t* mask = nullptr;
  int64_t n = 0;
  void* dst = nullptr;
  int64_t dst_pitch = 0;
  int64_t* kept = nullptr;

  constexpr int64_t elements() const noexcept { return n * row_bytes; }
};

}  // namespace gpumem
