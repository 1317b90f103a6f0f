// The effect of an element on its line's node, for kernels that take elements one by one. Sums, sums of squares and
// products of floating-point elements are compile-time operations, all others are values of the launch. A Partial is
// the node of at most one leaf's elements. kOrdered: its bits depend on their order.
#pragma once

#include <cuda_fp16.h>

#include "kernels/reduce/keys.cuh"
#include "kernels/reduce/line_plans.hpp"

namespace gpumem::kernels {

// kOp: GPUMEM_SUM, GPUMEM_SUM_SQUARES or GPUMEM_PROD. Any other represents all others.
template <gpumem_dtype kType, gpumem_reduce_op kOp>
struct FloatElement {
  using Node = std::conditional_t<kOp == GPUMEM_PROD, ProductNode, SumNode>;
  using Partial = Node;
  static constexpr int kBytes = element_bytes(kType);
  static constexpr bool kOrdered = leaf_kind(kType, kOp).ordered;
  MaskedSum others;
  bool cubes;
  __device__ FloatElement(gpumem_dtype, gpumem_reduce_op op) : others(op), cubes(op == GPUMEM_SUM_CUBES) {}
  __device__ __forceinline__ void enter(Node& node, UnsignedOf<kBytes> bits) const {
    const double x = value(bits);
    if constexpr (kOp == GPUMEM_PROD) {
      node.product *= x;
    } else if constexpr (kOp == GPUMEM_SUM || kOp == GPUMEM_SUM_SQUARES) {
      node.sum += sum_term(kOp, x);
    } else {
      node.sum += cubes ? sum_term(GPUMEM_SUM_CUBES, x) : others.term(x);
    }
  }
  // An element whose term is 0.
  __device__ __forceinline__ UnsignedOf<kBytes> missing() const {
    constexpr auto kNan = static_cast<UnsignedOf<kBytes>>(~0ull);
    return kOp == GPUMEM_SUM_ABS && others.skips ? kNan : 0;
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

// Sums of elements and magnitudes, and of squares of bytes: 2^31 terms fit 64 bits, a leaf's small terms fit 32.
template <int kSize>
struct NarrowElement {
  using Node = NarrowNode;
  using Partial = std::conditional_t<kSize == 4, Node, LeafNode>;
  static constexpr int kBytes = kSize;
  static constexpr bool kOrdered = false;
  gpumem_reduce_op op;
  uint32_t sign;  // of signed types, otherwise 0
  __device__ NarrowElement(gpumem_dtype dtype, gpumem_reduce_op o)
      : op(o), sign(is_signed_integer(dtype) ? 1u << (8 * kSize - 1) : 0) {}
  __device__ __forceinline__ void enter(Partial& node, UnsignedOf<kSize> bits) const {
    using Sum = std::conditional_t<kSize == 4, int64_t, int32_t>;
    const Sum v = static_cast<Sum>(bits ^ sign) - static_cast<Sum>(sign);
    static_assert(count_accumulated_in(NodeKind::sum) == 7);
    if (op == GPUMEM_SUM) {
      node.sum += v;
    } else if (op == GPUMEM_SUM_ABS) {
      node.sum += v < 0 ? -v : v;
    } else if constexpr (kSize == 1) {
      node.sum += v * v;
    }
  }
  __device__ __forceinline__ void enter_word(Partial& node, uint32_t word) const requires(kSize <= 2) {
    constexpr uint32_t kOnes = kSize == 1 ? 0x01010101u : 0x00010001u;
    const uint32_t signs = (word & (sign * kOnes)) >> (8 * kSize - 1);  // of signed types
    if (op == GPUMEM_SUM) {  // treats unsigned elements as signed, and adds the difference
      const uint32_t other = sign ^ (1u << (8 * kSize - 1));
      node.sum = add(static_cast<int32_t>(word ^ other * kOnes), static_cast<int32_t>(kOnes), node.sum) +
                 static_cast<int32_t>(other * (4 / kSize));
    } else {
      const uint32_t magnitudes = (word ^ signs * ((1u << 8 * kSize) - 1)) + signs;
      node.sum = static_cast<int32_t>(
          add(magnitudes, op == GPUMEM_SUM_SQUARES ? magnitudes : kOnes, static_cast<uint32_t>(node.sum)));
    }
  }

 private:
  template <class Word>
  __device__ __forceinline__ static Word add(Word a, Word b, Word sum) {
    return kSize == 1 ? __dp4a(a, b, sum) : __dp2a_lo(a, Word{0x0101}, sum);
  }
};

template <int kSize>
struct SquareElement {
  using Node = std::conditional_t<kSize == 2, NarrowNode, WideNode>;
  using Partial = std::conditional_t<kSize == 2, NarrowNode, SquaresNode>;
  static constexpr int kBytes = kSize;
  static constexpr bool kOrdered = false;
  uint32_t sign;  // of signed types, otherwise 0
  __device__ SquareElement(gpumem_dtype dtype, gpumem_reduce_op)
      : sign(is_signed_integer(dtype) ? 1u << (8 * kSize - 1) : 0) {}
  __device__ __forceinline__ void enter(Partial& node, UnsignedOf<kSize> bits) const {
    const uint32_t magnitude = (bits & sign) != 0 ? (sign << 1) - bits : bits;
    const auto square = term_of<Addend::square, uint64_t>(magnitude);
    if constexpr (kSize == 2) {
      node.sum += static_cast<int64_t>(square);
    } else {
      node.add(square);
    }
  }
};

// Terms whose sums fit 128 bits: 64-bit elements, and cubes of smaller ones.
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
    static_assert(count_accumulated_in(NodeKind::sum) == 7);
    if constexpr (kSize == 8) {
      const auto term = static_cast<Int128>(magnitude);
      node.sum += negative && op == GPUMEM_SUM ? -term : term;
    } else {
      const auto cube = static_cast<Int128>(cube_of_narrow(magnitude));
      node.sum += negative ? -cube : cube;
    }
  }
};

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

template <int kSize>
struct ProductElement {
  using Node = IntegerProductNode;
  using Partial = Node;
  using Bits = UnsignedOf<kSize>;
  static constexpr int kBytes = kSize;
  static constexpr bool kOrdered = false;
  Bits sign;  // of signed types, otherwise 0
  __device__ ProductElement(gpumem_dtype dtype, gpumem_reduce_op)
      : sign(is_signed_integer(dtype) ? static_cast<Bits>(Bits{1} << (8 * kSize - 1)) : 0) {}
  __device__ __forceinline__ void enter(Node& node, Bits bits) const {
    node.multiply({magnitude(bits), (bits & sign) != 0});
  }
  // The product of a word's elements fits 32 bits, so they are one factor.
  __device__ __forceinline__ void enter_word(Node& node, uint32_t word) const requires(kSize <= 4) {
    uint32_t size = 1;
    uint32_t signs = 0;
#pragma unroll
    for (int i = 0; i < 4 / kSize; ++i) {
      const auto bits = static_cast<Bits>(word >> (8 * kSize * i));
      size *= magnitude(bits);
      signs ^= bits & sign;
    }
    node.multiply({size, signs != 0});
  }

