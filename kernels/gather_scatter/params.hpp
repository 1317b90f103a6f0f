// Parameters of a gather or scatter of rows.
#pragma once

#include <cstdint>

#include "gpumem.h"
#include "kernels/elements.hpp"

namespace gpumem {

// As unsigned numbers, indices at or above this limit are invalid. A negative index is above it.
constexpr uint64_t index_limit(gpumem_dtype index_type, int64_t count) noexcept {
  const auto all = static_cast<uint64_t>(count);
  return is_signed_integer(index_type) && all > sign_bit(index_type) ? sign_bit(index_type) : all;
}

// The matrix whose rows the index names: src of a gather, dst of a scatter.
enum class NamedRows : int32_t { of_src, of_dst };

// The matrix whose rows are not named has n rows.
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
  gpumem_status* status = nullptr;  // of the _async functions; may be nullptr

  constexpr int64_t elements() const noexcept { return n * row_bytes; }
  constexpr uint64_t limit(int64_t rows) const noexcept { return index_limit(index_type, rows); }
};

struct BadIndex {
  int64_t at = -1;    // -1: all are valid
  uint64_t bits = 0;  // its value, zero-extended
};

constexpr int kGatherScatterThreads = 256;
constexpr int kGatherScatterWords = 4;

}  // namespace gpumem
