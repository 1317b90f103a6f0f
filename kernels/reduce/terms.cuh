// What an element adds to the node of its line, by its bits: for kernels that take elements one by one. The operation is a value of the
// launch, but for sums and sums of squares of floating-point elements. A Partial is the node of no more than a leaf's elements, and
// kOrdered says whether its bits depend on their order.
#pragma once

#include <cuda_fp16.h>

#include "kernels/reduce/blocks.cuh"
#include "kernels/reduce/line_plans.hpp"

namespace gpumem::kernels {

template <int kBytes>
using UnsignedOf =
    std::conditional_t<kBytes == 8, unsigned long long,
                       std::conditional_t<kBytes == 4, uint32_t, std::conditional_t<kBytes == 2, uint16_t, uint8_t>>>;

// kOp: GPUMEM_SUM or GPUMEM_SUM_SQUARES; another stands for all others.
template <gpumem_dtype kType, gpumem_reduce_op kOp>
struct SumElement {
  using Node = SumNode;
  using Partial = Node;
  static constexpr int kBytes = element_bytes(kType);
  static constexpr bool kOrdered = leaf_kind(kType, kOp).ordered;
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
  using Partial = Node;
  static constexpr int kBytes = 8;
  static constexpr bool kOrdered = true;
  __device__ CompensatedElement(gpumem_dtype, gpumem_reduce_op) {}
  __device__ __forceinline__ void enter(Node& node, unsigned long long bits) const {
    node = combine(node, CompensatedNode(__longlong_as_double(static_cast<long long>(bits))));
  }
};

// key_of() with the type's part of it in two words. Elements of 1 and 2 bytes go two at a time, in the halves of a word.
template <int kSize>
struct RangeElement {
  using Node = std::conditional_t<kSize == 8, RangeNode, SmallRangeNode>;
  using Partial = std::conditional_t<(kSize <= 2), HalfRangeNode, Node>;
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
  __device__ __forceinline__ void enter(Partial& node, UnsignedOf<kSize> bits) const {
    if constexpr (kSize <= 2) {
      enter_pair(node, bits, bits);
    } else {
      const auto spread =
          static_cast<Key>(static_cast<std::make_signed_t<Key>>(static_cast<Key>(bits)) >> (8 * kSize - 1));
      const Key key = static_cast<Key>(bits) ^ ((spread & negative) | sign);
      node.low = key < node.low ? key : node.low;
      node.high = key > node.high ? key : node.high;
    }
  }
  __device__ __forceinline__ void enter_pair(Partial& node, UnsignedOf<kSize> first, UnsignedOf<kSize> second) const
      requires(kSize <= 2) {
    const uint32_t bits = first | static_cast<uint32_t>(second) << 16;
    const uint32_t signs = kSize == 1 ? 0 : bits >> 15 & 0x00010001u;  // no floating-point type has 8 bits
    const uint32_t keys = bits ^ (signs * negative | sign * 0x00010001u);
    node.low = __vminu2(node.low, keys);
    node.high = __vmaxu2(node.high, keys);
  }
};

// Sums, sums of absolutes and, of bytes, of squares: 2^31 terms fit 64 bits, and of small elements a leaf's terms 32.
template <int kSize>
struct NarrowElement {
  using Node = NarrowNode;
  using Partial = std::conditional_t<kSize == 4, Node, LeafNode>;
  static constexpr int kBytes = kSize;
  static constexpr bool kOrdered = false;
  gpumem_reduce_op op;
  uint32_t sign;  // of signed types, else 0
  __device__ NarrowElement(gpumem_dtype dtype, gpumem_reduce_op o)
      : op(o), sign(is_signed_integer(dtype) ? 1u << (8 * kSize - 1) : 0) {}
  __device__ __forceinline__ void enter(Partial& node, UnsignedOf<kSize> bits) const {
    using Sum = std::conditional_t<kSize == 4, int64_t, int32_t>;
    const Sum v = static_cast<Sum>(bits ^ sign) - static_cast<Sum>(sign);
    if (op == GPUMEM_SUM) {
      node.sum += v;
    } else if (op == GPUMEM_SUM_ABS) {
      node.sum += v < 0 ? -v : v;
    } else if constexpr (kSize == 1) {
      node.sum += v * v;
    }
  }
};

// What 128 bits are enough for: sums of 64-bit elements, powers of smaller ones.
template <int kSize>
struct WideElement {
  using Node = WideNode;
  using Partial = Node;
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
      const uint64_t square = uint64_t{static_cast<uint32_t>(magnitude)} * static_cast<uint32_t>(magnitude);
      if (op == GPUMEM_SUM_SQUARES) {
        node.sum += square;
      } else {
        const auto cube = static_cast<Int128>(static_cast<Uint128>(square) * magnitude);
        node.sum += negative ? -cube : cube;
      }
    }
  }
};

