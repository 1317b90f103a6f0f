// A gather or scatter of rows, as it travels from the entry point to the kernel.
#pragma once

#include <cstdint>

#include "gpumem.h"
#include "kernels/elements.hpp"

namespace gpumem {

// The matrix whose rows the index names: src of a gather, dst of a scatter.
enum class NamedRows : int32_t { of_src, of_dst };

// Rows of row_bytes bytes. The matrix whose rows are not named has n of them.
struct GatherScatterParams {
  int64_t row_bytes = 1;
  const void* src = nullptr;
  int64_t src_rows = 0;
  int64_t src_pitch = 0;  // bytes
  gpumem_dtype index_type = GPUMEM_I64;
  const void* index = nullptr;
  int64_t n = 0;
  void* dst = nullptr;
  int64_t dst_rows = 0;
  int64_t dst_pitch = 0;
  gpumem_status* status = nullptr;  // of the _async forms; may be nullptr

  constexpr int64_t elements() const noexcept { return n * row_bytes; }
  // An index of this or more, read as an unsigned number, names none of so many rows: a negative one lies above.
  constexpr uint64_t limit(int64_t rows) const noexcept {
    const auto all = static_cast<uint64_t>(rows);
    return is_signed_integer(index_type) && all > sign_bit(index_type) ? sign_bit(index_type) : all;
  }
};

// The first index that names no row.
struct BadIndex {
  int64_t at = -1;    // -1: there is none
  uint64_t bits = 0;  // its value, with zeros above
};

// What the tables and the kernels agree on: threads of a block, and words that a thread has under way.
constexpr int kGatherScatterThreads = 256;
constexpr int kGatherScatterWords = 4;

}  // namespace gpumem
