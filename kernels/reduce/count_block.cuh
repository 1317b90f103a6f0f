// The one piece of PTX, in a header of its own: tests/emulation has its like for builds that run the kernels on the processor.
#pragma once

namespace gpumem::kernels {

// Adds 1 to a counter that goes from `last` to 0, and gives its value before. What the caller wrote before is visible to whoever
// counts after it, and what was written before the earlier counts is visible to the caller.
__device__ __forceinline__ unsigned count_block(unsigned* counter, unsigned last) {
  unsigned before = 0;
  asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;" : "=r"(before) : "l"(counter), "r"(last) : "memory");
  return before;
}

}  // namespace gpumem::kernels
