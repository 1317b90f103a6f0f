// The amount of work of a call, from its record only.
#pragma once

#include <cstdint>

#include "ops/call_record.hpp"

namespace gpumem {

struct CallWork {
  // Read and written. Across PCIe, or between devices, those that cross. Not reduced by caches.
  int64_t bytes = 0;
  int64_t flops = 0;  // of sums of products: axpby, linear combinations, dot
  gpumem_memory_kind from = GPUMEM_MEMORY_PAGEABLE;
  gpumem_memory_kind to = GPUMEM_MEMORY_PAGEABLE;
  bool crosses = false;  // between host and device
};

CallWork work_of(const CallRecord& record);

// Problems that tuning treats as equal: operation, element types, kinds and alignments of memory. Sizes count by power
// of two, up to 16 exactly. Strides also count by the power of two that divides them, up to 16.
uint64_t problem_class(const CallRecord& record) noexcept;

}  // namespace gpumem
