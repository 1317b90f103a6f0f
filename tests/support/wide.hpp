// Unsigned integers of many words, by the methods of school: the exact sums that references are made of.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace gpumem_test {

__extension__ typedef unsigned __int128 TwoWords;

// The lowest word first.
template <size_t kWords>
class Unsigned {
 public:
  Unsigned() = default;
  explicit Unsigned(uint64_t value) { words_[0] = value; }

  void add(const Unsigned& other) {
    TwoWords carry = 0;
    for (size_t i = 0; i < kWords; ++i) {
      carry += TwoWords{words_[i]} + other.words_[i];
      words_[i] = static_cast<uint64_t>(carry);
      carry >>= 64;
    }
  }
  // += value * 2^shift
  void add(uint64_t value, int shift) {
    const TwoWords shifted = TwoWords{value} << (shift % 64);
    size_t at = static_cast<size_t>(shift) / 64;
    const uint64_t parts[2] = {static_cast<uint64_t>(shifted), static_cast<uint64_t>(shifted >> 64)};
    TwoWords carry = 0;
    for (size_t i = 0; at < kWords && (i < 2 || carry != 0); ++i, ++at) {
      carry += TwoWords{words_[at]} + (i < 2 ? parts[i] : 0);
      words_[at] = static_cast<uint64_t>(carry);
      carry >>= 64;
    }
  }
  // For other <= *this.
  Unsigned minus(const Unsigned& other) const {
    Unsigned difference;
    uint64_t borrow = 0;
    for (size_t i = 0; i < kWords; ++i) {
      const TwoWords take = TwoWords{other.words_[i]} + borrow;
      difference.words_[i] = words_[i] - static_cast<uint64_t>(take);
      borrow = take > words_[i] ? 1 : 0;
    }
    return difference;
  }
  Unsigned times(uint64_t factor) const {
    Unsigned product;
    TwoWords carry = 0;
    for (size_t i = 0; i < kWords; ++i) {
      carry += TwoWords{words_[i]} * factor;
      product.words_[i] = static_cast<uint64_t>(carry);
      carry >>= 64;
    }
    return product;
  }
  bool operator<(const Unsigned& other) const {
    for (size_t i = kWords; i-- > 0;) {
      if (words_[i] != other.words_[i]) return words_[i] < other.words_[i];
    }
    return false;
  }
  bool fits_word() const {
    for (size_t i = 1; i < kWords; ++i) {
      if (words_[i] != 0) return false;
    }
    return true;
  }
  uint64_t low() const { return words_[0]; }

  // *this * 2^-1074 as the nearest double, ties to even.
  double rounded() const {
    int top = -1;  // the highest bit that is set
    for (size_t i = 0; i < kWords; ++i) {
      if (words_[i] != 0) top = static_cast<int>(64 * i) + 63 - std::countl_zero(words_[i]);
    }
    const int last = top < 53 ? 0 : top - 52;  // the lowest bit that a double keeps
    uint64_t significand = 0;
    for (int at = top; at >= last; --at) significand = significand << 1 | (bit(at) ? 1 : 0);
    bool below_half = false;  // something is set under the half
    for (int at = 0; at < last - 1; ++at) below_half = below_half || bit(at);
    if (last > 0 && bit(last - 1) && (below_half || significand % 2 != 0)) ++significand;
    return std::ldexp(static_cast<double>(significand), last - 1074);
  }

 private:
  bool bit(int at) const { return (words_[static_cast<size_t>(at) / 64] >> (at % 64) & 1) != 0; }

  std::array<uint64_t, kWords> words_{};
};

using Wide = Unsigned<4>;   // sums of 2^60 cubes of 64-bit integers
using Long = Unsigned<35>;  // sums of doubles, in multiples of 2^-1074

}  // namespace gpumem_test
