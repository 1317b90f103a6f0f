// How an operand lies to the widest access, 16 bytes.
#pragma once

#include <cstdint>

namespace gpumem {

inline int32_t misalignment(const void* p) noexcept {
  return static_cast<int32_t>(reinterpret_cast<uintptr_t>(p) % 16);
}

}  // namespace gpumem
