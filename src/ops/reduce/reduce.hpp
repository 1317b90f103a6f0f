// Shared by the reductions: checks that need no pointer lookup, and scalar reductions of streamed data.
#pragma once

#include <cstdint>

#include "kernels/nodes.hpp"
#include "ops/plan.hpp"

namespace gpumem {

// Throw INVALID_ARGUMENT, or UNSUPPORTED for an operation that the type does not have.
void check(const ReduceParams& call);
void check(const ReduceAxisParams& call);
void check(const ReduceSegmentsParams& call);

// Throws UNSUPPORTED for an operation that reduces only one sequence or view.
void require_lines(gpumem_reduce_op op);

// segments + 1 numbers. Throws INVALID_ARGUMENT if the bytes exceed 64 bits.
ByteRange range_of_offsets(const int64_t* offsets, int64_t segments);
// Throws OUT_OF_RANGE, with the first bad offset, if found is that. otherwise: what became of the results.
void require_offsets(Context& context, gpumem_status found, const ByteRange& offsets, int64_t n, const char* otherwise);

// Throws an Error unless found is GPUMEM_OK. lines: "rows", "columns", "segments" or "bins".
void require_values(gpumem_status found, gpumem_dtype dtype, gpumem_reduce_op op, const char* lines);

// The number of elements. Throws INVALID_ARGUMENT if it exceeds 64 bits.
int64_t checked_product(const int64_t* extents, int32_t rank);

// From the first to the last of n >= 1 strided elements. Throws INVALID_ARGUMENT if the bytes exceed 64 bits.
int64_t strided_bytes(gpumem_dtype dtype, int64_t n, int64_t stride, const char* argument);

// The arguments of a call whose operands are views.
struct ViewArguments {
  int32_t rank;
  const int64_t* extents;
  const int64_t* x_strides;  // nullptr: row-major without padding
  const int64_t* y_strides = nullptr;
};
// The call as far as the arguments can be read. n is the number of elements, at most INT64_MAX.
ReduceParams with_view(ReduceParams call, const ViewArguments& view) noexcept;
// Throws INVALID_ARGUMENT.
void check(const ViewArguments& view);
// Whether exact results permit any order of the elements.
bool any_order(const ReduceParams& call) noexcept;
// The same elements in the fewest axes. If one is left, the operands become sequences with strides.
ReduceParams fused(const ReduceParams& call) noexcept;

// A reduction of some axes of a view.
struct ReduceAxesCall {
  ReduceParams reduction;  // all but the number of elements
  ViewArguments view;
  int32_t axes;
  gpumem_dtype result_type;
};
void reduce_axes(Context& context, const ReduceAxesCall& call, NativeStream stream, Completion completion);

// The largest piece of streamed host data, in elements: a power of two of 1024-element blocks.
int64_t streamed_piece(gpumem_dtype dtype) noexcept;
ReduceNode reduce_streamed(Context& context, const Plan<ReduceFamily>& plan, const ReduceParams& call);

}  // namespace gpumem
