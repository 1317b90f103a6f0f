// One operation as the tables see it: plain data, no pointers, so that a decision is a pure function of it. elements() is what
// it reads, or writes where it reads nothing; products of extents fit int64_t: the plan has checked them.
#pragma once

#include <cstdint>

#include "base/device_props.hpp"
#include "gpumem.h"
#include "kernels/elements.hpp"
#include "kernels/permute/axes.hpp"

namespace gpumem {

inline int32_t misalignment(const void* p) noexcept {
  return static_cast<int32_t>(reinterpret_cast<uintptr_t>(p) % 16);
}

struct ReduceProblem {
  Runs runs = Runs::host;
  gpumem_dtype dtype = GPUMEM_I32;
  gpumem_reduce_op op = GPUMEM_SUM;
  int64_t n = 0;
  int64_t stride = 1;
  int32_t misalignment = 0;  // address of x modulo 16
  int64_t y_stride = 1;      // the second operand of a dot product
  int32_t y_misalignment = 0;

  int64_t elements() const noexcept { return n; }
};

struct ReduceAxisProblem {
  Runs runs = Runs::host;
  gpumem_dtype dtype = GPUMEM_F32;
  gpumem_reduce_op op = GPUMEM_SUM;
  gpumem_axis axis = GPUMEM_AXIS_ROWS;
  int64_t rows = 0;
  int64_t cols = 0;
  int64_t ld = 0;
  int64_t batches = 1;
  int64_t batch_stride = 0;
  int32_t misalignment = 0;

  int64_t elements() const noexcept { return batches * rows * cols; }
  bool of_rows() const noexcept { return axis == GPUMEM_AXIS_ROWS; }
  int64_t lines() const noexcept { return batches * (of_rows() ? rows : cols); }
  int64_t length() const noexcept { return of_rows() ? cols : rows; }  // elements of a line
};

struct ReduceSegmentsProblem {
  Runs runs = Runs::host;
  gpumem_dtype dtype = GPUMEM_F32;
  gpumem_reduce_op op = GPUMEM_SUM;
  int64_t n = 0;
  int64_t segments = 0;
  int32_t misalignment = 0;

  int64_t elements() const noexcept { return n; }
};

struct TransposeProblem {
  Runs runs = Runs::host;
  int64_t element_bytes = 4;
  int64_t rows = 0;
  int64_t cols = 0;
  int64_t src_ld = 0;
  int64_t dst_ld = 0;
  int32_t src_misalignment = 0;  // addresses modulo 16
  int32_t dst_misalignment = 0;
  int64_t batches = 1;
  int64_t src_batch_stride = 0;  // 0 for a single matrix
  int64_t dst_batch_stride = 0;
  bool in_place = false;

  int64_t elements() const noexcept { return batches * rows * cols; }
};

struct FillProblem {
  Runs runs = Runs::host;
  int64_t pattern_bytes = 1;
  int64_t bytes = 0;     // of a row
  bool uniform = false;  // every byte of the pattern is the same
  int64_t rows = 1;
  int64_t access = 16;  // widest access at which every row begins

  int64_t elements() const noexcept { return bytes * rows; }
};

// Rows that can't be told as fewer: one row in one slice is one range.
struct CopyProblem {
  Runs runs = Runs::host;
  int64_t row_bytes = 0;
  int64_t rows = 1;
  int64_t slices = 1;
  int32_t src_misalignment = 0;  // addresses modulo 16
  int32_t dst_misalignment = 0;
  int64_t access = 16;   // widest access at which every row begins, on both sides
  bool managed = false;  // one side is managed memory

  int64_t elements() const noexcept { return row_bytes * rows * slices; }
};

struct AxpbyProblem {
  Runs runs = Runs::host;
  gpumem_dtype dtype = GPUMEM_F32;
  int64_t n = 0;
  bool reads_x = true;  // its factor is not 0
  bool reads_y = true;
  int32_t x_misalignment = 0;  // addresses modulo 16
  int32_t y_misalignment = 0;
  int32_t z_misalignment = 0;

  int64_t elements() const noexcept { return n; }
};

// Of gathers and scatters. A pitch is 0 where a matrix has no two rows.
struct GatherScatterProblem {
  Runs runs = Runs::host;
  int64_t row_bytes = 1;
  int64_t n = 0;  // rows that are moved
  int64_t src_pitch = 0;
  int64_t dst_pitch = 0;
  int32_t src_misalignment = 0;  // addresses modulo 16
  int32_t dst_misalignment = 0;

  int64_t elements() const noexcept { return n * row_bytes; }
};

struct PermuteProblem {
  Runs runs = Runs::host;
  PermuteAxes axes;              // fused
  int32_t src_misalignment = 0;  // addresses modulo 16
  int32_t dst_misalignment = 0;

  int64_t elements() const noexcept { return axes.elements(); }
};

struct ResizeProblem {
  Runs runs = Runs::host;
  gpumem_filter filter = GPUMEM_FILTER_NEAREST;
  gpumem_dtype dtype = GPUMEM_U8;
  int32_t channels = 1;
  int64_t src_rows = 0;
  int64_t src_cols = 0;
  int64_t src_pitch = 0;  // bytes
  int64_t dst_rows = 0;
  int64_t dst_cols = 0;
  int64_t dst_pitch = 0;
  int32_t src_misalignment = 0;  // address modulo 4096: textures must be aligned to more than a word
  int32_t dst_misalignment = 0;  // address modulo 16

  int64_t pixel_bytes() const noexcept { return int64_t{channels} * element_bytes(dtype); }
  int64_t elements() const noexcept {
    return dst_rows * dst_cols * channels;
  }  // each is made of one of src, or of four
};

}  // namespace gpumem
