// What sentences are made of: numbers and addresses in the types that printf's formats name, and the system's reasons.
#pragma once

#include <cstdint>
#include <cstring>

namespace gpumem {

constexpr long long ll(int64_t v) noexcept { return v; }
inline unsigned long long number(const void* p) noexcept { return reinterpret_cast<uintptr_t>(p); }

// Of an errno. In English whatever the program's locale, as the rest of the sentence is.
inline const char* reason_of(int error) noexcept {
  const char* reason = ::strerrordesc_np(error);
  return reason != nullptr ? reason : "unknown error";
}

}  // namespace gpumem
