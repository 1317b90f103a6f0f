// Functions of short elements, four or two of them per word, without a carry from one to the next (H. S. Warren, Hacker's
// Delight, 2nd edition, section 2-18). Plain C++ except for device instructions. The host's loops divide their own
// vectors.
#pragma once

#include <cstdint>

#include "kernels/map/element.hpp"

namespace gpumem {
namespace {

template <gpumem_map_op kOp, class T>
constexpr bool is_packed() {
  constexpr bool kExtreme = kOp == GPUMEM_MAP_MINIMUM || kOp == GPUMEM_MAP_MAXIMUM;
  if (kIsSixteen<T>) return kExtreme;
  if (!kIsInteger<T> || sizeof(T) > 2) return false;
  return kExtreme || kOp == GPUMEM_MAP_NEGATE || kOp == GPUMEM_MAP_ABSOLUTE || kOp == GPUMEM_MAP_NOT ||
         kOp == GPUMEM_MAP_ADD || kOp == GPUMEM_MAP_SUBTRACT || kOp == GPUMEM_MAP_AND || kOp == GPUMEM_MAP_OR ||
         kOp == GPUMEM_MAP_XOR;
}

// Elements of a word.
template <int kBytes>
struct Packed {
  static constexpr uint32_t kHigh = kBytes == 1 ? 0x80808080u : 0x80008000u;
  static constexpr int kTop = 8 * kBytes - 1;

  static constexpr uint32_t add(uint32_t a, uint32_t b) { return ((a & ~kHigh) + (b & ~kHigh)) ^ ((a ^ b) & kHigh); }
  static constexpr uint32_t subtract(uint32_t a, uint32_t b) {
    return ((a | kHigh) - (b & ~kHigh)) ^ ((a ^ ~b) & kHigh);
  }
  // All bits of the elements whose highest bit is set.
  static constexpr uint32_t mask(uint32_t high) { return ((high & kHigh) << 1) - ((high & kHigh) >> kTop); }
  // Of unsigned numbers: the elements of a that are less than those of b.
  static constexpr uint32_t less(uint32_t a, uint32_t b) { return mask((~a & b) | (~(a ^ b) & subtract(a, b))); }
  static constexpr uint32_t select(uint32_t mask, uint32_t a, uint32_t b) { return (a & mask) | (b & ~mask); }
};

template <gpumem_map_op kOp, class T>
constexpr uint32_t packed_extreme(uint32_t a, uint32_t b) {
  using P = Packed<sizeof(T)>;
  constexpr bool kLeast = kOp == GPUMEM_MAP_MINIMUM;
  if constexpr (kIsSixteen<T>) {
    constexpr uint32_t kInfinity = std::is_same_v<T, Half> ? 0x7c00 : 0x7f80;
    constexpr uint32_t kNan = std::is_same_v<T, Half> ? 0x7e007e00 : 0x7fc07fc0;
#if defined(__CUDA_ARCH__)
    if constexpr (std::is_same_v<T, Half>) {
      const auto& x = reinterpret_cast<const __half2&>(a);
      const auto& y = reinterpret_cast<const __half2&>(b);
      const __half2 found = kLeast ? __hmin2_nan(x, y) : __hmax2_nan(x, y);
      return P::select(__hneu2_mask(found, found), kNan, reinterpret_cast<const uint32_t&>(found));
    }
#endif
    const auto key = [](uint32_t v) { return v ^ (P::mask(v) | P::kHigh); };
    const uint32_t first = P::less(key(a), key(b));
    const auto is_nan = [](uint32_t v) { return (v & ~P::kHigh) + (0x7fff - kInfinity) * 0x10001u; };
    return P::select(P::mask(is_nan(a) | is_nan(b)), kNan, kLeast ? P::select(first, a, b) : P::select(first, b, a));
  } else {
    constexpr uint32_t kFlip = std::is_signed_v<T> ? P::kHigh : 0;
    const uint32_t first = P::less(a ^ kFlip, b ^ kFlip);
    return kLeast ? P::select(first, a, b) : P::select(first, b, a);
  }
}

template <gpumem_map_op kOp, class T>
constexpr uint32_t packed_mapped(uint32_t a, uint32_t b) {
  using P = Packed<sizeof(T)>;
  if constexpr (kOp == GPUMEM_MAP_NEGATE) return P::subtract(0, a);
  if constexpr (kOp == GPUMEM_MAP_ABSOLUTE) {
    if constexpr (!std::is_signed_v<T>) return a;
    const uint32_t negative = P::mask(a);
    return P::subtract(a ^ negative, negative);
  }
  if constexpr (kOp == GPUMEM_MAP_NOT) return ~a;
  if constexpr (kOp == GPUMEM_MAP_ADD) return P::add(a, b);
  if constexpr (kOp == GPUMEM_MAP_SUBTRACT) return P::subtract(a, b);
  if constexpr (kOp == GPUMEM_MAP_AND) return a & b;
  if constexpr (kOp == GPUMEM_MAP_OR) return a | b;
  if constexpr (kOp == GPUMEM_MAP_XOR) return a ^ b;
  if constexpr (kOp == GPUMEM_MAP_MINIMUM || kOp == GPUMEM_MAP_MAXIMUM) return packed_extreme<kOp, T>(a, b);
}

}  // namespace
}  // namespace gpumem
