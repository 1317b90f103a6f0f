// Partial results ("nodes") of reductions: the value of a run of elements, in a form that combines with the next run
// without loss. Host and kernels share these types and functions, so they cannot differ.
#pragma once

#include <bit>
#include <cstdint>

#include "kernels/accumulators.hpp"
#include "kernels/elements.hpp"
#include "kernels/order.hpp"
#include "kernels/order_free.hpp"

namespace gpumem {

constexpr NodeKind node_kind(gpumem_dtype dtype, gpumem_reduce_op op) noexcept {
  const Accumulators of = operation_traits(op).accumulators;
  return !is_floating(dtype) ? of.integers : dtype == GPUMEM_F64 ? of.doubles : of.floats;
}

struct RangeNode {
  static constexpr NodeKind kind = NodeKind::range;
  uint64_t low = ~uint64_t{0};
  uint64_t high = 0;

  constexpr RangeNode() noexcept = default;
  constexpr RangeNode(uint64_t lowest, uint64_t highest) noexcept : low(lowest), high(highest) {}
  constexpr explicit RangeNode(const ReduceNode& n) noexcept : low(n.word[0]), high(n.word[1]) {}
  constexpr ReduceNode stored() const noexcept { return {{low, high}}; }
};

constexpr RangeNode combine(const RangeNode& a, const RangeNode& b) noexcept {
  return {b.low < a.low ? b.low : a.low, b.high > a.high ? b.high : a.high};
}

// The lowest rank and its first index.
struct ArgNode {
  static constexpr NodeKind kind = NodeKind::arg;
  uint64_t rank = ~uint64_t{0};
  int64_t index = INT64_MAX;

  constexpr ArgNode() noexcept = default;
  constexpr ArgNode(uint64_t r, int64_t i) noexcept : rank(r), index(i) {}
  constexpr explicit ArgNode(const ReduceNode& n) noexcept : rank(n.word[0]), index(static_cast<int64_t>(n.word[1])) {}
  constexpr ReduceNode stored() const noexcept { return {{rank, static_cast<uint64_t>(index)}}; }
};

constexpr ArgNode combine(const ArgNode& a, const ArgNode& b) noexcept {
  return b.rank < a.rank || (b.rank == a.rank && b.index < a.index) ? b : a;
}

struct SumNode {
  static constexpr NodeKind kind = NodeKind::sum;
  double sum = 0;

  constexpr SumNode() noexcept = default;
  constexpr explicit SumNode(double s) noexcept : sum(s) {}
  constexpr explicit SumNode(const ReduceNode& n) noexcept : sum(std::bit_cast<double>(n.word[0])) {}
  constexpr ReduceNode stored() const noexcept { return {{std::bit_cast<uint64_t>(sum)}}; }
};

constexpr SumNode combine(const SumNode& a, const SumNode& b) noexcept { return SumNode(a.sum + b.sum); }

struct ProductNode {
  static constexpr NodeKind kind = NodeKind::product;
  double product = 1;

  constexpr ProductNode() noexcept = default;
  constexpr explicit ProductNode(double p) noexcept : product(p) {}
  constexpr explicit ProductNode(const ReduceNode& n) noexcept : product(std::bit_cast<double>(n.word[0])) {}
  constexpr ReduceNode stored() const noexcept { return {{std::bit_cast<uint64_t>(product)}}; }
};

constexpr ProductNode combine(const ProductNode& a, const ProductNode& b) noexcept {
  return ProductNode(a.product * b.product);
}

struct CompensatedNode {
  static constexpr NodeKind kind = NodeKind::compensated;
  double sum = 0;
  double error = 0;

  constexpr CompensatedNode() noexcept = default;
  constexpr explicit CompensatedNode(double s, double e = 0) noexcept : sum(s), error(e) {}
  constexpr explicit CompensatedNode(const ReduceNode& n) noexcept
      : sum(std::bit_cast<double>(n.word[0])), error(std::bit_cast<double>(n.word[1])) {}
  constexpr ReduceNode stored() const noexcept {
    return {{std::bit_cast<uint64_t>(sum), std::bit_cast<uint64_t>(error)}};
  }
};

// TwoSum (D. E. Knuth, The Art of Computer Programming 2, 4.2.2, theorem B): the rounding error of a + b is exact.
constexpr CompensatedNode combine(const CompensatedNode& a, const CompensatedNode& b) noexcept {
  const double sum = a.sum + b.sum;
  const double of_b = sum - a.sum;
  const double error = (a.sum - (sum - of_b)) + (b.sum - of_b);
  return CompensatedNode(sum, (a.error + b.error) + error);
}

// Three sums of squares: of small elements (scaled up), of medium ones, and of large ones (scaled down).
struct NormNode {
  static constexpr NodeKind kind = NodeKind::norm;
  double small = 0;
  double middle = 0;
  double large = 0;

