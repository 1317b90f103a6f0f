// SKELETON: replaced operation by operation.
#include "ops/plan.hpp"

namespace gpumem {
// SKELETON ReduceByIndex begin
std::span<const Implementation<ReduceByIndexParams>> ReduceByIndexFamily::table() noexcept { return {}; }
Plan<ReduceByIndexFamily> plan(Planner&, const ReduceByIndexParams&, Completion) { fail(GPUMEM_UNSUPPORTED, "reduce_by_index"); }
void reduce_by_index(Context&, const ReduceByIndexParams&, NativeStream, Completion) { fail(GPUMEM_UNSUPPORTED, "reduce_by_index"); }
// SKELETON ReduceByIndex end
}  // namespace gpumem
