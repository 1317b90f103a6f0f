// SKELETON: replaced operation by operation.
#include "ops/plan.hpp"

namespace gpumem {
// SKELETON Scan begin
std::span<const Implementation<ScanParams>> ScanFamily::table() noexcept { return {}; }
Plan<ScanFamily> plan(Planner&, const ScanParams&, Completion) { fail(GPUMEM_UNSUPPORTED, "scan"); }
void scan(Context&, const ScanParams&, NativeStream, Completion) { fail(GPUMEM_UNSUPPORTED, "scan"); }
// SKELETON Scan end
// SKELETON ReduceByIndex begin
std::span<const Implementation<ReduceByIndexParams>> ReduceByIndexFamily::table() noexcept { return {}; }
Plan<ReduceByIndexFamily> plan(Planner&, const ReduceByIndexParams&, Completion) { fail(GPUMEM_UNSUPPORTED, "reduce_by_index"); }
void reduce_by_index(Context&, const ReduceByIndexParams&, NativeStream, Completion) { fail(GPUMEM_UNSUPPORTED, "reduce_by_index"); }
// SKELETON ReduceByIndex end
}  // namespace gpumem
