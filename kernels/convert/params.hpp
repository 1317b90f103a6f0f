// dst[i] = src[i] as another type, as it travels from the entry point to the kernel.
#pragma once

#include <cstdint>

#include "kernels/elements.hpp"

namespace gpumem {

struct ConvertParams {
  gpumem_dtype src_type = GPUMEM_F32;
  const void* src = nullptr;
  gpumem_dtype dst_type = GPUMEM_F32;
  void* dst = nullptr;
  int64_t n = 0;

  constexpr int64_t elements() const noexcept { return n; }
};

// Sizes that the table and the kernels must agree on.
constexpr int kConvertThreads = 256;
// Vectors that a thread has on their way at once, each of as many elements as make 16 bytes of the wider type.
constexpr int kConvertVectors = 4;
constexpr int convert_vector(int bytes, int other_bytes) noexcept {
  return 16 / (bytes > other_bytes ? bytes : other_bytes);
}

}  // namespace gpumem
