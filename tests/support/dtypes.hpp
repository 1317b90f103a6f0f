// Element types and the reductions that each of them has.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gpumem.h"

namespace gpumem_test {

enum class Class { signed_integer, unsigned_integer, floating };

struct TypeInfo {
  const char* name;
  size_t bytes;
  Class what;
  int exponent_bits;  // of floating-point types
  int fraction_bits;
};

inline const TypeInfo& info_of(gpumem_dtype dtype) {
  static constexpr TypeInfo kTypes[] = {
      {"i8", 1, Class::signed_integer, 0, 0},  {"u8", 1, Class::unsigned_integer, 0, 0},
      {"i16", 2, Class::signed_integer, 0, 0}, {"u16", 2, Class::unsigned_integer, 0, 0},
      {"i32", 4, Class::signed_integer, 0, 0}, {"u32", 4, Class::unsigned_integer, 0, 0},
      {"i64", 8, Class::signed_integer, 0, 0}, {"u64", 8, Class::unsigned_integer, 0, 0},
      {"f16", 2, Class::floating, 5, 10},      {"bf16", 2, Class::floating, 8, 7},
      {"f32", 4, Class::floating, 8, 23},      {"f64", 8, Class::floating, 11, 52}};
  return kTypes[dtype];
}

inline bool is_floating(gpumem_dtype dtype) { return info_of(dtype).what == Class::floating; }

inline constexpr gpumem_dtype kAllTypes[] = {GPUMEM_I8,  GPUMEM_U8,  GPUMEM_I16, GPUMEM_U16,  GPUMEM_I32, GPUMEM_U32,
                                             GPUMEM_I64, GPUMEM_U64, GPUMEM_F16, GPUMEM_BF16, GPUMEM_F32, GPUMEM_F64};
inline constexpr gpumem_dtype kFloatingTypes[] = {GPUMEM_F16, GPUMEM_BF16, GPUMEM_F32, GPUMEM_F64};

// Operations of gpumem_reduce(), then those that have functions of their own.
inline constexpr gpumem_reduce_op kAllOps[] = {GPUMEM_SUM,
                                               GPUMEM_MIN,
                                               GPUMEM_MAX,
                                               GPUMEM_SUM_ABS,
                                               GPUMEM_SUM_SQUARES,
                                               GPUMEM_SUM_CUBES,
                                               GPUMEM_MAX_ABS,
                                               GPUMEM_MIN_MAX,
                                               GPUMEM_ARG_MIN,
                                               GPUMEM_SUM_COMPENSATED,
                                               GPUMEM_ARG_MAX,
                                               GPUMEM_DOT,
                                               GPUMEM_NRM2,
                                               GPUMEM_ARG_MAX_ABS,
                                               GPUMEM_PROD,
                                               GPUMEM_SUM_VALID,
                                               GPUMEM_COUNT_VALID,
                                               GPUMEM_MIN_VALID,
                                               GPUMEM_MAX_VALID,
                                               GPUMEM_ARG_MIN_VALID,
                                               GPUMEM_ARG_MAX_VALID,
                                               GPUMEM_SUM_ORDER_FREE,
                                               GPUMEM_NRM2_ORDER_FREE};
// Those of many lines too.
inline constexpr gpumem_reduce_op kReduceOps[] = {
    GPUMEM_SUM,       GPUMEM_MIN,         GPUMEM_MAX,       GPUMEM_SUM_ABS,  GPUMEM_SUM_SQUARES,
    GPUMEM_SUM_CUBES, GPUMEM_MAX_ABS,     GPUMEM_MIN_MAX,   GPUMEM_PROD,     GPUMEM_SUM_COMPENSATED,
    GPUMEM_SUM_VALID, GPUMEM_COUNT_VALID, GPUMEM_MIN_VALID, GPUMEM_MAX_VALID};
inline constexpr gpumem_reduce_op kReservedOps[] = {GPUMEM_ARG_MIN,       GPUMEM_ARG_MAX,       GPUMEM_DOT,
                                                    GPUMEM_NRM2,          GPUMEM_ARG_MAX_ABS,   GPUMEM_ARG_MIN_VALID,
                                                    GPUMEM_ARG_MAX_VALID, GPUMEM_DOT_ORDER_FREE};

inline const char* op_name(gpumem_reduce_op op) {
  static constexpr const char* kNames[] = {"sum",   "min",     "max",     "sum_abs",    "squares",
                                           "cubes", "max_abs", "min_max", "compensated"};
  static constexpr const char* kLater[] = {
      "arg_min",        "arg_max",         "dot",           "nrm2",      "arg_max_abs",   "prod",
      "sum_valid",      "count_valid",     "min_valid",     "max_valid", "arg_min_valid", "arg_max_valid",
      "sum_order_free", "nrm2_order_free", "dot_order_free"};
  return op < GPUMEM_ARG_MIN ? kNames[op] : kLater[op - GPUMEM_ARG_MIN];
}

inline bool skips_nan(gpumem_reduce_op op) { return op >= GPUMEM_SUM_VALID && op <= GPUMEM_ARG_MAX_VALID; }

inline bool has(gpumem_dtype dtype, gpumem_reduce_op op) {
  if (skips_nan(op) || op == GPUMEM_SUM_ORDER_FREE) return is_floating(dtype);
  if (op == GPUMEM_SUM_COMPENSATED) return dtype == GPUMEM_F64;
  const bool wide =
      op == GPUMEM_DOT || op == GPUMEM_NRM2 || op == GPUMEM_NRM2_ORDER_FREE || op == GPUMEM_DOT_ORDER_FREE;
  return !wide || dtype == GPUMEM_F32 || dtype == GPUMEM_F64;
}

inline bool is_arg(gpumem_reduce_op op) {
  return op == GPUMEM_ARG_MIN || op == GPUMEM_ARG_MAX || op == GPUMEM_ARG_MAX_ABS || op == GPUMEM_ARG_MIN_VALID ||
         op == GPUMEM_ARG_MAX_VALID;
}
// The operation that the functions of searches take.
inline gpumem_reduce_op sought(gpumem_reduce_op search) {
  if (search == GPUMEM_ARG_MIN) return GPUMEM_MIN;
  if (search == GPUMEM_ARG_MAX) return GPUMEM_MAX;
  if (search == GPUMEM_ARG_MIN_VALID) return GPUMEM_MIN_VALID;
  return search == GPUMEM_ARG_MAX_VALID ? GPUMEM_MAX_VALID : GPUMEM_MAX_ABS;
}

// The value of nothing is none.
inline bool needs_elements(gpumem_reduce_op op) {
  return op == GPUMEM_MIN || op == GPUMEM_MAX || op == GPUMEM_MAX_ABS || op == GPUMEM_MIN_MAX ||
         op == GPUMEM_MIN_VALID || op == GPUMEM_MAX_VALID || is_arg(op);
}

// Each word of the result of no elements.
inline uint64_t empty_word(gpumem_dtype dtype, gpumem_reduce_op op) {
  return op != GPUMEM_PROD ? 0 : is_floating(dtype) ? 0x3FF0000000000000 : 1;
}

// Results are words of 64 bits: one, or the minimum and the maximum, or the value and its index.
inline int words_of(gpumem_reduce_op op) { return op == GPUMEM_MIN_MAX || is_arg(op) ? 2 : 1; }

}  // namespace gpumem_test
