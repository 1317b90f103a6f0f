// Parameters of a sort.
#pragma once

#include <cstdint>

#include "gpumem.h"

namespace gpumem {

struct SortParams {
  gpumem_dtype dtype = GPUMEM_F32;
  const void* keys = nullptr;
  int64_t n = 0;
  int32_t descending = 0;
  void* sorted = nullptr;  // or nullptr
  void* order = nullptr;   // or nullptr
  gpumem_dtype order_type = GPUMEM_I64;
  gpumem_status* status = nullptr;  // of the _async functions; may be nullptr

  constexpr int64_t elements() const noexcept { return n; }
};

}  // namespace gpumem
