// The operations of reductions and their traits. Plain constexpr functions, for host and device.
#pragma once

#include <cstdint>

#include "gpumem.h"

namespace gpumem {

// The term of an element in a sum, or its factor in a product. `dot` is the product of two operands. `valid` is the
// element, and `present` is 1. Both are 0 for a NaN.
enum class Addend : int8_t { element, magnitude, square, cube, dot, factor, valid, present };
constexpr int kAddends = 8;
// The result of a range, or the target of a search.
enum class Extreme : int8_t { lowest, highest, both, largest };

// The kind of accumulator. Each kind is a class of nodes.hpp: its default value is the identity, combine() joins two,
// and value_of() of values.hpp makes the result.
enum class NodeKind : int32_t { integer, integer_product, range, arg, order_free, sum, product, compensated, norm };

constexpr bool is_ordered(NodeKind kind) noexcept { return kind >= NodeKind::sum; }
constexpr bool is_product(NodeKind kind) noexcept {
  return kind == NodeKind::product || kind == NodeKind::integer_product;
}
// Whether the reduction of no elements has a value, the identity.
constexpr bool has_empty_value(NodeKind kind) noexcept { return kind != NodeKind::range && kind != NodeKind::arg; }

// Accumulators by element type: integers, floating-point types of up to 32 bits, f64.
struct Accumulators {
  NodeKind integers;
  NodeKind floats;
  NodeKind doubles;
};
inline constexpr Accumulators kSums{NodeKind::integer, NodeKind::sum, NodeKind::sum};
inline constexpr Accumulators kProducts{NodeKind::integer_product, NodeKind::product, NodeKind::product};
inline constexpr Accumulators kRanges{NodeKind::range, NodeKind::range, NodeKind::range};
inline constexpr Accumulators kSearches{NodeKind::arg, NodeKind::arg, NodeKind::arg};
inline constexpr Accumulators kCompensated{NodeKind::compensated, NodeKind::compensated, NodeKind::compensated};
inline constexpr Accumulators kNorms{NodeKind::integer, NodeKind::sum, NodeKind::norm};
// Sums of integers have no order already.
inline constexpr Accumulators kOrderFree{NodeKind::integer, NodeKind::order_free, NodeKind::order_free};

enum class ValidTypes : int8_t { all, floats, f32_f64, f64 };

struct OperationTraits {
  const char* name = nullptr;  // in messages
  const char* word = nullptr;  // in an operation descriptor
  Accumulators accumulators = {};
  Addend addend = {};    // of a sum, a norm or a product
  Extreme extreme = {};  // of a range or a search
  ValidTypes types = ValidTypes::all;
  bool own_function = false;  // gpumem_reduce() and similar functions do not accept it
};

// The only table of the operations. An invalid operation has no name.
constexpr OperationTraits operation_traits(gpumem_reduce_op op) noexcept {
  using enum Addend;
  using enum Extreme;
  using enum ValidTypes;
#pragma GCC diagnostic push
#pragma GCC diagnostic error \
    "-Wswitch"  // an operation that gpumem.h declares and that has no entry in this table does not compile
  switch (static_cast<decltype(GPUMEM_SUM)>(op)) {
    case GPUMEM_SUM:
      return {"sum", "sum", kSums, element};
    case GPUMEM_MIN:
      return {"minimum", "min", kRanges, {}, lowest};
    case GPUMEM_MAX:
      return {"maximum", "max", kRanges, {}, highest};
    case GPUMEM_SUM_ABS:
      return {"sum of absolutes", "sum_abs", kSums, magnitude};
    case GPUMEM_SUM_SQUARES:
      return {"sum of squares", "sum_squares", kSums, square};
    case GPUMEM_SUM_CUBES:
      return {"sum of cubes", "sum_cubes", kSums, cube};
    case GPUMEM_MAX_ABS:
      return {"largest absolute", "max_abs", kRanges, {}, largest};
    case GPUMEM_MIN_MAX:
      return {"minimum and maximum", "min_max", kRanges, {}, both};
    case GPUMEM_SUM_COMPENSATED:
      return {"compensated sum", "sum_compensated", kCompensated, element, {}, f64};
    case GPUMEM_ARG_MIN:
      return {"index of the minimum", "arg_min", kSearches, {}, lowest, all, true};
    case GPUMEM_ARG_MAX:
      return {"index of the maximum", "arg_max", kSearches, {}, highest, all, true};
    case GPUMEM_DOT:
      return {"dot", "dot", kSums, dot, {}, f32_f64, true};
    case GPUMEM_NRM2:
      return {"norm", "nrm2", kNorms, square, {}, f32_f64, true};
    case GPUMEM_ARG_MAX_ABS:
      return {"index of the largest absolute", "arg_max_abs", kSearches, {}, largest, all, true};
    case GPUMEM_PROD:
      return {"product", "prod", kProducts, factor};
    case GPUMEM_SUM_VALID:
      return {"sum of valid elements", "sum_valid", kSums, valid, {}, floats};
    case GPUMEM_COUNT_VALID:
      return {"number of valid elements", "count_valid", kSums, present, {}, floats};
    case GPUMEM_MIN_VALID:
      return {"minimum of valid elements", "min_valid", kRanges, {}, lowest, floats};
    case GPUMEM_MAX_VALID:
      return {"maximum of valid elements", "max_valid", kRanges, {}, highest, floats};
    case GPUMEM_ARG_MIN_VALID:
      return {"index of the minimum of valid elements", "arg_min_valid", kSearches, {}, lowest, floats, true};
    case GPUMEM_ARG_MAX_VALID:
      return {"index of the maximum of valid elements", "arg_max_valid", kSearches, {}, highest, floats, true};
    case GPUMEM_SUM_ORDER_FREE:
      return {"order-free sum", "sum_order_free", kOrderFree, element, {}, floats};
    case GPUMEM_NRM2_ORDER_FREE:
      return {"order-free norm", "nrm2_order_free", kOrderFree, square, {}, f32_f64};
    case GPUMEM_DOT_ORDER_FREE:
      return {"order-free dot", "dot_order_free", kOrderFree, dot, {}, f32_f64, true};
  }
#pragma GCC diagnostic pop
  return {};
}

constexpr bool is_operation(gpumem_reduce_op op) noexcept { return operation_traits(op).name != nullptr; }

// gpumem.h declares no higher number.
inline constexpr gpumem_reduce_op kHighestOperation = 31;
inline constexpr gpumem_reduce_op kLastOperation = [] {
  gpumem_reduce_op last = kHighestOperation;
  while (!is_operation(last)) --last;
  return last;
}();

template <class F>
constexpr int count_operations(const F& has) noexcept {
  int count = 0;
  for (gpumem_reduce_op op = 0; op <= kHighestOperation; ++op) count += is_operation(op) && has(op) ? 1 : 0;
  return count;
}

// Device code chooses between operations by comparisons, because a switch compiles to longer code. Such code asserts
// this number for its accumulator, so that the compiler names the place if an operation is added.
constexpr int count_accumulated_in(NodeKind of_doubles) noexcept {
  return count_operations([=](gpumem_reduce_op op) { return operation_traits(op).accumulators.doubles == of_doubles; });
}

// A bit per operation. Device code shifts this word, because the table would be a switch.
template <class F>
constexpr uint32_t operations_with(const F& has) noexcept {
  uint32_t bits = 0;
  for (gpumem_reduce_op op = 0; op <= kHighestOperation; ++op) {
    if (is_operation(op) && has(operation_traits(op))) bits |= uint32_t{1} << op;
  }
  return bits;
}
inline constexpr uint32_t kSkipNan = operations_with([](const OperationTraits& traits) {
  return traits.types == ValidTypes::floats && traits.accumulators.doubles != NodeKind::order_free;
});
inline constexpr uint32_t kMinima = operations_with([](const OperationTraits& traits) {
  return !has_empty_value(traits.accumulators.integers) && traits.extreme == Extreme::lowest;
});

// op is valid in these functions.
constexpr bool skips_nan(gpumem_reduce_op op) noexcept { return (kSkipNan >> op & 1) != 0; }
constexpr bool is_minimum(gpumem_reduce_op op) noexcept { return (kMinima >> op & 1) != 0; }
constexpr Addend addend_of(gpumem_reduce_op op) noexcept { return operation_traits(op).addend; }
constexpr Extreme extreme_of(gpumem_reduce_op op) noexcept { return operation_traits(op).extreme; }
constexpr bool takes_y(gpumem_reduce_op op) noexcept { return op == GPUMEM_DOT || op == GPUMEM_DOT_ORDER_FREE; }

constexpr bool is_power(Addend addend) noexcept {
  switch (addend) {
    case Addend::element:
    case Addend::magnitude:
    case Addend::valid:
    case Addend::present:
      return false;
    case Addend::square:
    case Addend::cube:
    case Addend::dot:
    case Addend::factor:
      return true;
  }
  __builtin_unreachable();
}

constexpr bool is_search(gpumem_reduce_op op) noexcept {
  return op == GPUMEM_ARG_MIN || op == GPUMEM_ARG_MAX || op == GPUMEM_ARG_MAX_ABS || op == GPUMEM_ARG_MIN_VALID ||
         op == GPUMEM_ARG_MAX_VALID;
}
// Of a result. The index of a search has its own place.
constexpr int value_words(gpumem_reduce_op op) noexcept { return op == GPUMEM_MIN_MAX ? 2 : 1; }

static_assert(count_operations([](gpumem_reduce_op op) {
                const OperationTraits traits = operation_traits(op);
                const bool search = traits.accumulators.integers == NodeKind::arg;
                const bool pair = traits.accumulators.integers == NodeKind::range && traits.extreme == Extreme::both;
                return is_search(op) != search || value_words(op) != (pair ? 2 : 1);
              }) == 0,
              "is_search() and value_words() say what the table does");

}  // namespace gpumem
