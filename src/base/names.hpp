// Names for error messages.
#pragma once

#include "kernels/elements.hpp"

namespace gpumem {

constexpr const char* kind_name(gpumem_memory_kind kind) noexcept {
  switch (static_cast<decltype(GPUMEM_MEMORY_PAGEABLE)>(kind)) {
    case GPUMEM_MEMORY_PINNED:
      return "pinned";
    case GPUMEM_MEMORY_DEVICE:
      return "device";
    case GPUMEM_MEMORY_MANAGED:
      return "managed";
    case GPUMEM_MEMORY_PAGEABLE:
      break;
  }
  return "pageable";
}

constexpr const char* dtype_name(gpumem_dtype dtype) noexcept { return traits_of(dtype).name; }

// An operation's name in messages and operation descriptors; nullptr for an unused number up to the last one.
constexpr const char* op_name(gpumem_reduce_op op) noexcept { return operation_traits(op).name; }
constexpr const char* op_word(gpumem_reduce_op op) noexcept { return operation_traits(op).word; }

constexpr const char* result_type_name(gpumem_dtype dtype) noexcept {
  if (is_floating(dtype)) return "double";
  return is_signed_integer(dtype) ? "int64_t" : "uint64_t";
}

}  // namespace gpumem
