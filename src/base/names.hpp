// Words for sentences.
#pragma once

#include "kernels/elements.hpp"

namespace gpumem {

constexpr const char* kind_name(gpumem_memory_kind kind) noexcept {
  switch (kind) {
    case GPUMEM_MEMORY_PINNED:
      return "pinned";
    case GPUMEM_MEMORY_DEVICE:
      return "device";
    case GPUMEM_MEMORY_MANAGED:
      return "managed";
    default:
      return "pageable";
  }
}

// Of a valid dtype.
constexpr const char* dtype_name(gpumem_dtype dtype) noexcept { return traits_of(dtype).name; }

constexpr const char* op_name(gpumem_reduce_op op) noexcept {
  switch (op) {
    case GPUMEM_SUM:
      return "sum";
    case GPUMEM_MIN:
      return "minimum";
    case GPUMEM_MAX:
      return "maximum";
    case GPUMEM_SUM_ABS:
      return "sum of absolutes";
    case GPUMEM_SUM_SQUARES:
      return "sum of squares";
    case GPUMEM_SUM_CUBES:
      return "sum of cubes";
    case GPUMEM_MAX_ABS:
      return "largest absolute";
    case GPUMEM_MIN_MAX:
      return "minimum and maximum";
    case GPUMEM_SUM_COMPENSATED:
      return "compensated sum";
    case GPUMEM_ARG_MIN:
      return "index of the minimum";
    case GPUMEM_ARG_MAX:
      return "index of the maximum";
    case GPUMEM_DOT:
      return "dot";
    default:
      return "norm";
  }
}

// An operation as problem lines call it; nullptr for a number that is none.
constexpr const char* op_word(gpumem_reduce_op op) noexcept {
  constexpr const char* kWords[] = {"sum",       "min",     "max",     "sum_abs",        "sum_squares",
                                    "sum_cubes", "max_abs", "min_max", "sum_compensated"};
  constexpr const char* kOwn[] = {"arg_min", "arg_max", "dot", "nrm2"};
  if (op >= GPUMEM_ARG_MIN) return op <= GPUMEM_NRM2 ? kOwn[op - GPUMEM_ARG_MIN] : nullptr;
  return op >= GPUMEM_SUM && op <= GPUMEM_SUM_COMPENSATED ? kWords[op] : nullptr;
}

// What the value of a reduction is stored as.
constexpr const char* result_type_name(gpumem_dtype dtype) noexcept {
  if (is_floating(dtype)) return "double";
  return is_signed_integer(dtype) ? "int64_t" : "uint64_t";
}

}  // namespace gpumem
