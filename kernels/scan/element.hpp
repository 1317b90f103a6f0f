// The arithmetic of scans, for host and kernels. Everything has internal linkage, like kernels/convert/element.hpp.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <tuple>
#include <type_traits>

#include "kernels/accumulators.hpp"
#include "kernels/convert/element.hpp"
#include "kernels/scan/limits.hpp"

namespace gpumem {
namespace {

enum class ScanKind { sum, product, range };

// Scans whose result does not depend on the order. Sums and products wrap, so they are exact up to the first value that
// does not fit. Whether an element is the first one can be seen from its neighbour, see overflows(). Minima and maxima
// are minima of unsigned words: a NaN is 0, and the words of a maximum are inverted.
template <gpumem_dtype kType, gpumem_dtype kResult, ScanKind kKind>
struct WordScan {
  using T = ElementOf<kType>;
  using Result = ElementOf<kResult>;
  static constexpr gpumem_dtype kResultType = kResult;
  static constexpr bool kRange = kKind == ScanKind::range;
  static constexpr bool kChecks = !kRange;
  static constexpr int kWordBytes = element_bytes(kRange ? kType : kResult) == 8 ? 8 : 4;
  using Word = std::conditional_t<kWordBytes == 8, uint64_t, uint32_t>;
  using Bits = std::tuple_element_t<std::countr_zero(static_cast<unsigned>(sizeof(T))),
                                    std::tuple<uint8_t, uint16_t, uint32_t, uint64_t>>;

  Word flip;

  constexpr explicit WordScan(gpumem_reduce_op op) noexcept
      : flip(kRange && op == GPUMEM_MAX ? static_cast<Word>(all_bits(kType)) : Word{0}) {}

  static constexpr Word identity() noexcept {
    if constexpr (!kRange) return kKind == ScanKind::product ? 1 : 0;
    return static_cast<Word>(is_floating(kType) ? key_of(kType, infinity_bits(kType)) : all_bits(kType));
  }
  // The element whose word is identity().
  constexpr T neutral() const noexcept {
    if constexpr (kRange) return element_of_word(identity());
    if constexpr (!kRange) return static_cast<T>(identity());
  }
  constexpr Word word(T v) const noexcept {
    if constexpr (!kRange) return static_cast<Word>(v);
    if constexpr (kRange) {
      const uint64_t key = key_of(kType, std::bit_cast<Bits>(v));
      return is_nan_key(kType, key) ? Word{0} : static_cast<Word>(static_cast<Word>(key) ^ flip);
    }
  }
  static constexpr Word combine(Word a, Word b) noexcept {
    if constexpr (kKind == ScanKind::sum) return a + b;
    if constexpr (kKind == ScanKind::product) return a * b;
    return b < a ? b : a;
  }
  constexpr Result value(Word w) const noexcept {
    if constexpr (!kRange) return static_cast<Result>(w);
    if constexpr (kRange) {
      if (is_floating(kType) && w == 0) return converted<Result>(std::bit_cast<double>(kCanonicalNan));
      return converted<Result>(element_of_word(w));
    }
  }

  // after == combine(before, x). Whether `after` does not fit, if `before` does.
  static constexpr bool overflows(Word before, Word x, Word after) noexcept {
    if constexpr (kRange) {
      return false;
    } else if constexpr (sizeof(Result) < 4) {
      return static_cast<Word>(static_cast<Result>(after)) != after;
    } else if constexpr (kKind == ScanKind::product && std::is_signed_v<Result>) {
      return Wide{static_cast<Signed>(before)} * static_cast<Signed>(x) != static_cast<Signed>(after);
    } else if constexpr (kKind == ScanKind::product) {
      return UnsignedWide{before} * x != after;
    } else if constexpr (std::is_signed_v<Result>) {
      return static_cast<Signed>((before ^ after) & (x ^ after)) < 0;
    } else {
      return after < before;
    }
  }

 private:
  using Signed = std::make_signed_t<Word>;
  using Wide = std::conditional_t<sizeof(Word) == 4, int64_t, Int128>;
  using UnsignedWide = std::conditional_t<sizeof(Word) == 4, uint64_t, Uint128>;

  constexpr T element_of_word(Word w) const noexcept {
    return std::bit_cast<T>(static_cast<Bits>(bits_of_key(kType, w ^ flip)));
  }
};

// The bits of a floating-point element without its sign.
template <class T>
constexpr uint32_t magnitude_bits(T v) noexcept {
  using Bits = std::conditional_t<sizeof(T) == 2, uint16_t, uint32_t>;
  return std::bit_cast<Bits>(v) & static_cast<Bits>(~Bits{0}) >> 1;
}
// Whether no sum of up to kLeafTerms elements of at most 32 bits rounds, in any order. greatest, least: the magnitudes
// of the greatest element, and of the least one that is not 0.
template <gpumem_dtype kType>
constexpr bool block_sums_are_exact(uint32_t greatest, uint32_t least) noexcept {
  constexpr int kFraction = 8 * element_bytes(kType) - 1 - traits_of(kType).exponent_bits;
  constexpr int kSumBits = 53;
  if (greatest >= infinity_bits(kType)) return false;
  // With these exponents, elements are multiples of 2^low, and less than 2^(high + kFraction + 1).
  const int high = std::max(static_cast<int>(greatest >> kFraction), 1);
  const int low = std::max(static_cast<int>(least >> kFraction), 1);
  return high + kFraction + 1 + std::countr_zero(static_cast<unsigned>(kLeafTerms)) - low <= kSumBits;
}

template <gpumem_dtype kType, gpumem_dtype kResult, class F>
constexpr void for_kind(gpumem_reduce_op op, const F& f) {
  if (op == GPUMEM_MIN || op == GPUMEM_MAX) return f.template operator()<WordScan<kType, kResult, ScanKind::range>>();
  if constexpr (!is_floating(kType)) {
    if (op == GPUMEM_SUM) return f.template operator()<WordScan<kType, kResult, ScanKind::sum>>();
    return f.template operator()<WordScan<kType, kResult, ScanKind::product>>();
  }
}

// Calls f with the types of elements and results.
template <class F>
constexpr void for_scan_types(const ScanParams& p, const F& f) {
  for_type(p.dtype, [&]<gpumem_dtype kType>() {
    if (p.result_type == kType) return f.template operator()<kType, kType>();
    if constexpr (wide_type(kType) != kType) f.template operator()<kType, wide_type(kType)>();
  });
}

}  // namespace
}  // namespace gpumem
