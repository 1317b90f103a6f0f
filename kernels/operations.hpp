// The operations of reductions, and what each is made of. Plain constexpr functions, for host and device.
#pragma once

#include <cstdint>

#include "gpumem.h"

namespace gpumem {

// What an element adds to a sum; a product is that of two operands.
enum class Addend : int8_t { element, magnitude, square, cube, product };
// What a range is made for, or what a search looks for.
enum class Extreme : int8_t { lowest, highest, both, largest };

struct OperationTraits {
  const char* name = nullptr;  // in a sentence
  const char* word = nullptr;  // in a problem line
  Addend addend = {};          // of a sum or a norm
  Extreme extreme = {};        // of a range or a search
};

// The one table of the operations. Other numbers have no name.
constexpr OperationTraits operation_traits(gpumem_reduce_op op) noexcept {
  using enum Addend;
  using enum Extreme;
#pragma GCC diagnostic push
#pragma GCC diagnostic error \
    "-Wswitch"  // an operation that gpumem.h declares and that has no entry here does not compile
  switch (static_cast<decltype(GPUMEM_SUM)>(op)) {
    case GPUMEM_SUM:
      return {"sum", "sum", element};
    case GPUMEM_MIN:
      return {"minimum", "min", {}, lowest};
    case GPUMEM_MAX:
      return {"maximum", "max", {}, highest};
    case GPUMEM_SUM_ABS:
      return {"sum of absolutes", "sum_abs", magnitude};
    case GPUMEM_SUM_SQUARES:
      return {"sum of squares", "sum_squares", square};
    case GPUMEM_SUM_CUBES:
      return {"sum of cubes", "sum_cubes", cube};
    case GPUMEM_MAX_ABS:
      return {"largest absolute", "max_abs", {}, largest};
    case GPUMEM_MIN_MAX:
      return {"minimum and maximum", "min_max", {}, both};
    case GPUMEM_SUM_COMPENSATED:
      return {"compensated sum", "sum_compensated", element};
    case GPUMEM_ARG_MIN:
      return {"index of the minimum", "arg_min", {}, lowest};
    case GPUMEM_ARG_MAX:
      return {"index of the maximum", "arg_max", {}, highest};
    case GPUMEM_DOT:
      return {"dot", "dot", product};
    case GPUMEM_NRM2:
      return {"norm", "nrm2", square};
    case GPUMEM_ARG_MAX_ABS:
      return {"index of the largest absolute", "arg_max_abs", {}, largest};
  }
#pragma GCC diagnostic pop
  return {};
}

// gpumem.h declares so many. Where choices between them are made by comparisons, because device code of a switch is longer, this number is
// asserted, so that the compiler names the place when there is one more.
constexpr int count_operations() noexcept {
  int count = 0;
  for (gpumem_reduce_op op = 0; op < 32; ++op) count += operation_traits(op).name != nullptr ? 1 : 0;
  return count;
}
inline constexpr int kOperations = count_operations();

// Of an operation of the table.
constexpr Addend addend_of(gpumem_reduce_op op) noexcept { return operation_traits(op).addend; }
constexpr Extreme extreme_of(gpumem_reduce_op op) noexcept { return operation_traits(op).extreme; }

constexpr bool is_power(Addend addend) noexcept {
  switch (addend) {
    case Addend::element:
    case Addend::magnitude:
      return false;
    case Addend::square:
    case Addend::cube:
    case Addend::product:
      return true;
  }
  __builtin_unreachable();
}

// Whether it looks for an element.
constexpr bool is_search(gpumem_reduce_op op) noexcept {
  static_assert(kOperations == 14);
  return op == GPUMEM_ARG_MIN || op == GPUMEM_ARG_MAX || op == GPUMEM_ARG_MAX_ABS;
}
constexpr int value_words(gpumem_reduce_op op) noexcept {
  static_assert(kOperations == 14);
  return op == GPUMEM_MIN_MAX || is_search(op) ? 2 : 1;
}

}  // namespace gpumem
