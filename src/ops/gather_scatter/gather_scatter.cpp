// Gathers and scatters of rows. They differ in the matrix that the index names: src of a gather, dst of a scatter.
#include <algorithm>
#include <optional>
#include <type_traits>

#include "base/checked.hpp"
#include "base/sentences.hpp"
#include "kernels/elements.hpp"
#include "ops/bounce_buffers.hpp"
#include "ops/rows.hpp"
#include "ops/staging.hpp"

namespace gpumem {
namespace {

template <class Family>
constexpr bool kGathers = std::is_same_v<Family, GatherFamily>;
template <class Family>
constexpr NamedRows kNamed = kGathers<Family> ? NamedRows::of_src : NamedRows::of_dst;
template <class Family>
constexpr const char* kRowsName = kGathers<Family> ? "src_rows" : "dst_rows";
template <class Family>
int64_t rows_of(const GatherScatterParams& c) noexcept {
  return kGathers<Family> ? c.src_rows : c.dst_rows;
}
template <class Family>
constexpr const char* kCallName = kGathers<Family> ? "gpumem_gather" : "gpumem_scatter";

template <class Family>
void check(const GatherScatterParams& c) {
  require_at_least("row_bytes", c.row_bytes, 1);
  require_index_type("index_type", c.index_type);
  require_at_least("n", c.n, 0);
  require_at_least(kRowsName<Family>, rows_of<Family>(c), 0);
  require_pitch("src_pitch_bytes", c.src_pitch, c.src_rows, c.row_bytes);
  require_pitch("dst_pitch_bytes", c.dst_pitch, c.dst_rows, c.row_bytes);
}

// Replaces unused values: the pitch of fewer than two rows, and the address of an empty matrix.
GatherScatterParams normal(GatherScatterParams c) noexcept {
  if (c.src_rows == 0) c.src = nullptr;
  if (c.dst_rows == 0) c.dst = nullptr;
  if (c.src_rows <= 1) c.src_pitch = c.row_bytes;
  if (c.dst_rows <= 1) c.dst_pitch = c.row_bytes;
  return c;
}

RowRanges ranges_of(const GatherScatterParams& c) {
  return {range_of_rows("src", c.src, c.src_rows, c.src_pitch, c.row_bytes, "bytes of src"),
          {"index", c.index, checked_mul(c.n, element_bytes(c.index_type), "bytes of index")},
          range_of_rows("dst", c.dst, c.dst_rows, c.dst_pitch, c.row_bytes, "bytes of dst")};
}

template <class Family>
Plan<Family> plan_rows(Planner& planner, const GatherScatterParams& given, Completion completion) {
  check<Family>(given);
  Plan<Family> plan;
  GatherScatterParams& c = plan.params = normal(given);
  const RowRanges ranges = ranges_of(c);
  plan.empty = c.n == 0;
  if (plan.empty) return plan;
  require_aligned("index", c.index, element_bytes(c.index_type));
  plan.placement = place_rows(planner, ranges, completion);
  if (plan.placement.stage_src) {  // the staged copy is tight and starts an allocation
    c.src = placeholder();
    c.src_pitch = c.row_bytes;
  }
  plan.selection = decide<Family>(planner, plan.placement.space, c);
  return plan;
}

template <class Family>
void run(Context& context, const CallOf<Family>& given) {
  CallPlanner planner(context, given, Completion::blocking);
  const Plan<Family> planned = plan_rows<Family>(planner, given, Completion::blocking);
  if (planned.empty) return;
  require_not_capturing(context, context.own_stream(), kCallName<Family>);
  const Placement& placement = planned.placement;
  GatherScatterParams params = planned.params;
  std::optional<Workspace> src;
  std::optional<Workspace> index;
  if (placement.stage_src) {
    stage_rows(context, src, placement.space, given.src, given.src_pitch, given.row_bytes, given.src_rows,
               placement.host_side);
    params.src = src->get();
  }
  if (placement.stage_index) {
    stage(context, index, placement.space, params.index, params.n * element_bytes(params.index_type),
          placement.index_side);
    params.index = index->get();
  }
  const BadIndex bad = run_now(context, placement, [&](Backend& backend, NativeStream stream) {
    return backend.gather_scatter(stream, kNamed<Family>, params, planned.selection, Completion::blocking);
  });
  require_rows(bad, params.index_type, kRowsName<Family>, rows_of<Family>(params));
}

template <class Family>
void enqueue(Context& context, const CallOf<Family>& given, NativeStream stream) {
  CallPlanner planner(context, given, Completion::asynchronous);
  const Plan<Family> planned = plan_rows<Family>(planner, given, Completion::asynchronous);
  GatherScatterParams params = planned.params;
  Output outputs[] = {status_of(params.status)};
  const RowRanges ranges = ranges_of(params);
  const ByteRange operands[] = {ranges.src, ranges.index, ranges.dst};
  check_outputs(context, outputs, planned.empty ? std::span<const ByteRange>() : operands, Completion::asynchronous);
  if (planned.empty) return write_empty_values(context, outputs, stream, Completion::asynchronous);
  const ExecutionSpace space = planned.placement.space;
  if (!context.on_cuda() || space == ExecutionSpace::cuda) {
    prefetch_managed(context, planned.placement, stream);
    context.running(space).gather_scatter(stream, kNamed<Family>, params, planned.selection, Completion::asynchronous);
    return;
  }
  require_not_capturing(context, stream, kGathers<Family> ? "a gather of host memory" : "a scatter of host memory");
  BounceBuffers buffers;
  params.status = static_cast<gpumem_status*>(buffers.room_for(outputs[0]));
  const auto work = [params, chosen = Configured(planned.selection)](Backend& host, NativeStream now, Completion done) {
    host.gather_scatter(now, kNamed<Family>, params, chosen, done);
  };
  const char* what = kGathers<Family> ? "gather that was enqueued" : "scatter that was enqueued";
  enqueue_on_host(context, stream, beside_task(context, what, work), std::move(buffers), false);
}

}  // namespace

Plan<GatherFamily> plan(Planner& planner, const GatherParams& call, Completion completion) {
  return plan_rows<GatherFamily>(planner, call, completion);
}
Plan<ScatterFamily> plan(Planner& planner, const ScatterParams& call, Completion completion) {
  return plan_rows<ScatterFamily>(planner, call, completion);
}

void gather(Context& context, const GatherScatterParams& params, NativeStream stream, Completion completion) {
  completion == Completion::blocking ? run<GatherFamily>(context, {params})
                                     : enqueue<GatherFamily>(context, {params}, stream);
}
void scatter(Context& context, const GatherScatterParams& params, NativeStream stream, Completion completion) {
  completion == Completion::blocking ? run<ScatterFamily>(context, {params})
                                     : enqueue<ScatterFamily>(context, {params}, stream);
}

}  // namespace gpumem