 private:
  __device__ __forceinline__ Bits magnitude(Bits bits) const {
    return (bits & sign) != 0 ? static_cast<Bits>(0 - bits) : bits;
  }
};

// The rank of an element, as rank_of() gives it, and its place. A node's elements come with their places ascending.
template <gpumem_dtype kClass>
struct SearchElement {
  static constexpr int kBytes = element_bytes(kClass);
  static constexpr bool kOrdered = false;
  using Rank = std::conditional_t<kBytes == 8, uint64_t, uint32_t>;
  using Node = std::conditional_t<kBytes == 8, ArgNode, SmallArgNode>;
  using Partial = PlaceNode<Rank>;
  static constexpr Rank kSign = Rank{1} << (8 * kBytes - 1);
  static constexpr Rank kAll = static_cast<Rank>(kSign | (kSign - 1));
  Rank negative = 0;  // bits to flip in negative elements
  Rank minus = 0;     // all bits: negative elements change their sign
  Rank flip;          // bits to flip in each element then
  Rank infinity;      // of a type of 16 bits
  Rank of_nan;
  __device__ SearchElement(gpumem_dtype dtype, gpumem_reduce_op op)
      : infinity(kClass == GPUMEM_F16 ? static_cast<Rank>(infinity_bits(dtype)) : 0), of_nan(nan_rank(kClass, op)) {
    const bool magnitudes = op == GPUMEM_ARG_MAX_ABS;
    const bool is_signed = is_floating(kClass) || is_signed_integer(dtype);
    if (is_floating(kClass)) {
      negative = magnitudes ? kSign : kAll ^ kSign;
    } else if (magnitudes && is_signed) {
      negative = kAll;
      minus = ~Rank{0};
    }
    flip = (is_signed && !magnitudes ? kSign : 0) ^ (is_minimum(op) ? 0 : kAll);
  }
  __device__ __forceinline__ void enter(Partial& node, UnsignedOf<kBytes> bits, int place) const {
    const Rank rank = is_nan(bits) ? of_nan : rank_of_number(bits);
    if (rank >= node.rank && node.place != Partial::kNowhere) return;
    node.rank = rank;
    node.place = static_cast<uint32_t>(place);
  }

