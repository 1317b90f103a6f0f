// The alignment of operands to the widest access, 16 bytes.
#pragma once

#include <cstdint>

namespace gpumem {

inline int32_t misalignment(const void* p) noexcept {
  return static_cast<int32_t>(reinterpret_cast<uintptr_t>(p) % 16);
}

// bytes: 1, 2, 4, 8 or 16. nullptr is aligned.
inline bool aligned(const void* p, int64_t bytes) noexcept { return misalignment(p) % bytes == 0; }

// Bytes from p to the next multiple of `bytes`, which is a power of two.
inline int64_t to_boundary(const void* p, int64_t bytes) noexcept {
  return static_cast<int64_t>(-reinterpret_cast<uintptr_t>(p)) & (bytes - 1);
}

}  // namespace gpumem
