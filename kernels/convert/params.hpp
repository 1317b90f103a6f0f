// Parameters of dst[i] = src[i] as another type.
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

constexpr int kConvertThreads = 256;
constexpr int convert_vector(int bytes, int other_bytes) noexcept {
  return 16 / (bytes > other_bytes ? bytes : other_bytes);
}
// Vectors that a thread keeps in flight: more if more is read than written, and for slow conversions to f16 or bf16.
// H200, of a plain copy's rate with 1, 2 and 4: u32 1.00, 0.96 and 0.93; bf16 to f16 0.84, 0.92 and 0.96.
constexpr int convert_vectors(int src_bytes, int dst_bytes, bool to_halves) noexcept {
  if (src_bytes > dst_bytes) return 2;
  return to_halves ? 4 : 1;
}

}  // namespace gpumem
