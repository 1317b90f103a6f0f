// Sums and products of floating-point elements in the order of kernels/order.hpp; compiled once per instruction set
// (loops.hpp). The 128 lanes of a 1024-element block are f64 accumulators, in vectors that stay in registers while it
// is read.
#include <bit>
#include <cstring>
#include <type_traits>
#include <utility>

#include "backend/host/loops/loops.hpp"
#include "backend/host/loops/sums.hpp"
#include "kernels/order.hpp"

namespace gpumem {
namespace {

// Like norm_term(). Masks are all ones if true.
template <class V>
struct Norm {
  V small;
  V middle;
  V large;
  void take(const V& x) {
    const V size = magnitude(x);
    const Bits64 is_large = size > kNormLarge;
    const Bits64 is_small = size < kNormSmall;
    const V down = x * kNormScaleLarge;
    const V up = x * kNormScaleSmall;
    large += only(is_large, down * down);
    small += only(is_small, up * up);
    middle += only(~(is_large | is_small), x * x);
  }
  void join(const Norm& b) {
    small += b.small;
    middle += b.middle;
    large += b.large;
  }
  static V only(const Bits64& mask, const V& v) { return reinterpret_cast<V>(mask & reinterpret_cast<Bits64>(v)); }
  template <class F>
  static auto each(const Norm& a, const F& f) {
    return Norm<decltype(f(a.small))>{f(a.small), f(a.middle), f(a.large)};
  }
};

using Words64 = uint64_t __attribute__((vector_size(kVectorBytes)));

template <template <class> class Lane, class TheTerms>
struct Leaf {
  using Terms = TheTerms;
  using Node = Lane<double>;
  static constexpr int kVectors = kLeafLanes / kWide;
  static constexpr int kMembers = static_cast<int>(sizeof(Node) / sizeof(double));
  static constexpr int kBlock = kAccumulators / (kMembers == 1 ? 1 : kMembers == 2 ? 2 : 4);

  // If the lanes do not fit into the registers, a block of them takes its elements of all rows before the next one does.
  // Two arrays of f64 are then too many streams for the prefetchers of the hardware. AMD EPYC, one and two threads: 15 and 25
  // GB/s from memory, and 19 and 31 row by row. From the caches both are equal. (Of f32, rows take a quarter longer there.)
  static constexpr int kRowsAtOnce = kBlock < kVectors && std::is_same_v<Terms, Products<double>> ? 1 : kLeafRows;

  static Node whole(const Terms& terms) {
    Lane<F64s> lanes[kVectors];
    accumulate(terms, kLeafRows, lanes);
    return folded(vectors_folded(lanes, std::make_integer_sequence<int, kVectors / 2>{}));
  }

  // Full rows of terms, and a last row of `vectors` vectors, which is all of them if there are full rows. Absent lanes
  // hold neutral values.
  static Node part(const Terms& terms, int rows, const Terms& last, int vectors) {
    Lane<F64s> lanes[kVectors];
    for (int v = 0; rows == 0 && v < vectors; ++v) lanes[v] = Lane<F64s>{};
    accumulate(terms, rows, lanes);
    for (int v = 0; v < vectors; ++v) lanes[v].take(last.at(v * kWide));
    for (int h = vectors / 2; h > 0; h /= 2) {
      for (int v = 0; v < h; ++v) lanes[v].join(lanes[v + h]);
    }
    return folded(lanes[0]);
  }

 private:
  static void accumulate(const Terms& terms, int rows, Lane<F64s>* lanes) {
    for (int begin = 0; begin < rows; begin += kRowsAtOnce) {
      const int end = rows < begin + kRowsAtOnce ? rows : begin + kRowsAtOnce;
      for (int v = 0; v < kVectors; v += kBlock) {
        accumulate(terms, begin, end, v, lanes, std::make_integer_sequence<int, kBlock>{});
      }
    }
  }

  template <int... kIndex>
  static void accumulate(const Terms& terms, int begin, int end, int first, Lane<F64s>* lanes,
                         std::integer_sequence<int, kIndex...>) {
    Lane<F64s> block[sizeof...(kIndex)];
    ((block[kIndex] = begin == 0 ? Lane<F64s>{} : lanes[first + kIndex]), ...);
    for (int r = begin; r < end; ++r) {
      const int row = r * kLeafLanes + first * kWide;
      if constexpr (sizeof...(kIndex) > 1) (prefetch<kIndex * kWide>(terms, row), ...);
      (block[kIndex].take(terms.at(row + kIndex * kWide)), ...);
    }
    ((lanes[first + kIndex] = block[kIndex]), ...);
  }

  template <int kOffset>
  static void prefetch(const Terms& terms, int row) {
    using T = typename Terms::T;
    if constexpr (kOffset * sizeof(T) % kLineBytes == 0) {
      prefetch_ahead(terms.x + row + kOffset);
      if constexpr (std::is_same_v<Terms, Products<T>>) prefetch_ahead(terms.y + row + kOffset);
    }
  }
};

// Most blocks hold only zeros and elements of middle size, so they need no sums of the other sizes.
struct NormLeaf {
  using Terms = Plain<double>;
  using Node = Norm<double>;

