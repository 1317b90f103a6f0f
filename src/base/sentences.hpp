// Numbers and addresses in the types that printf's formats name.
#pragma once

#include <cstdint>

namespace gpumem {

constexpr long long ll(int64_t v) noexcept { return v; }
inline unsigned long long number(const void* p) noexcept { return reinterpret_cast<uintptr_t>(p); }

}  // namespace gpumem
