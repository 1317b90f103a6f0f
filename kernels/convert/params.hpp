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
// Elements of a vector: those that make 16 bytes of the wider type.
constexpr int convert_vector(int bytes, int other_bytes) noexcept {
  return 16 / (bytes > other_bytes ? bytes : other_bytes);
}
// Vectors that a thread has on their way at once: more where more is read than written, and where elements become halves, which takes
// longest (H200, 2^26 elements, of a plain copy's rate for 1, 2 and 4: u32 alone 1.00, 0.96 and 0.93, f32 to f64 0.96, 0.95 and 0.93, f32
// to f16 0.99, 1.02 and 1.02, of 4096 0.84, 0.79 and 0.71, bf16 to f16 0.84, 0.92 and 0.96).
constexpr int convert_vectors(int src_bytes, int dst_bytes, bool to_halves) noexcept {
  if (src_bytes > dst_bytes) return 2;
  return to_halves ? 4 : 1;
}

}  // namespace gpumem