  static Node whole(const Terms& terms) {
    if (!all_middle(terms.x)) return whole_of_any(terms);
    return {0, Leaf<Sum, Squares<double>>::whole({{terms.x, nullptr}}).value, 0};
  }
  [[gnu::noinline]] static Node whole_of_any(const Terms& terms) {  // keeps its lanes out of its callers' frames
    return Leaf<Norm, Terms>::whole(terms);
  }
  static Node part(const Terms& terms, int rows, const Terms& last, int vectors) {
    return Leaf<Norm, Terms>::part(terms, rows, last, vectors);
  }

 private:
  // Compares the bits of the largest magnitude and of the smallest nonzero one. The latter are subtracted from 2^63,
  // which maps zero to the least.
  static bool all_middle(const double* x) {
    constexpr int kAtOnce = 4;  // vectors, for independent dependency chains
    Bits64 largest[kAtOnce] = {};
    Bits64 smallest[kAtOnce] = {};
    for (int i = 0; i < kLeafTerms; i += kAtOnce * kWide) {
      for (int64_t v = 0; v < kAtOnce; ++v) {
        const double* at = x + i + v * kWide;
        if (v * kVectorBytes % kLineBytes == 0) prefetch_ahead(at);
        const auto size = reinterpret_cast<Bits64>(magnitude(load(at)));
        const auto down = reinterpret_cast<Bits64>((uint64_t{1} << 63) - reinterpret_cast<Words64>(size));
        largest[v] = size > largest[v] ? size : largest[v];
        smallest[v] = down > smallest[v] ? down : smallest[v];
      }
    }
    constexpr int64_t kMost = INT64_MAX - std::bit_cast<int64_t>(kNormSmall) + 1;
    Bits64 others{};
    for (int v = 0; v < kAtOnce; ++v)
      others |= (largest[v] > std::bit_cast<int64_t>(kNormLarge)) | (smallest[v] > kMost);
    int64_t any = 0;
    for (int k = 0; k < kWide; ++k) any |= others[k];
    return any == 0;
  }
};

// The pairwise tree over blocks that come in order: stack[i] is a whole subtree, the larger ones below.
template <class Node>
class Tree {
 public:
  void push(Node node) {
    for (uint64_t place = leaves_++; (place & 1) != 0; place >>= 1) node = joined(stack_[--height_], node);
    stack_[height_++] = node;
  }
  Node value() const {
    Node node = stack_[height_ - 1];
    for (int i = height_ - 2; i >= 0; --i) node = joined(stack_[i], node);
    return node;
  }

 private:
  static Node joined(Node a, const Node& b) {
    a.join(b);
    return a;
  }
  Node stack_[64];
  int height_ = 0;
  uint64_t leaves_ = 0;
};

inline ReduceNode stored(const Norm<double>& v) {
  return {{std::bit_cast<uint64_t>(v.small), std::bit_cast<uint64_t>(v.middle), std::bit_cast<uint64_t>(v.large), 0}};
}

// The last block, of fewer than kLeafTerms terms. Terms::kMissing fills its last row, up to a power of two of vectors
// if it is the only one.
template <class TheLeaf>
typename TheLeaf::Node last_leaf(const typename TheLeaf::Terms& terms, int64_t n) {
  using T = typename TheLeaf::Terms::T;
  int lanes = kWide;
  while (lanes < kLeafLanes && lanes < n) lanes *= 2;
  const int rows = static_cast<int>((n - 1) / kLeafLanes);
  alignas(64) T x[kLeafLanes];
  alignas(64) T y[kLeafLanes];
  const auto pad = [&](T* to, const T* from) {
    if (from == nullptr) return;
    const int64_t there = n - int64_t{rows} * kLeafLanes;
    std::memcpy(to, from + int64_t{rows} * kLeafLanes, static_cast<size_t>(there) * sizeof(T));
    for (int64_t i = there; i < lanes; ++i) to[i] = TheLeaf::Terms::kMissing;
  };
  pad(x, terms.x);
  pad(y, terms.y);
  return TheLeaf::part(terms, rows, {{x, y}}, lanes / kWide);
}

template <class TheLeaf>
ReduceNode run(const void* x, const void* y, int64_t n) {
  using T = typename TheLeaf::Terms::T;
  const auto* at = static_cast<const T*>(x);
  const auto* other = static_cast<const T*>(y);
  if (n < kLeafTerms) return stored(last_leaf<TheLeaf>({{at, other}}, n));
  Tree<typename TheLeaf::Node> tree;
  for (; n >= kLeafTerms; n -= kLeafTerms) {
    tree.push(TheLeaf::whole({{at, other}}));
    at += kLeafTerms;
    if (other != nullptr) other += kLeafTerms;
  }
  if (n > 0) tree.push(last_leaf<TheLeaf>({{at, other}}, n));
  return stored(tree.value());
}

}  // namespace

namespace GPUMEM_LOOPS {
const FloatLoops floats = {floating_loops<ReduceLoop>([]<template <class> class Lane, class Terms>() -> ReduceLoop {
                             using T = typename Terms::T;
                             if constexpr (std::is_same_v<Terms, Products<T>> && sizeof(T) == 2) return nullptr;
                             return run<Leaf<Lane, Terms>>;
                           }),
                           run<Leaf<Compensated, Plain<double>>>, run<NormLeaf>};
}  // namespace GPUMEM_LOOPS

}  // namespace gpumem
