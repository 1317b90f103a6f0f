// What an element adds to the node of its line, by its bits: for kernels that take elements one by one. The operation is a value of the
// launch, but for sums and sums of squares of floating-point elements.
#pragma once

#include <cuda_fp16.h>

#include "kernels/reduce/blocks.cuh"

namespace gpumem::kernels {

template <int kBytes>
using UnsignedOf =
    std::conditional_t<kBytes == 8, unsigned long long,
                       std::conditional_t<kBytes == 4, uint32_t, std::conditional_t<kBytes == 2, uint16_t, uint8_t>>>;

// kOp: GPUMEM_SUM or GPUMEM_SUM_SQUARES; another stands for all others.
template <gpumem_dtype kType, gpumem_reduce_op kOp>
struct SumElement {
  using Node = SumNode;
  static constexpr int kBytes = element_bytes(kType);
  static constexpr bool kOrdered = true;
  gpumem_reduce_op op;
  __device__ SumElement(gpumem_dtype, gpumem_reduce_op o) : op(o) {}
  __device__ __forceinline__ void enter(Node& node, UnsignedOf<kBytes> bits) const {
    const double x = value(bits);
    node.sum += sum_term(kOp == GPUMEM_SUM || kOp == GPUMEM_SUM_SQUARES ? kOp : op, x);
  }