  constexpr NormNode() noexcept = default;
  constexpr NormNode(double s, double m, double l) noexcept : small(s), middle(m), large(l) {}
  constexpr explicit NormNode(const ReduceNode& n) noexcept
      : small(std::bit_cast<double>(n.word[0])),
        middle(std::bit_cast<double>(n.word[1])),
        large(std::bit_cast<double>(n.word[2])) {}
  constexpr ReduceNode stored() const noexcept {
    return {{std::bit_cast<uint64_t>(small), std::bit_cast<uint64_t>(middle), std::bit_cast<uint64_t>(large)}};
  }
};

constexpr NormNode combine(const NormNode& a, const NormNode& b) noexcept {
  return {a.small + b.small, a.middle + b.middle, a.large + b.large};
}

// A NaN counts as medium.
constexpr NormNode norm_term(double x) noexcept {
  const double size = __builtin_fabs(x);
  if (size > kNormLarge) return {0, 0, (x * kNormScaleLarge) * (x * kNormScaleLarge)};
  if (size < kNormSmall) return {(x * kNormScaleSmall) * (x * kNormScaleSmall), 0, 0};
  return {0, x * x, 0};
}

// The term of a floating-point element in a sum. `op` is a sum of one operand's terms.
constexpr double sum_term(gpumem_reduce_op op, double x) noexcept {
  switch (static_cast<decltype(GPUMEM_SUM)>(op)) {
    case GPUMEM_SUM_ABS:
      return __builtin_fabs(x);
    case GPUMEM_SUM_SQUARES:
    case GPUMEM_NRM2:
      return x * x;
    case GPUMEM_SUM_CUBES:
      return (x * x) * x;
    case GPUMEM_SUM_VALID:
      return x == x ? x : 0;
    case GPUMEM_COUNT_VALID:
      return x == x ? 1 : 0;
    case GPUMEM_SUM:
    case GPUMEM_SUM_COMPENSATED:
    case GPUMEM_DOT:
    case GPUMEM_MIN:
    case GPUMEM_MAX:
    case GPUMEM_MAX_ABS:
    case GPUMEM_MIN_MAX:
    case GPUMEM_ARG_MIN:
    case GPUMEM_ARG_MAX:
    case GPUMEM_ARG_MAX_ABS:
    case GPUMEM_PROD:
    case GPUMEM_MIN_VALID:
    case GPUMEM_MAX_VALID:
    case GPUMEM_ARG_MIN_VALID:
    case GPUMEM_ARG_MAX_VALID:
    case GPUMEM_SUM_ORDER_FREE:
    case GPUMEM_NRM2_ORDER_FREE:
    case GPUMEM_DOT_ORDER_FREE:
      break;
  }
  return x;
}

// The term of a magnitude, of a valid element, or of its count: sum_term() without branches. Other operations give x.
struct MaskedSum {
  uint64_t keep;  // bits of an element
  uint64_t set;
  bool skips;  // NaNs have no term

  constexpr explicit MaskedSum(gpumem_reduce_op op) noexcept
      : keep(op == GPUMEM_SUM_ABS       ? ~uint64_t{0} >> 1
             : op == GPUMEM_COUNT_VALID ? 0
                                        : ~uint64_t{0}),
        set(op == GPUMEM_COUNT_VALID ? std::bit_cast<uint64_t>(1.0) : 0),
        skips(op == GPUMEM_SUM_VALID || op == GPUMEM_COUNT_VALID) {}
  constexpr double masked(double x) const noexcept {
    return std::bit_cast<double>((std::bit_cast<uint64_t>(x) & keep) | set);
  }
  constexpr double term(double x) const noexcept { return skips && x != x ? 0 : masked(x); }
};

template <class F>
constexpr auto with_node(NodeKind kind, const F& f) {
  switch (kind) {
    case NodeKind::integer:
      return f(IntegerNode{});
    case NodeKind::integer_product:
      return f(IntegerProductNode{});
    case NodeKind::range:
      return f(RangeNode{});
    case NodeKind::arg:
      return f(ArgNode{});
    case NodeKind::order_free:
      return f(OrderFreeNode{});
    case NodeKind::sum:
      return f(SumNode{});
    case NodeKind::product:
      return f(ProductNode{});
    case NodeKind::compensated:
      return f(CompensatedNode{});
    case NodeKind::norm:
      break;
  }
  return f(NormNode{});
}

constexpr ReduceNode empty_node(NodeKind kind) noexcept {
  return with_node(kind, [](auto node) { return node.stored(); });
}
constexpr ReduceNode combine(NodeKind kind, const ReduceNode& a, const ReduceNode& b) noexcept {
  return with_node(kind, [&](auto node) {
    using Node = decltype(node);
    return combine(Node(a), Node(b)).stored();
  });
}

// Adds the next node to the pairwise tree. levels[i * pitch], i < kTreeLevels, is the caller's memory. It holds a
// subtree of 2^i nodes if bit i of `count`, the number of earlier nodes, is set.
constexpr int kTreeLevels = 64;
constexpr void push_node(NodeKind kind, ReduceNode* levels, int64_t pitch, int64_t count,
                         const ReduceNode& node) noexcept {
  ReduceNode subtree = node;
  int level = 0;
  for (; (count >> level & 1) != 0; ++level) subtree = combine(kind, levels[level * pitch], subtree);
  levels[level * pitch] = subtree;
}

constexpr ReduceNode fold_nodes(NodeKind kind, const ReduceNode* levels, int64_t pitch, int64_t count) noexcept {
  if (count == 0) return empty_node(kind);
  auto left = static_cast<uint64_t>(count);
  ReduceNode node = levels[std::countr_zero(left) * pitch];
  for (left &= left - 1; left != 0; left &= left - 1) {
    node = combine(kind, levels[std::countr_zero(left) * pitch], node);
  }
  return node;
}

// Combines nodes that are all present, `step` apart.
constexpr ReduceNode fold_all(NodeKind kind, const ReduceNode* nodes, int64_t step, int64_t count) noexcept {
  ReduceNode levels[kTreeLevels];
  for (int64_t i = 0; i < count; ++i) push_node(kind, levels, 1, i, nodes[i * step]);
  return fold_nodes(kind, levels, 1, count);
}

}  // namespace gpumem
