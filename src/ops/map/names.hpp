// Names of the elementwise functions in messages and operation descriptors. nullptr for a number without a function.
#pragma once

#include "kernels/map/params.hpp"

namespace gpumem {

constexpr const char* map_op_name(int32_t op) noexcept {
  constexpr const char* kOfOne[] = {"negate", "absolute", "reciprocal", "square_root", "floor",
                                    "ceil",   "truncate", "round",      "not"};
  constexpr const char* kOfTwo[] = {"add",     "subtract",   "multiply",   "divide", "remainder",
                                    "minimum", "maximum",    "copy_sign",  "and",    "or",
                                    "xor",     "shift_left", "shift_right"};
  if (!is_map_op(op)) return nullptr;
  return takes_two(op) ? kOfTwo[op - GPUMEM_MAP_ADD] : kOfOne[op];
}

constexpr const char* compare_op_name(int32_t op) noexcept {
  constexpr const char* kNames[] = {"less", "less_equal", "equal", "not_equal", "greater_equal", "greater"};
  return op >= 0 && op <= GPUMEM_GREATER ? kNames[op] : nullptr;
}

constexpr const char* map_kind_name(int32_t kind) noexcept {
  constexpr const char* kNames[] = {"map", "compare", "where", "convert_scaled"};
  return kNames[kind];
}

}  // namespace gpumem
