#include "backend/host/elements.hpp"

#include <algorithm>
#include <cstring>

namespace gpumem {
namespace {

Int128 term(gpumem_reduce_op op, int32_t value) noexcept {
  const Int128 v = value;
  switch (op) {
    case GPUMEM_SUM_ABS:
    case GPUMEM_MAX_ABS:
      return v < 0 ? -v : v;
    case GPUMEM_SUM_SQUARES:
      return v * v;
    case GPUMEM_SUM_CUBES:
      return v * v * v;
    default:
      return v;
  }
}

int32_t load(const char* p) noexcept {
  int32_t value = 0;
  std::memcpy(&value, p, sizeof value);
  return value;
}

}  // namespace

Int128 combine(gpumem_reduce_op op, Int128 a, Int128 b) noexcept {
  if (op == GPUMEM_MIN) return std::min(a, b);
  if (op == GPUMEM_MAX || op == GPUMEM_MAX_ABS) return std::max(a, b);
  return a + b;
}

Int128 reduce_elements_i32(gpumem_reduce_op op, const void* x, int64_t stride, int64_t first, int64_t last) noexcept {
  const char* base = static_cast<const char*>(x);
  const int64_t pitch = stride * static_cast<int64_t>(sizeof(int32_t));
  Int128 value = term(op, load(base + first * pitch));
  for (int64_t i = first + 1; i < last; ++i) value = combine(op, value, term(op, load(base + i * pitch)));
  return value;
}

void transpose_elements(const TransposeArgs& a) noexcept {
  const auto* src = static_cast<const char*>(a.src);
  auto* dst = static_cast<char*>(a.dst);
  const auto bytes = static_cast<size_t>(a.element_bytes);
  for (int64_t r = 0; r < a.rows; ++r) {
    for (int64_t c = 0; c < a.cols; ++c) {
      std::memcpy(dst + (c * a.dst_ld + r) * a.element_bytes, src + (r * a.src_ld + c) * a.element_bytes, bytes);
    }
  }
}

}  // namespace gpumem