 private:
  __device__ __forceinline__ Rank rank_of_number(Rank bits) const {
    const Rank spread = 0 - (bits >> (8 * kBytes - 1));
    Rank rank = bits ^ (spread & negative);
    if (!is_floating(kClass)) rank -= spread & minus;
    return rank ^ flip;
  }
  __device__ __forceinline__ bool is_nan(Rank bits) const {
    if constexpr (kClass == GPUMEM_F64) {
      const double x = __longlong_as_double(static_cast<long long>(bits));
      return x != x;
    } else if constexpr (kClass == GPUMEM_F32) {
      const float x = __uint_as_float(bits);
      return x != x;
    } else {
      return is_floating(kClass) && (bits & ~kSign) > infinity;
    }
  }
};

template <class Term>
constexpr bool kSearches = Term::Node::kind == NodeKind::arg;

// place: of the element, for a search.
template <class Term>
__device__ __forceinline__ void enter(const Term& term, typename Term::Partial& node, UnsignedOf<Term::kBytes> bits,
                                      int place) {
  if constexpr (kSearches<Term>) {
    term.enter(node, bits, place);
  } else {
    term.enter(node, bits);
  }
}

// first: the place 0 of a search, in its line.
template <class Term>
__device__ __forceinline__ typename Term::Node node_from(const typename Term::Partial& partial, int64_t first = 0) {
  if constexpr (kSearches<Term>) {
    return {partial.rank, first + partial.place};
  } else {
    return typename Term::Node(partial);
  }
}

template <class F>
cudaError_t for_float_element(gpumem_dtype dtype, gpumem_reduce_op op, const F& f) {
  return for_floating_type(dtype, [&]<gpumem_dtype kType>() {
    switch (addend_of(op)) {
      case Addend::element:
        return f.template operator()<FloatElement<kType, GPUMEM_SUM>>();
      case Addend::square:
        return f.template operator()<FloatElement<kType, GPUMEM_SUM_SQUARES>>();
      case Addend::magnitude:
      case Addend::cube:
      case Addend::valid:
      case Addend::present:
        return f.template operator()<FloatElement<kType, GPUMEM_SUM_ABS>>();
      case Addend::factor:
        return f.template operator()<FloatElement<kType, GPUMEM_PROD>>();
      case Addend::dot:
        break;
    }
    return cudaErrorInvalidValue;
  });
}

template <class F>
cudaError_t for_integer_element(gpumem_dtype dtype, gpumem_reduce_op op, const F& f) {
  return for_element_size(dtype, [&]<int kSize>() {
    using Sum = std::conditional_t<kSize == 8, WideElement<8>, NarrowElement<kSize % 8>>;
    using Square =
        std::conditional_t<kSize == 1, Sum, std::conditional_t<kSize == 8, PowerElement, SquareElement<kSize>>>;
    using Cube = std::conditional_t<kSize == 8, PowerElement, WideElement<kSize>>;
    switch (addend_of(op)) {
      case Addend::element:
      case Addend::magnitude:
        return f.template operator()<Sum>();
      case Addend::square:
        return f.template operator()<Square>();
      case Addend::cube:
        return f.template operator()<Cube>();
      case Addend::factor:
        return f.template operator()<ProductElement<kSize>>();
      case Addend::valid:
      case Addend::present:
      case Addend::dot:
        break;
    }
    return cudaErrorInvalidValue;
  });
}

template <class F>
cudaError_t for_element(gpumem_dtype dtype, gpumem_reduce_op op, const F& f) {
  switch (node_kind(dtype, op)) {
    case NodeKind::integer:
    case NodeKind::integer_product:
      return for_integer_element(dtype, op, f);
    case NodeKind::range:
      return for_element_size(dtype, [&]<int kSize>() { return f.template operator()<RangeElement<kSize>>(); });
    case NodeKind::sum:
    case NodeKind::product:
      return for_float_element(dtype, op, f);
    case NodeKind::compensated:
      return f.template operator()<CompensatedElement>();
    case NodeKind::arg:
    case NodeKind::norm:
    case NodeKind::order_free:
      break;
  }
  return cudaErrorInvalidValue;
}

// The same for rows and columns, with the searches.
template <class F>
cudaError_t for_line_element(gpumem_dtype dtype, gpumem_reduce_op op, const F& f) {
  if (!is_search(op)) return for_element(dtype, op, f);
  return for_key_class(dtype, [&]<gpumem_dtype kClass>() { return f.template operator()<SearchElement<kClass>>(); });
}

template <class Term>
constexpr bool takes_pairs() {
  return Term::Node::kind == NodeKind::range && Term::kBytes <= 2;
}

template <class Term>
constexpr LeafKind leaf_kind_of() {
  return {Term::kOrdered, sizeof(typename Term::Partial) > 8, kSearches<Term>};
}

template <class Term>
using BitsOf = UnsignedOf<Term::kBytes>;

template <class Term>
__device__ __forceinline__ BitsOf<Term> load_element(const char* p) {
  return __ldcs(reinterpret_cast<const BitsOf<Term>*>(p));
}

// Enters the elements of a word. If their order matters, every second one goes to `second`.
template <class Term>
__device__ __forceinline__ void enter_word(const Term& term, typename Term::Partial& first,
                                           typename Term::Partial& second, uint32_t word) {
  if constexpr (requires { term.enter_word(first, word); }) {
    term.enter_word(first, word);
  } else {
#pragma unroll
    for (int i = 0; i < 4 / Term::kBytes; ++i) {
      term.enter(i % 2 == 0 ? first : second, static_cast<BitsOf<Term>>(word >> (8 * Term::kBytes * i)));
    }
  }
}

// A lane's own steps of the fold, the farthest apart first. Recursive: nvcc 13.0 left an array of 16 in memory in
// loops.
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

// kEmpty: the line may have no elements, or invalid offsets.
template <class Term, bool kEmpty, class Node>
__device__ __forceinline__ void finish(const ReduceLaunch& launch, int64_t index, const Line& line, const Node& node) {
  if (kEmpty && line.n <= 0) return finish_line<Node::kind>(launch, index, line, node.stored());
  if constexpr (Node::kind == NodeKind::range) {
    static_assert(count_accumulated_in(NodeKind::range) == 6);
    if (launch.op != GPUMEM_MIN_MAX && launch.op != GPUMEM_MAX_ABS) {
      const RangeNode range(node.stored());
      const uint64_t word = for_type<Term::kBytes>(
          launch.dtype, [&](gpumem_dtype type) { return value_of(type, launch.op, range).word[0]; });
      return store_word<Term::kBytes>(launch, index, word);
    }
  }
  if constexpr (kSearches<Term>) {
    const ArgNode found(node.stored());
    return store_found(launch, index, for_type<Term::kBytes>(launch.dtype, [&](gpumem_dtype type) {
                         return value_of(type, launch.op, found);
                       }));
  }
  finish_sound_line<Term::kBytes>(launch, index, line.n, node);
}

}  // namespace gpumem::kernels
