// The values that results are compared with.
#pragma once

#include <gpumem.h>

#include <cstdint>
#include <string>

namespace bench {

// The value that a result should have. Integers are compared exactly, by their low half in a result of 32 bits. Numbers may be
// off by `scale` times 1e-10, or 1e-5 in a result of 32 bits; the former is well below what one missing element makes.
struct Expected {
  int64_t integer = 0;
  double number = 0;
  double scale = 0;

  // "" when the value at `result`, of type I32, I64, F32 or F64, is that.
  std::string compare(const void* result, gpumem_dtype type) const;
};

// The type of the library's results.
inline gpumem_dtype result_type(gpumem_dtype dtype) { return dtype >= GPUMEM_F16 ? GPUMEM_F64 : GPUMEM_I64; }

inline std::size_t bytes_of(gpumem_dtype dtype, int64_t n) {
  constexpr std::size_t sizes[] = {1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8};
  return static_cast<std::size_t>(n) * sizes[dtype];
}

}  // namespace bench
