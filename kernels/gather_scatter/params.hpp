// A gather or scatter of rows, as it travels from the entry point to the kernel.
#pragma once

#include <cstdint>

#include "gpumem.h"

namespace gpumem {

// Rows of row_bytes bytes, by index: of src in a gather, of dst in a scatter. The other matrix has n rows.
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
};

}  // namespace gpumem
