// Managed memory that work on the device is about to use is prefetched to it. Left to the faults of a kernel it arrives at a fifth of
// the speed, and pages that nobody has touched yet are created at a tenth (docs/experiments.md).
#pragma once

#include "context/context.hpp"
#include "ops/placement.hpp"

namespace gpumem {

// In the order of the stream. A hint that is not taken is no error, and nothing moves that the program has advised to lie elsewhere.
void prefetch_managed(Context& context, const Placement& placement, NativeStream stream);

}  // namespace gpumem
