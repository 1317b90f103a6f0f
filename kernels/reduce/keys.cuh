// The keys of range_key() for device code, and their minimum and maximum.
#pragma once

#include "kernels/reduce/blocks.cuh"

namespace gpumem::kernels {

// dtype has kBytes bytes.
template <int kBytes, class F>
__device__ __forceinline__ auto for_type(gpumem_dtype dtype, const F& f) {
  static_assert(kDtypes == 12);  // three of a size, but for bytes
  if constexpr (kBytes == 1) {
    return dtype == GPUMEM_I8 ? f(GPUMEM_I8) : f(GPUMEM_U8);
  } else {
    constexpr gpumem_dtype kFloat = kBytes == 2 ? GPUMEM_F16 : kBytes == 4 ? GPUMEM_F32 : GPUMEM_F64;
    constexpr gpumem_dtype kSigned = kBytes == 2 ? GPUMEM_I16 : kBytes == 4 ? GPUMEM_I32 : GPUMEM_I64;
    if (dtype == kFloat) return f(kFloat);
    if (kBytes == 2 && dtype == GPUMEM_BF16) return f(GPUMEM_BF16);
    return dtype == kSigned ? f(kSigned) : f(kSigned + 1);
  }
}

// range_key() with its dependence on type and operation in two words. Elements of 1 and 2 bytes are handled two at a
// time.
template <int kSize>
struct RangeElement {
  using Node = std::conditional_t<kSize == 8, RangeNode, SmallRangeNode>;
  using Partial = std::conditional_t<(kSize <= 2), HalfRangeNode<8 * kSize>, Node>;
  using Key = std::conditional_t<kSize == 8, uint64_t, uint32_t>;
  static constexpr int kBytes = kSize;
  static constexpr bool kOrdered = false;
  static constexpr Key kSign = Key{1} << (8 * kSize - 1);
  static constexpr Key kAll = static_cast<Key>(~Key{0} >> (8 * (sizeof(Key) - kSize)));
  Key negative;  // bits to flip in negative elements
  Key shift;     // to add to each element then
  __device__ RangeElement(gpumem_dtype dtype, gpumem_reduce_op op) : negative(is_floating(dtype) ? kAll ^ kSign : 0) {
    const Key sign = is_floating(dtype) || is_signed_integer(dtype) ? kSign : 0;
    const auto of_type = [op](gpumem_dtype type) { return static_cast<Key>(key_shift(type, op)); };
    shift = (sign + for_type<kSize>(dtype, of_type)) & kAll;
  }
  __device__ __forceinline__ void enter(Partial& node, UnsignedOf<kSize> bits) const {
    if constexpr (kSize <= 2) {
      enter_pair(node, bits, bits);
    } else {
      const auto spread =
          static_cast<Key>(static_cast<std::make_signed_t<Key>>(static_cast<Key>(bits)) >> (8 * kSize - 1));
      const Key key = (static_cast<Key>(bits) ^ (spread & negative)) + shift;
      node.low = key < node.low ? key : node.low;
      node.high = key > node.high ? key : node.high;
    }
  }
  __device__ __forceinline__ void enter_pair(Partial& node, UnsignedOf<kSize> first, UnsignedOf<kSize> second) const {
    enter_halves(node, (first | static_cast<uint32_t>(second) << 16) << (kSize == 1 ? 8 : 0));
  }
  __device__ __forceinline__ void enter_word(Partial& node, uint32_t word) const {
    if constexpr (kSize == 4) {
      enter(node, word);
    } else {
      enter_halves(node, word);
      if (kSize == 1) enter_halves(node, word << 8);
    }
  }
  __device__ __forceinline__ void enter_words(Partial& node, const uint4& w) const {
    if constexpr (kSize == 8) {
      enter(node, static_cast<uint64_t>(w.y) << 32 | w.x);
      enter(node, static_cast<uint64_t>(w.w) << 32 | w.z);
    } else {
      enter_word(node, w.x);
      enter_word(node, w.y);
      enter_word(node, w.z);
      enter_word(node, w.w);
    }
  }

 private:
  // No floating-point type has one byte. Bytes are in the upper parts, and the bits below are arbitrary.
  __device__ __forceinline__ void enter_halves(Partial& node, uint32_t bits) const {
    if constexpr (kSize == 1) {
      const uint32_t keys = bits ^ shift * 0x01000100u;
      node.low = __vminu2(node.low, keys);
      node.high = __vmaxu2(node.high, keys);
    } else {
      const uint32_t ordered = bits ^ (bits >> 15 & 0x00010001u) * negative;
      const uint32_t shifts = shift * 0x00010001u;
      node.low = __viaddmin_u16x2(ordered, shifts, node.low);  // one instruction since sm_90
      node.high = __viaddmax_u16x2(ordered, shifts, node.high);
    }
  }
};

template <class F>
constexpr auto for_element_size(gpumem_dtype dtype, const F& f) {
  switch (element_bytes(dtype)) {
    case 1:
      return f.template operator()<1>();
    case 2:
      return f.template operator()<2>();
    case 4:
      return f.template operator()<4>();
    default:
      return f.template operator()<8>();
  }
}

// Calls f with a type that has the same order: the unsigned integer of the same size, or f16 for f16 and bf16.
template <class F>
cudaError_t for_key_class(gpumem_dtype dtype, const F& f) {
  return for_element_size(dtype, [&]<int kSize>() {
    constexpr gpumem_dtype kUnsigned = 2 * std::bit_width(static_cast<unsigned>(kSize)) - 1;
    static_assert(GPUMEM_U8 == 1 && GPUMEM_U16 == 3 && GPUMEM_U32 == 5 && GPUMEM_U64 == 7);
    if constexpr (kSize > 1) {
      constexpr gpumem_dtype kFloat = kSize == 2 ? GPUMEM_F16 : kSize == 4 ? GPUMEM_F32 : GPUMEM_F64;
      if (is_floating(dtype)) return f.template operator()<kFloat>();
    }
    return f.template operator()<kUnsigned>();
  });
}

}  // namespace gpumem::kernels
