// Parameters of a scan (prefix reduction).
#pragma once

#include <cstdint>

#include "gpumem.h"

namespace gpumem {

struct ScanParams {
  gpumem_dtype dtype = GPUMEM_F32;
  gpumem_reduce_op op = GPUMEM_SUM;
  int32_t exclusive = 0;
  const void* x = nullptr;
  int64_t n = 0;
  void* result = nullptr;
  gpumem_dtype result_type = GPUMEM_F64;
  gpumem_status* status = nullptr;  // of the _async functions; may be nullptr

  constexpr int64_t elements() const noexcept { return n; }
};

}  // namespace gpumem
