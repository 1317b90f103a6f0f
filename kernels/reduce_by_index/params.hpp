// Parameters of a reduction by index.
#pragma once

#include <cstdint>

#include "gpumem.h"

namespace gpumem {

// Row i of x, of cols columns, belongs to bin index[i]. Without x, rows are counted.
struct ReduceByIndexParams {
  gpumem_dtype dtype = GPUMEM_F32;
  gpumem_reduce_op op = GPUMEM_SUM;
  const void* x = nullptr;
  int64_t cols = 1;
  int64_t x_ld = 1;
  gpumem_dtype index_type = GPUMEM_I64;
  const void* index = nullptr;
  int64_t n = 0;
  void* result = nullptr;
  int64_t bins = 0;
  gpumem_status* status = nullptr;  // of the _async functions; may be nullptr

  constexpr int64_t elements() const noexcept { return n * cols; }
};

}  // namespace gpumem
