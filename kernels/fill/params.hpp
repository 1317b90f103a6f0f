// A fill, as it travels from the entry point to the kernel.
#pragma once

#include <cstdint>

namespace gpumem {

struct FillParams {
  void* dst = nullptr;
  const void* pattern = nullptr;
  int64_t pattern_bytes = 1;
  int64_t count = 0;  // patterns of a row
  int64_t rows = 1;
  int64_t pitch = 0;  // bytes from row to row
  int32_t rank = 1;   // of gpumem_fill(), gpumem_fill_2d()
};

}  // namespace gpumem
