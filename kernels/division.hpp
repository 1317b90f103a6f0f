// Division by a run-time value, and division by an invariant divisor for any unsigned dividend (T. Granlund and P. L.
// Montgomery, "Division by invariant integers using multiplication", PLDI 1994, figure 4.1). Plain C++, for host and
// device.
#pragma once

#include <cstdint>
#include <type_traits>

namespace gpumem {

__extension__ typedef unsigned __int128 Uint128;
template <class Word>
using DoubleWord = std::conditional_t<sizeof(Word) == 4, uint64_t, Uint128>;

template <class Word>
struct Divisor {
  static_assert(std::is_same_v<Word, uint32_t> || std::is_same_v<Word, uint64_t>);
  static constexpr int kBits = 8 * sizeof(Word);

  Word value = 1;
  Word multiplier = 1;  // 2^kBits * (2^l - value) / value + 1, where 2^l is the least power of two >= value
  int32_t first_shift = 0;
  int32_t second_shift = 0;

  constexpr Divisor() noexcept = default;
  // divisor >= 1
  constexpr explicit Divisor(Word divisor) noexcept : value(divisor) {
    int32_t l = 0;
    while (l < kBits && (DoubleWord<Word>{1} << l) < divisor) ++l;
    const DoubleWord<Word> rest = (DoubleWord<Word>{1} << l) - divisor;
    multiplier = static_cast<Word>((rest << kBits) / divisor + 1);
    first_shift = l < 1 ? l : 1;
    second_shift = l > 1 ? l - 1 : 0;
  }

  constexpr Word quotient(Word n) const noexcept {
    const auto high = static_cast<Word>((static_cast<DoubleWord<Word>>(multiplier) * n) >> kBits);
    return static_cast<Word>(high + ((n - high) >> first_shift)) >> second_shift;
  }
};

// a and b are not negative. On a GPU, a 32-bit division is several times shorter than one of 64 bits.
struct Quotient {
  int64_t quotient;
  int64_t rest;
  constexpr Quotient(int64_t a, int64_t b) noexcept : quotient(0), rest(0) {
    if (a <= UINT32_MAX && b <= UINT32_MAX) {
      quotient = static_cast<uint32_t>(a) / static_cast<uint32_t>(b);
      rest = static_cast<uint32_t>(a) % static_cast<uint32_t>(b);
    } else {
      quotient = a / b;
      rest = a % b;
    }
  }
};

}  // namespace gpumem
