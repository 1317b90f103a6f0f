// One operation as the tables see it: plain data, no pointers, so that a decision is a pure function of it. elements() is what
// it reads, or writes where it reads nothing; products of extents fit int64_t: the plan has checked them.
#pragma once

#include <cstdint>

#include "engine/device_props.hpp"
#include "gpumem.h"

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
  int64_t batches = 1;
  int64_t src_batch_stride = 0;  // 0 for a single matrix
  int64_t dst_batch_stride = 0;
  bool in_place = false;

  int64_t elements() const noexcept { return batches * rows * cols; }
};

struct FillProblem {
  Runs runs = Runs::host;
  int64_t pattern_bytes = 1;
  int64_t bytes = 0;
  bool uniform = false;  // every byte of the pattern is the same

  int64_t elements() const noexcept { return bytes; }
};

}  // namespace gpumem