// Powers of 64-bit elements.
struct PowerElement {
  using Node = IntegerNode;
  using Partial = Node;
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
      return op == GPUMEM_SUM_CUBES ? f.template operator()<WideElement<1>>()
                                    : f.template operator()<NarrowElement<1>>();
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

template <class Term>
constexpr bool takes_pairs() {
  return std::is_same_v<typename Term::Partial, HalfRangeNode>;
}

template <class Term>
constexpr LeafKind leaf_kind_of() {
  return {Term::kOrdered, sizeof(typename Term::Partial) > 8};
}

template <class Term>
using BitsOf = UnsignedOf<Term::kBytes>;

template <class Term>
__device__ __forceinline__ BitsOf<Term> load_element(const char* p) {
  return __ldcs(reinterpret_cast<const BitsOf<Term>*>(p));
}

// A lane's own steps of the fold, the farthest apart first. By recursion: of loops in loops, nvcc 13.0 left an array of 16 in memory.
template <class Node, int kEach, int kHalf = kEach / 2>
__device__ __forceinline__ Node fold_own(Node (&a)[kEach]) {
  if constexpr (kHalf == 0) {
    return a[0];
  } else {
#pragma unroll
    for (int k = 0; k < kHalf; ++k) a[k] = combine(a[k], a[k + kHalf]);
    return fold_own<Node, kEach, kHalf / 2>(a);
  }
}

// A minimum or maximum, by the code for its type alone.
template <int kBytes, gpumem_dtype... kTypes>
__device__ __forceinline__ uint64_t extremum(const ReduceLaunch& launch, const RangeNode& node) {
  uint64_t word = 0;
  const auto take = [&]<gpumem_dtype kType>() {
    if constexpr (element_bytes(kType) == kBytes) {
      if (launch.dtype == kType) word = value_of(kType, launch.op, node).word[0];
    }
  };
  (take.template operator()<kTypes>(), ...);
  return word;
}

// kEmpty: the line may have no elements, or offsets that are not sound.
template <class Term, bool kEmpty, class Node>
__device__ __forceinline__ void finish(const ReduceLaunch& launch, int64_t index, const Line& line, const Node& node) {
  if (kEmpty && line.n <= 0) return finish_line<Node::kind>(launch, index, line, node.stored());
  if constexpr (Node::kind == NodeKind::range) {
    if (launch.op == GPUMEM_MIN || launch.op == GPUMEM_MAX) {
      static_cast<uint64_t*>(launch.result)[index] =
          extremum<Term::kBytes, GPUMEM_I8, GPUMEM_U8, GPUMEM_I16, GPUMEM_U16, GPUMEM_I32, GPUMEM_U32, GPUMEM_I64,
                   GPUMEM_U64, GPUMEM_F16, GPUMEM_BF16, GPUMEM_F32, GPUMEM_F64>(launch, RangeNode(node.stored()));
      return;
    }
  }
  finish_sound_line(launch, index, line.n, node);
}

}  // namespace gpumem::kernels
