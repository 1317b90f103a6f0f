// What the parts of the reductions share: the check of plain arguments, before any pointer is looked at, and scalar reductions whose
// data is streamed through the device.
#pragma once

#include <cstdint>

#include "kernels/nodes.hpp"
#include "ops/plan.hpp"

namespace gpumem {

// Throw INVALID_ARGUMENT for what no reduction takes, UNSUPPORTED for an operation that the type does not have.
void check(const ReduceParams& call);
void check(const ReduceAxisParams& call);
void check(const ReduceSegmentsParams& call);

// Bytes from the first to the last of n >= 1 strided elements. Throws INVALID_ARGUMENT when they leave 64 bits.
int64_t strided_bytes(gpumem_dtype dtype, int64_t n, int64_t stride, const char* argument);

// The largest piece in which data of the host is streamed: a power of two of leaves of the reproducible order.
int64_t streamed_piece(gpumem_dtype dtype) noexcept;
ReduceNode reduce_streamed(Context& context, const Plan<ReduceFamily>& plan, const ReduceParams& call);

}  // namespace gpumem
