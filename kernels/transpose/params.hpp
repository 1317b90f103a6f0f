// Parameters of a transpose.
#pragma once

#include <cstdint>

namespace gpumem {

struct TransposeParams {
  int64_t element_bytes = 4;
  int64_t rows = 0;  // of src, whose columns are dst's rows
  int64_t cols = 0;
  const void* src = nullptr;
  int64_t src_ld = 0;
  void* dst = nullptr;  // src: in place
  int64_t dst_ld = 0;
  int64_t batches = 1;
  int64_t src_batch_stride = 0;  // 0 for a single matrix, as the next
  int64_t dst_batch_stride = 0;

  constexpr int64_t elements() const noexcept { return batches * rows * cols; }
  constexpr bool in_place() const noexcept { return src == dst; }
};

}  // namespace gpumem
