// Parameters of the reductions.
#pragma once

#include <cstdint>

#include "gpumem.h"

namespace gpumem {

constexpr int32_t kMaxReduceRank = 8;

// A view of an array. rank 0: the operands are sequences with strides instead.
struct ReduceView {
  int32_t rank = 0;
  int64_t extents[kMaxReduceRank] = {};
  int64_t strides[kMaxReduceRank] = {};  // of x
  int64_t y_strides[kMaxReduceRank] = {};
};

// Lines along several axes: the first `kept` axes count lines, and the others are a line's elements. Axes of each kind
// come from the slowest to the fastest.
struct LineAxes {
  int32_t kept = 0;
  int32_t rank = 0;
  int64_t extents[kMaxReduceRank] = {};
  int64_t strides[kMaxReduceRank] = {};
};

struct ReduceParams {
  gpumem_dtype dtype = GPUMEM_I32;
  gpumem_reduce_op op = GPUMEM_SUM;
  const void* x = nullptr;
  int64_t n = 0;
  int64_t stride = 1;
  const void* y = nullptr;  // the second operand of GPUMEM_DOT
  int64_t y_stride = 1;
  ReduceView view{};
  void* result = nullptr;           // one word, two for MIN_MAX; nullptr if only the index is wanted
  int64_t* index = nullptr;         // of a search
  gpumem_status* status = nullptr;  // of the _async functions; may be nullptr

  constexpr int64_t elements() const noexcept { return n; }
};

// Reduces every row or column of every matrix, or with axes every line that they describe (rows lines of cols elements).
// The values are contiguous in result: one word each, two for MIN_MAX. The
// indices of a search are contiguous too.
struct ReduceAxisParams {
  gpumem_dtype dtype = GPUMEM_F32;
  gpumem_reduce_op op = GPUMEM_SUM;
  gpumem_axis axis = GPUMEM_AXIS_ROWS;
  const void* x = nullptr;
  int64_t rows = 0;
  int64_t cols = 0;
  int64_t ld = 0;
  int64_t batches = 1;
  int64_t batch_stride = 0;
  // Of columns on a GPU whose rows are not evenly apart: rows per run, and elements between the starts of runs.
  int64_t run_rows = 0;
  int64_t run_stride = 0;
  const LineAxes* axes = nullptr;   // of a launch on a GPU, or of one task on the host
  void* result = nullptr;           // as above
  bool rounded = false;             // results have the floating-point type of x; only on a GPU
  int64_t* index = nullptr;         // of a search
  gpumem_status* status = nullptr;  // as above

  constexpr int64_t elements() const noexcept { return batches * rows * cols; }
  constexpr bool of_rows() const noexcept { return axis == GPUMEM_AXIS_ROWS; }
  constexpr int64_t lines() const noexcept { return batches * (of_rows() ? rows : cols); }
  constexpr int64_t length() const noexcept { return of_rows() ? cols : rows; }  // elements per line
  // Whether the batches are the columns of one matrix, which may have gaps between them.
  constexpr bool batches_are_columns() const noexcept {
    return !of_rows() && cols == 1 && batches > 1 && batch_stride < ld;
  }
};

// Segments of x[0] .. x[n - 1] between neighbouring offsets. The kernels check the offsets.
struct ReduceSegmentsParams {
  gpumem_dtype dtype = GPUMEM_F32;
  gpumem_reduce_op op = GPUMEM_SUM;
  const void* x = nullptr;
  int64_t n = 0;
  const int64_t* offsets = nullptr;  // segments + 1
  int64_t segments = 0;
  void* result = nullptr;
  gpumem_status* status = nullptr;  // as above

  constexpr int64_t elements() const noexcept { return n; }
};

}  // namespace gpumem
