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

// An operation in a sentence, and as problem lines call it: nothing for a number that is none.
struct OpNames {
  const char* name;
  const char* word;
};
constexpr OpNames names_of(gpumem_reduce_op op) noexcept {
  constexpr OpNames kGeneral[] = {{"sum", "sum"},
                                  {"minimum", "min"},
                                  {"maximum", "max"},
                                  {"sum of absolutes", "sum_abs"},
                                  {"sum of squares", "sum_squares"},
                                  {"sum of cubes", "sum_cubes"},
                                  {"largest absolute", "max_abs"},
                                  {"minimum and maximum", "min_max"},
                                  {"compensated sum", "sum_compensated"}};
  constexpr OpNames kOwn[] = {{"index of the minimum", "arg_min"},
                              {"index of the maximum", "arg_max"},
                              {"dot", "dot"},
                              {"norm", "nrm2"},
                              {"index of the largest absolute", "arg_max_abs"}};
  if (op >= GPUMEM_SUM && op <= GPUMEM_SUM_COMPENSATED) return kGeneral[op];
  return op >= GPUMEM_ARG_MIN && op <= GPUMEM_ARG_MAX_ABS ? kOwn[op - GPUMEM_ARG_MIN] : OpNames{};
}
constexpr const char* op_name(gpumem_reduce_op op) noexcept { return names_of(op).name; }
constexpr const char* op_word(gpumem_reduce_op op) noexcept { return names_of(op).word; }

// What the value of a reduction is stored as.
constexpr const char* result_type_name(gpumem_dtype dtype) noexcept {
  if (is_floating(dtype)) return "double";
  return is_signed_integer(dtype) ? "int64_t" : "uint64_t";
}

}  // namespace gpumem
