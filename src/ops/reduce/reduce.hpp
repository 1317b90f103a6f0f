// What the forms of the scalar reductions share.
#pragma once

#include <cstdint>

#include "kernels/nodes.hpp"
#include "kernels/values.hpp"
#include "ops/operations.hpp"
#include "ops/outputs.hpp"
#include "ops/plan.hpp"

namespace gpumem {

Inputs inputs_of(const ReduceParams& call);

// The outputs of a call; the index only of an argument search, whose value may be left out.
Output result_of(gpumem_reduce_op op, void* p, int64_t alignment) noexcept;
Output index_of(gpumem_reduce_op op, int64_t* p, int64_t alignment) noexcept;

// A node as the caller's value, whatever floating-point environment the program has set.
ReduceValue finished_value(gpumem_dtype dtype, gpumem_reduce_op op, const ReduceNode& node) noexcept;

// The largest piece in which data of the host is streamed: a power of two of leaves of the reproducible order.
int64_t streamed_piece(gpumem_dtype dtype) noexcept;
ReduceNode reduce_streamed(Context& context, const Plan<ReduceFamily>& plan, const ReduceParams& call);

}  // namespace gpumem
