// A counter in PTX. tests/emulation replaces this header in builds that run kernels on the processor.
#pragma once

namespace gpumem::kernels {

// Adds 1 to a counter that wraps from `last` to 0, and returns its previous value. Earlier writes of the caller are
// visible to later callers, and writes before earlier calls are visible to the caller.
__device__ __forceinline__ unsigned count_block(unsigned* counter, unsigned last) {
  unsigned before = 0;
  asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;" : "=r"(before) : "l"(counter), "r"(last) : "memory");
  return before;
}

}  // namespace gpumem::kernels