 private:
  __device__ __forceinline__ static double value(UnsignedOf<kBytes> bits) {
    if constexpr (kType == GPUMEM_F16) {
      return __half2float(__ushort_as_half(bits));
    } else {
      return to_double(kType, bits);
    }
  }
};

struct CompensatedElement {
  using Node = CompensatedNode;
  static constexpr int kBytes = 8;
  static constexpr bool kOrdered = true;
  __device__ CompensatedElement(gpumem_dtype, gpumem_reduce_op) {}
  __device__ __forceinline__ void enter(Node& node, unsigned long long bits) const {
    node = combine(node, CompensatedNode(__longlong_as_double(static_cast<long long>(bits))));
  }
};

// key_of() with the type's part of it in two words.
template <int kSize>
struct RangeElement {
  using Node = std::conditional_t<kSize == 8, RangeNode, SmallRangeNode>;
  using Key = std::conditional_t<kSize == 8, uint64_t, uint32_t>;
  static constexpr int kBytes = kSize;
  static constexpr bool kOrdered = false;
  static constexpr Key kSign = Key{1} << (8 * kSize - 1);
  static constexpr Key kAll = static_cast<Key>(~Key{0} >> (8 * (sizeof(Key) - kSize)));
  Key sign;      // to be turned over in each element
  Key negative;  // and in those with a sign bit
  __device__ RangeElement(gpumem_dtype dtype, gpumem_reduce_op)
      : sign(is_floating(dtype) || is_signed_integer(dtype) ? kSign : 0),
        negative(is_floating(dtype) ? kAll ^ kSign : 0) {}
  __device__ __forceinline__ void enter(Node& node, UnsignedOf<kSize> bits) const {
    using Signed = std::make_signed_t<UnsignedOf<kSize>>;
    const auto spread =
        static_cast<Key>(static_cast<std::make_signed_t<Key>>(static_cast<Signed>(bits)) >> (8 * kSize - 1));
    const Key key = static_cast<Key>(bits) ^ ((spread & negative) | sign);
    node.low = key < node.low ? key : node.low;
    node.high = key > node.high ? key : node.high;
  }
};

// Sums, sums of absolutes and, of bytes, of powers: 2^31 terms fit 64 bits.
template <int kSize>
struct NarrowElement {
  using Node = NarrowNode;
  static constexpr int kBytes = kSize;
  static constexpr bool kOrdered = false;
  gpumem_reduce_op op;
  uint32_t sign;  // of signed types, else 0
  __device__ NarrowElement(gpumem_dtype dtype, gpumem_reduce_op o)
      : op(o), sign(is_signed_integer(dtype) ? 1u << (8 * kSize - 1) : 0) {}
  __device__ __forceinline__ void enter(Node& node, UnsignedOf<kSize> bits) const {
    const int64_t v = static_cast<int64_t>(bits ^ sign) - static_cast<int64_t>(sign);
    if (op == GPUMEM_SUM) {
      node.sum += v;
    } else if (op == GPUMEM_SUM_ABS) {
      node.sum += v < 0 ? -v : v;
    } else if constexpr (kSize == 1) {
      const auto narrow = static_cast<int32_t>(v);
      node.sum += narrow * narrow * (op == GPUMEM_SUM_CUBES ? narrow : 1);
    }
  }
};

// What 128 bits are enough for: sums of 64-bit elements, powers of elements of 16 and 32.
template <int kSize>
struct WideElement {
  using Node = WideNode;
  static constexpr int kBytes = kSize;
  static constexpr bool kOrdered = false;
  gpumem_reduce_op op;
  bool is_signed;
  __device__ WideElement(gpumem_dtype dtype, gpumem_reduce_op o) : op(o), is_signed(is_signed_integer(dtype)) {}
  __device__ __forceinline__ void enter(Node& node, UnsignedOf<kSize> bits) const {
    const bool negative = is_signed && (bits >> (8 * kSize - 1)) != 0;
    const uint64_t extended = bits | (negative && kSize < 8 ? ~uint64_t{0} << (8 * kSize % 64) : 0);
    const uint64_t magnitude = negative ? 0 - extended : extended;
    if constexpr (kSize == 8) {
      const auto term = static_cast<Int128>(magnitude);
      node.sum += negative && op == GPUMEM_SUM ? -term : term;
    } else {
      const uint64_t square = magnitude * magnitude;
      const Int128 cube = static_cast<Int128>(static_cast<Uint128>(square) * magnitude);
      node.sum += op == GPUMEM_SUM_SQUARES ? static_cast<Int128>(square) : negative ? -cube : cube;
    }
  }
};

// Powers of 64-bit elements.
struct PowerElement {
  using Node = IntegerNode;
  static constexpr int kBytes = 8;
  static constexpr bool kOrdered = false;
  gpumem_dtype dtype;
  gpumem_reduce_op op;
  __device__ PowerElement(gpumem_dtype d, gpumem_reduce_op o) : dtype(d), op(o) {}
  __device__ __forceinline__ void enter(Node& node, unsigned long long bits) const {
    node = combine(node, integer_term(dtype, op, bits));
  }
};

// Calls f with the sum of a floating-point type and operation.
template <class F>
cudaError_t for_sum_element(gpumem_dtype dtype, gpumem_reduce_op op, const F& f) {
  const auto sum = [&]<gpumem_dtype kType>() {
    if (op == GPUMEM_SUM) return f.template operator()<SumElement<kType, GPUMEM_SUM>>();
    return op == GPUMEM_SUM_SQUARES ? f.template operator()<SumElement<kType, GPUMEM_SUM_SQUARES>>()
                                    : f.template operator()<SumElement<kType, GPUMEM_SUM_ABS>>();
  };
  if (op == GPUMEM_SUM_COMPENSATED) return f.template operator()<CompensatedElement>();
  switch (dtype) {
    case GPUMEM_F16:
      return sum.template operator()<GPUMEM_F16>();
    case GPUMEM_BF16:
      return sum.template operator()<GPUMEM_BF16>();
    case GPUMEM_F32:
      return sum.template operator()<GPUMEM_F32>();
    default:
      return sum.template operator()<GPUMEM_F64>();
  }
}

// Calls f with the sum of an integer type and operation.
template <class F>
cudaError_t for_integer_element(gpumem_dtype dtype, gpumem_reduce_op op, const F& f) {
  const bool power = op == GPUMEM_SUM_SQUARES || op == GPUMEM_SUM_CUBES;
  switch (element_bytes(dtype)) {
    case 1:
      return f.template operator()<NarrowElement<1>>();
    case 2:
      return power ? f.template operator()<WideElement<2>>() : f.template operator()<NarrowElement<2>>();
    case 4:
      return power ? f.template operator()<WideElement<4>>() : f.template operator()<NarrowElement<4>>();
    default:
      return power ? f.template operator()<PowerElement>() : f.template operator()<WideElement<8>>();
  }
}

// Calls f with the element of any type and operation.
template <class F>
cudaError_t for_element(gpumem_dtype dtype, gpumem_reduce_op op, const F& f) {
  switch (node_kind(dtype, op)) {
    case NodeKind::integer:
      return for_integer_element(dtype, op, f);
    case NodeKind::range:
      break;
    default:
      return for_sum_element(dtype, op, f);
  }
  switch (element_bytes(dtype)) {
    case 1:
      return f.template operator()<RangeElement<1>>();
    case 2:
      return f.template operator()<RangeElement<2>>();
    case 4:
      return f.template operator()<RangeElement<4>>();
    default:
      return f.template operator()<RangeElement<8>>();
  }
}

}  // namespace gpumem::kernels
