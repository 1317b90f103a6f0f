// Parts of error messages: numbers and addresses in printf's types, and the system's reasons.
#pragma once

#include <cstdint>
#include <cstring>

namespace gpumem {

constexpr long long ll(int64_t v) noexcept { return v; }
inline unsigned long long number(const void* p) noexcept { return reinterpret_cast<uintptr_t>(p); }

// For an errno. In English, like the rest of the message, whatever the locale.
inline const char* reason_of(int error) noexcept {
  const char* reason = ::strerrordesc_np(error);
  return reason != nullptr ? reason : "unknown error";
}

}  // namespace gpumem
