// Keys of elements by whole 32-bit words, and their lowest and highest: unsigned numbers in the order of the elements, as key_of()
// gives them. Elements of 8 and 16 bits go two at a time, in halves of a word.
#pragma once

#include "kernels/reduce/blocks.cuh"

namespace gpumem::kernels {

// Elements that are ordered alike: integers of one size (with the sign bit inverted, if they have one), or floating-point
// types of one size.
enum class KeyClass { integer8, integer16, integer32, integer64, floating16, f32, f64 };

constexpr int key_bytes(KeyClass c) {
  switch (c) {
    case KeyClass::integer8:
      return 1;
    case KeyClass::integer16:
    case KeyClass::floating16:
      return 2;
    case KeyClass::integer32:
    case KeyClass::f32:
      return 4;
    default:
      return 8;
  }
}

// Lowest and highest of 32-bit words, of halves of words, or of pairs of words.
template <KeyClass kClass>
class KeyRange {
 public:
  static constexpr int kBytes = key_bytes(kClass);

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
    if constexpr (kClass == KeyClass::integer8) {
      const uint32_t key = w ^ (flip_ & 0x80808080u);
      take_halves(key & 0x00ff00ffu);
      take_halves(key >> 8 & 0x00ff00ffu);
    } else if constexpr (kClass == KeyClass::integer16) {
      take_halves(w ^ (flip_ & 0x80008000u));
    } else if constexpr (kClass == KeyClass::floating16) {
      const uint32_t signs = w >> 15 & 0x00010001u;
      take_halves(w ^ (signs * 0x7fffu | 0x80008000u));
    } else if constexpr (kClass == KeyClass::integer32) {
      take_key(w ^ (flip_ & 0x80000000u));
    } else {
      take_key(w ^ (static_cast<uint32_t>(static_cast<int32_t>(w) >> 31) | 0x80000000u));
    }
  }
  __device__ __forceinline__ void take_wide(uint64_t w) {
    constexpr uint64_t kSign = uint64_t{1} << 63;
    if constexpr (kClass == KeyClass::integer64) {
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
template <KeyClass kClass, class F>
__device__ __forceinline__ auto for_type(gpumem_dtype dtype, const F& f) {
  if constexpr (kClass == KeyClass::f32) {
    return f(GPUMEM_F32);
  } else if constexpr (kClass == KeyClass::f64) {
    return f(GPUMEM_F64);
  } else if constexpr (kClass == KeyClass::floating16) {
    return dtype == GPUMEM_F16 ? f(GPUMEM_F16) : f(GPUMEM_BF16);
  } else if constexpr (kClass == KeyClass::integer8) {
    return dtype == GPUMEM_I8 ? f(GPUMEM_I8) : f(GPUMEM_U8);
  } else if constexpr (kClass == KeyClass::integer16) {
    return dtype == GPUMEM_I16 ? f(GPUMEM_I16) : f(GPUMEM_U16);
  } else if constexpr (kClass == KeyClass::integer32) {
    return dtype == GPUMEM_I32 ? f(GPUMEM_I32) : f(GPUMEM_U32);
  } else {
    return dtype == GPUMEM_I64 ? f(GPUMEM_I64) : f(GPUMEM_U64);
  }
}

// Calls f with the class of a type as a constant.
template <class F>
cudaError_t for_key_class(gpumem_dtype dtype, const F& f) {
  switch (dtype) {
    case GPUMEM_I8:
    case GPUMEM_U8:
      return f.template operator()<KeyClass::integer8>();
    case GPUMEM_I16:
    case GPUMEM_U16:
      return f.template operator()<KeyClass::integer16>();
    case GPUMEM_F16:
    case GPUMEM_BF16:
      return f.template operator()<KeyClass::floating16>();
    case GPUMEM_I32:
    case GPUMEM_U32:
      return f.template operator()<KeyClass::integer32>();
    case GPUMEM_F32:
      return f.template operator()<KeyClass::f32>();
    case GPUMEM_F64:
      return f.template operator()<KeyClass::f64>();
    default:
      return f.template operator()<KeyClass::integer64>();
  }
}

}  // namespace gpumem::kernels
