// Keys of elements by whole 32-bit words, and their lowest and highest: unsigned numbers in the order of the elements, as key_of()
// gives them. Elements of 8 and 16 bits go two at a time, in halves of a word.
#pragma once

#include "kernels/reduce/blocks.cuh"

namespace gpumem::kernels {

// Elements that are ordered alike have one class: integers of one size (with the sign bit inverted, if they have one), or
// floating-point types of one size. It is named by one of them: the unsigned type, or f16.
constexpr gpumem_dtype other_of_class(gpumem_dtype of_class) noexcept {
  static_assert(GPUMEM_U8 == GPUMEM_I8 + 1 && GPUMEM_U16 == GPUMEM_I16 + 1 && GPUMEM_U32 == GPUMEM_I32 + 1 &&
                GPUMEM_U64 == GPUMEM_I64 + 1);
  if (of_class == GPUMEM_F16) return GPUMEM_BF16;
  return is_floating(of_class) ? of_class : of_class - 1;
}

// Lowest and highest of 32-bit words, of halves of words, or of pairs of words.
template <gpumem_dtype kClass>
class KeyRange {
 public:
  static constexpr int kBytes = element_bytes(kClass);

  // flip: the sign bits of signed integers, else 0.
  __device__ explicit KeyRange(gpumem_dtype dtype) : flip_(is_signed_integer(dtype) ? ~uint32_t{0} : 0) {}

  __device__ __forceinline__ void take(const uint4& w) {
    if constexpr (kBytes == 8) {
      take_wide(static_cast<uint64_t>(w.y) << 32 | w.x);
      take_wide(static_cast<uint64_t>(w.w) << 32 | w.z);
    } else {
      take_word(w.x);
      take_word(w.y);
      take_word(w.z);
      take_word(w.w);
    }
  }
  __device__ void take_key(uint64_t key) {
    if constexpr (kBytes == 8) {
      low_ = key < low_ ? key : low_;
      high_ = key > high_ ? key : high_;
    } else if constexpr (kBytes == 4) {
      low_ = min(low_, static_cast<uint32_t>(key));
      high_ = max(high_, static_cast<uint32_t>(key));
    } else {
      const auto both = static_cast<uint32_t>(key | key << 16);
      low_ = __vminu2(low_, both);
      high_ = __vmaxu2(high_, both);
    }
  }
  using Node = std::conditional_t<kBytes == 8, RangeNode, SmallRangeNode>;
  __device__ Node node() const {
    if constexpr (kBytes > 2) {
      return {low_, high_};
    } else {
      return {min(low_ & 0xffffu, low_ >> 16), max(high_ & 0xffffu, high_ >> 16)};
    }
  }

 private:
  using Word = std::conditional_t<kBytes == 8, uint64_t, uint32_t>;

  __device__ __forceinline__ void take_word(uint32_t w) {
    if constexpr (kClass == GPUMEM_U8) {
      const uint32_t key = w ^ (flip_ & 0x80808080u);
      take_halves(key & 0x00ff00ffu);
      take_halves(key >> 8 & 0x00ff00ffu);
    } else if constexpr (kClass == GPUMEM_U16) {
      take_halves(w ^ (flip_ & 0x80008000u));
    } else if constexpr (kClass == GPUMEM_F16) {
      const uint32_t signs = w >> 15 & 0x00010001u;
      take_halves(w ^ (signs * 0x7fffu | 0x80008000u));
    } else if constexpr (kClass == GPUMEM_U32) {
      take_key(w ^ (flip_ & 0x80000000u));
    } else {
      take_key(w ^ (static_cast<uint32_t>(static_cast<int32_t>(w) >> 31) | 0x80000000u));
    }
  }
  __device__ __forceinline__ void take_wide(uint64_t w) {
    constexpr uint64_t kSign = uint64_t{1} << 63;
    if constexpr (kClass == GPUMEM_U64) {
      take_key(w ^ (flip_ != 0 ? kSign : 0));
    } else {
      take_key(w ^ (static_cast<uint64_t>(static_cast<int64_t>(w) >> 63) | kSign));
    }
  }
  __device__ __forceinline__ void take_halves(uint32_t keys) {
    low_ = __vminu2(low_, keys);
    high_ = __vmaxu2(high_, keys);
  }

  uint32_t flip_;
  Word low_ = static_cast<Word>(~Word{0});
  Word high_ = 0;
};

// Calls f(type) with the type as a constant: one of the two, or the one, that are of the class.
template <gpumem_dtype kClass, class F>
__device__ __forceinline__ auto for_type(gpumem_dtype dtype, const F& f) {
  constexpr gpumem_dtype kOther = other_of_class(kClass);
  if constexpr (kOther == kClass) {
    return f(kClass);
  } else {
    return dtype == kOther ? f(kOther) : f(kClass);
  }
}

// Calls f with the class of a type as a constant.
template <class F>
cudaError_t for_key_class(gpumem_dtype dtype, const F& f) {
  if (is_floating(dtype)) {
    if (dtype == GPUMEM_F32) return f.template operator()<GPUMEM_F32>();
    return dtype == GPUMEM_F64 ? f.template operator()<GPUMEM_F64>() : f.template operator()<GPUMEM_F16>();
  }
  switch (element_bytes(dtype)) {
    case 1:
      return f.template operator()<GPUMEM_U8>();
    case 2:
      return f.template operator()<GPUMEM_U16>();
    case 4:
      return f.template operator()<GPUMEM_U32>();
    default:
      return f.template operator()<GPUMEM_U64>();
  }
}

}  // namespace gpumem::kernels
