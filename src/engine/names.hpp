// Words for sentences.
#pragma once

#include "gpumem.h"

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

}  // namespace gpumem
