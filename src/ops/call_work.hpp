// What a call amounts to, by its record alone.
#pragma once

#include <cstdint>

#include "ops/call_record.hpp"

namespace gpumem {

struct CallWork {
  // Read and written; between host and device, or two devices, those that cross. A call reads what it says: no cache counts.
  int64_t bytes = 0;
  int64_t flops = 0;  // of sums of products: axpby, linear combinations, dot
  gpumem_memory_kind from = GPUMEM_MEMORY_PAGEABLE;
  gpumem_memory_kind to = GPUMEM_MEMORY_PAGEABLE;
  bool crosses = false;  // between host and device
};

// Of a call that succeeded.
CallWork work_of(const CallRecord& record);

// What tuning takes for the same problem: operation, element types, kinds and alignments of memory, sizes between the same two powers
// of two (up to 16 the size itself), and strides that the same power of two divides besides (up to 16): rows of vectors go by it.
uint64_t problem_class(const CallRecord& record) noexcept;

}  // namespace gpumem
