// One operation as the tables see it: plain data, no pointers, so that a decision is a pure function of it. elements() is what
// it reads, or writes where it reads nothing; products of extents fit int64_t: the plan has checked them.
#pragma once

#include <cstdint>

#include "engine/device_props.hpp"
#include "gpumem.h"
#include "kernels/elements.hpp"

namespace gpumem {

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

  int64_t elements() const noexcept { return rows * cols; }
};

struct FillProblem {
  Runs runs = Runs::host;
  int64_t pattern_bytes = 1;
  int64_t bytes = 0;
  bool uniform = false;  // every byte of the pattern is the same

  int64_t elements() const noexcept { return bytes; }
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
  int32_t src_misalignment = 0;  // address modulo 4096: textures are to be aligned to more than a word
  int32_t dst_misalignment = 0;  // address modulo 16

  int64_t pixel_bytes() const noexcept { return int64_t{channels} * element_bytes(dtype); }
  int64_t elements() const noexcept {
    return dst_rows * dst_cols * channels;
  }  // each is made of one of src, or of four
};

}  // namespace gpumem
