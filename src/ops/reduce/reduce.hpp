// Scalar reductions whose data is streamed through the device.
#pragma once

#include <cstdint>

#include "kernels/nodes.hpp"
#include "ops/plan.hpp"

namespace gpumem {

// The largest piece in which data of the host is streamed: a power of two of leaves of the reproducible order.
int64_t streamed_piece(gpumem_dtype dtype) noexcept;
ReduceNode reduce_streamed(Context& context, const Plan<ReduceFamily>& plan, const ReduceParams& call);

}  // namespace gpumem
