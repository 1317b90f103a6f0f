// What the reductions hold their plain arguments against, before any pointer is looked at.
#pragma once

#include <cstdint>

#include "ops/operations.hpp"

namespace gpumem {

// Throw INVALID_ARGUMENT for what no reduction takes, UNSUPPORTED for an operation that the type does not have.
void check(const ReduceParams& call);
void check(const ReduceAxisParams& call);
void check(const ReduceSegmentsParams& call);

// Bytes from the first to the last of n >= 1 strided elements. Throws INVALID_ARGUMENT when they leave 64 bits.
int64_t strided_bytes(gpumem_dtype dtype, int64_t n, int64_t stride, const char* argument);

}  // namespace gpumem
