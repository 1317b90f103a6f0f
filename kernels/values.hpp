// From the partial result of a whole reduction to the caller's value. Only this file narrows results, makes NaNs
// canonical and finishes norms, for the host and for the end of a kernel.
#pragma once

#include <cstdint>

#include "kernels/nodes.hpp"

namespace gpumem {

// One or two result words as the caller's memory receives them: int64_t, uint64_t or double by the element type.
struct ReduceValue {
  uint64_t word[2] = {};
  gpumem_status status = GPUMEM_OK;  // or OVERFLOW, with words 0
};

constexpr bool has_empty_value(gpumem_dtype dtype, gpumem_reduce_op op) noexcept {
  return has_empty_value(node_kind(dtype, op));
}

constexpr bool always_has_value(gpumem_dtype dtype, gpumem_reduce_op op, int64_t n) noexcept {
  switch (node_kind(dtype, op)) {
    case NodeKind::integer:
      return !is_power(addend_of(op)) && element_bytes(dtype) <= 4 && n < int64_t{1} << 31;
    case NodeKind::integer_product:
      return false;
    case NodeKind::range:
    case NodeKind::arg:
      return n > 0 && !(extreme_of(op) == Extreme::largest && dtype == GPUMEM_I64);
    case NodeKind::order_free:
    case NodeKind::sum:
    case NodeKind::product:
    case NodeKind::compensated:
    case NodeKind::norm:
      return n > 0;
  }
  __builtin_unreachable();
}

constexpr bool is_finite(double x) noexcept { return x - x == 0; }

constexpr uint64_t word_of(double x) noexcept { return x != x ? kCanonicalNan : std::bit_cast<uint64_t>(x); }

constexpr uint64_t word_of_key(gpumem_dtype dtype, uint64_t key) noexcept {
  const uint64_t bits = bits_of_key(dtype, key);
  return is_floating(dtype) ? word_of(to_double(dtype, bits)) : extend(dtype, bits);
}

constexpr ReduceValue value_of(gpumem_dtype dtype, gpumem_reduce_op, const IntegerNode& n) noexcept {
  const uint64_t sign = is_signed_integer(dtype) && static_cast<int64_t>(n.word[0]) < 0 ? ~uint64_t{0} : 0;
  const bool fits = n.word[1] == sign && n.word[2] == sign && n.word[3] == sign;
  return fits ? ReduceValue{{n.word[0]}, GPUMEM_OK} : ReduceValue{{}, GPUMEM_OVERFLOW};
}

constexpr ReduceValue value_of(gpumem_dtype dtype, gpumem_reduce_op, const IntegerProductNode& n) noexcept {
  const uint64_t most = is_signed_integer(dtype) ? INT64_MAX + uint64_t{n.negative} : UINT64_MAX;
  if (n.overflowed != 0 || n.magnitude > most) return {{}, GPUMEM_OVERFLOW};
  return {{n.negative != 0 ? 0 - n.magnitude : n.magnitude}, GPUMEM_OK};
}

constexpr ReduceValue value_of_magnitude(gpumem_dtype dtype, uint64_t magnitude, uint64_t index = 0) noexcept {
  if (is_floating(dtype)) return {{word_of(to_double(dtype, magnitude)), index}, GPUMEM_OK};
  if (dtype == GPUMEM_I64 && magnitude == sign_bit(dtype)) return {{}, GPUMEM_OVERFLOW};
  return {{magnitude, index}, GPUMEM_OK};
}

constexpr ReduceValue value_of(gpumem_dtype dtype, gpumem_reduce_op op, RangeNode n) noexcept {
  static_assert(count_accumulated_in(NodeKind::range) == 6);
  if (is_floating(dtype) && skips_nan(op)) {
    const uint64_t key = ((is_minimum(op) ? n.low : n.high) - key_shift(dtype, op)) & all_bits(dtype);
    n = {key, key};
  }
  if (is_nan_key(dtype, n.low) || is_nan_key(dtype, n.high)) return {{kCanonicalNan, kCanonicalNan}, GPUMEM_OK};
  if (op == GPUMEM_MAX_ABS) {
    const uint64_t a = magnitude_of_key(dtype, n.low);
    const uint64_t b = magnitude_of_key(dtype, n.high);
    return value_of_magnitude(dtype, a > b ? a : b);
  }
  const uint64_t low = word_of_key(dtype, n.low);
  const uint64_t high = word_of_key(dtype, n.high);
  return {{op == GPUMEM_MAX ? high : low, high}, GPUMEM_OK};
}

constexpr ReduceValue value_of(gpumem_dtype dtype, gpumem_reduce_op op, const ArgNode& n) noexcept {
  const auto index = static_cast<uint64_t>(n.index);
  if (is_floating(dtype) && n.rank == nan_rank(dtype, op)) return {{kCanonicalNan, index}, GPUMEM_OK};
  const uint64_t inverse = n.rank ^ all_bits(dtype);
  static_assert(count_accumulated_in(NodeKind::arg) == 5);
  if (op == GPUMEM_ARG_MAX_ABS) return value_of_magnitude(dtype, inverse, index);
  return {{word_of_key(dtype, is_minimum(op) ? n.rank : inverse), index}, GPUMEM_OK};
}

// sqrt is a parameter because host and device have no common function of that name.
template <class Sqrt>
constexpr ReduceValue value_of(gpumem_dtype, gpumem_reduce_op op, const SumNode& n, Sqrt sqrt) noexcept {
  return {{word_of(op == GPUMEM_NRM2 ? sqrt(n.sum) : n.sum)}, GPUMEM_OK};
}

constexpr ReduceValue value_of(gpumem_dtype, gpumem_reduce_op, const ProductNode& n) noexcept {
  return {{word_of(n.product)}, GPUMEM_OK};
}

constexpr ReduceValue value_of(gpumem_dtype, gpumem_reduce_op, const CompensatedNode& n) noexcept {
  const double corrected = n.sum + n.error;
  return {{word_of(is_finite(corrected) ? corrected : n.sum)}, GPUMEM_OK};
}

// Large and small sums are never added: compared with a large element, a small one is negligible.
template <class Sqrt>
constexpr ReduceValue value_of(gpumem_dtype, gpumem_reduce_op, const NormNode& n, Sqrt sqrt) noexcept {
  double norm = 0;
  if (n.large > 0 || n.large != n.large) {
    const double middle = (n.middle * kNormScaleLarge) * kNormScaleLarge;
    norm = sqrt(n.large + middle) * (1 / kNormScaleLarge);
  } else if (n.small > 0) {
    const double small = sqrt(n.small) * (1 / kNormScaleSmall);
    const double middle = sqrt(n.middle);
    if (middle != middle) return {{kCanonicalNan}, GPUMEM_OK};
    const double lower = small < middle ? small : middle;
    const double upper = small < middle ? middle : small;
    const double ratio = lower / upper;
    norm = upper * sqrt(1 + ratio * ratio);
  } else {
    norm = sqrt(n.middle);
  }
  return {{word_of(norm)}, GPUMEM_OK};
}

// The root of the sum is taken before its exponent leaves the range of f64.
template <class Sqrt>
constexpr ReduceValue value_of(gpumem_dtype, gpumem_reduce_op op, const OrderFreeNode& n, Sqrt sqrt) noexcept {
  constexpr double kInfinity = std::bit_cast<double>(infinity_bits(GPUMEM_F64));
  const uint32_t special = n.special();
  if ((special & kNanTerm) != 0 || special == (kInfiniteTerm | kMinusInfiniteTerm)) return {{kCanonicalNan}, GPUMEM_OK};
  if (special != 0) return {{word_of(special == kInfiniteTerm ? kInfinity : -kInfinity)}, GPUMEM_OK};
  ScaledDouble sum = rounded_sum(n);
  if (op != GPUMEM_NRM2_ORDER_FREE) return {{word_of(sum.value())}, GPUMEM_OK};
  if (sum.exponent % 2 != 0) sum = {2 * sum.significand, sum.exponent - 1};
  return {{word_of(ScaledDouble{sqrt(sum.significand), sum.exponent / 2}.value())}, GPUMEM_OK};
}

template <class Node, class Sqrt>
requires(Node::kind != NodeKind::sum && Node::kind != NodeKind::norm &&
         Node::kind != NodeKind::order_free) constexpr ReduceValue
    value_of(gpumem_dtype dtype, gpumem_reduce_op op, const Node& n, Sqrt) noexcept {
  return value_of(dtype, op, n);
}

template <class Sqrt>
constexpr ReduceValue value_of(gpumem_dtype dtype, gpumem_reduce_op op, const ReduceNode& n, Sqrt sqrt) noexcept {
  return with_node(node_kind(dtype, op), [&](auto node) { return value_of(dtype, op, decltype(node)(n), sqrt); });
}

// The value of no elements if it exists, otherwise 0. The root of an empty sum is 0.
constexpr uint64_t empty_word(gpumem_dtype dtype, gpumem_reduce_op op) noexcept {
  const NodeKind kind = node_kind(dtype, op);
  if (!has_empty_value(kind)) return 0;
  return value_of(dtype, op, empty_node(kind), [](double) { return 0.0; }).word[0];
}

}  // namespace gpumem
