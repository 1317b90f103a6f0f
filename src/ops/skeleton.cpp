// SKELETON: replaced operation by operation.
#include "ops/plan.hpp"

namespace gpumem {
// SKELETON Map begin
std::span<const Implementation<MapParams>> MapFamily::table() noexcept { return {}; }
Plan<MapFamily> plan(Planner&, const MapParams&, Completion) { fail(GPUMEM_UNSUPPORTED, "map"); }
void map(Context&, const MapParams&, NativeStream, Completion) { fail(GPUMEM_UNSUPPORTED, "map"); }
// SKELETON Map end
// SKELETON Scan begin
std::span<const Implementation<ScanParams>> ScanFamily::table() noexcept { return {}; }
Plan<ScanFamily> plan(Planner&, const ScanParams&, Completion) { fail(GPUMEM_UNSUPPORTED, "scan"); }
void scan(Context&, const ScanParams&, NativeStream, Completion) { fail(GPUMEM_UNSUPPORTED, "scan"); }
// SKELETON Scan end
// SKELETON Select begin
std::span<const Implementation<SelectParams>> SelectFamily::table() noexcept { return {}; }
Plan<SelectFamily> plan(Planner&, const SelectParams&, Completion) { fail(GPUMEM_UNSUPPORTED, "select_rows"); }
void select_rows(Context&, const SelectParams&, NativeStream, Completion) { fail(GPUMEM_UNSUPPORTED, "select_rows"); }
// SKELETON Select end
// SKELETON ReduceByIndex begin
std::span<const Implementation<ReduceByIndexParams>> ReduceByIndexFamily::table() noexcept { return {}; }
Plan<ReduceByIndexFamily> plan(Planner&, const ReduceByIndexParams&, Completion) { fail(GPUMEM_UNSUPPORTED, "reduce_by_index"); }
void reduce_by_index(Context&, const ReduceByIndexParams&, NativeStream, Completion) { fail(GPUMEM_UNSUPPORTED, "reduce_by_index"); }
// SKELETON ReduceByIndex end
}  // namespace gpumem
