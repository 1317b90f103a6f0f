// Parameters of a scan (prefix reduction).
#pragma once

#include <cstdint>

#include "gpumem.h"
#include "kernels/division.hpp"

namespace gpumem {

constexpr int32_t kMaxScanRank = 8;

// A view whose lines along one axis are scanned. A plan puts that axis first. The others follow in the order of the
// result's strides, the longest first.
struct ScanView {
  int32_t rank = 0;  // 0: x is one sequence, or segments
  int32_t axis = 0;
  int64_t extents[kMaxScanRank] = {};
  int64_t x_strides[kMaxScanRank] = {};
  int64_t result_strides[kMaxScanRank] = {};
};

// The first element of a line of a view that a plan has made.
struct LineStart {
  int64_t x = 0;
  int64_t result = 0;
};
constexpr LineStart start_of_line(const ScanView& view, int64_t index) noexcept {
  LineStart start;
  for (int32_t d = view.rank - 1; d > 0; --d) {
    const Quotient q(index, view.extents[d]);
    start.x += q.rest * view.x_strides[d];
    start.result += q.rest * view.result_strides[d];
    index = q.quotient;
  }
  return start;
}

struct ScanParams {
  gpumem_dtype dtype = GPUMEM_F32;
  gpumem_reduce_op op = GPUMEM_SUM;
  int32_t exclusive = 0;
  const void* x = nullptr;
  int64_t n = 0;
  void* result = nullptr;
  gpumem_dtype result_type = GPUMEM_F64;
  gpumem_status* status = nullptr;  // of the _async functions; may be nullptr
  ScanView view = {};
  int64_t segments = 0;
  const int64_t* offsets = nullptr;  // nullptr: not segments

  constexpr int64_t elements() const noexcept { return n; }
  constexpr bool has_lines() const noexcept { return view.rank > 0 || offsets != nullptr; }
  constexpr int64_t line_count() const noexcept {
    return offsets != nullptr ? segments : view.rank > 0 ? n / view.extents[0] : 1;
  }
};

}  // namespace gpumem
