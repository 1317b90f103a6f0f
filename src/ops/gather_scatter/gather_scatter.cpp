// Gathers and scatters of rows. They differ in the matrix that the index names: src of a gather, dst of a scatter.
#include <algorithm>
#include <optional>
#include <string>
#include <type_traits>

#include "base/checked.hpp"
#include "base/sentences.hpp"
#include "kernels/elements.hpp"
#include "ops/bounce_buffers.hpp"
#include "ops/plan.hpp"
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

void check_pitch(const char* argument, int64_t pitch, int64_t rows, int64_t row_bytes) {
  if (rows > 1) require_at_least(argument, pitch, "row_bytes", row_bytes);
}

template <class Family>
void check(const GatherScatterParams& c) {
  require_at_least("row_bytes", c.row_bytes, 1);
  if (!is_dtype(c.index_type) || is_floating(c.index_type) || element_bytes(c.index_type) < 4) {
    fail(GPUMEM_INVALID_ARGUMENT,
         "index_type is %d; expected GPUMEM_I32 (4), GPUMEM_U32 (5), GPUMEM_I64 (6) or GPUMEM_U64 (7)", c.index_type);
  }
  require_at_least("n", c.n, 0);
  require_at_least(kRowsName<Family>, rows_of<Family>(c), 0);
  check_pitch("src_pitch_bytes", c.src_pitch, c.src_rows, c.row_bytes);
  check_pitch("dst_pitch_bytes", c.dst_pitch, c.dst_rows, c.row_bytes);
}

// Replaces unused values: the pitch of fewer than two rows, and the address of an empty matrix.
GatherScatterParams normal(GatherScatterParams c) noexcept {
  if (c.src_rows == 0) c.src = nullptr;
  if (c.dst_rows == 0) c.dst = nullptr;
  if (c.src_rows <= 1) c.src_pitch = c.row_bytes;
  if (c.dst_rows <= 1) c.dst_pitch = c.row_bytes;
  return c;
}

// From the first byte of a matrix to the end of its last row. Empty without rows.
struct Ranges {
  ByteRange src;
  ByteRange index;
  ByteRange dst;
};

ByteRange range_of(const char* argument, const void* p, int64_t rows, int64_t pitch, int64_t row_bytes,
                   const char* what) {
  const int64_t bytes = rows == 0 ? 0 : checked_extent(rows, pitch, row_bytes, what);
  return {argument, p, bytes, gap_of(row_bytes, {{rows, pitch}}, 1)};
}

Ranges ranges_of(const GatherScatterParams& c) {
  return {range_of("src", c.src, c.src_rows, c.src_pitch, c.row_bytes, "bytes of src"),
          {"index", c.index, checked_mul(c.n, element_bytes(c.index_type), "bytes of index")},
          range_of("dst", c.dst, c.dst_rows, c.dst_pitch, c.row_bytes, "bytes of dst")};
}

[[noreturn]] void fail_elsewhere(const char* argument, const Operand& operand, ExecutionSpace space) {
  fail(GPUMEM_UNSUPPORTED, "%s is %s memory, but the work runs where dst is, %s; expected memory of that side",
       argument, kind_name(operand.kind), space == ExecutionSpace::cuda ? "on the device" : "on the host");
}

// The work runs next to dst, or next to src if dst has no rows. Looks up every operand.
Placement place_rows(Planner& planner, const Ranges& ranges, Completion completion) {
  std::optional<Operand> src;
  std::optional<Operand> dst;
  if (ranges.src.bytes > 0) src = planner.look_up_here(ranges.src, Access::read);
  const Operand index = planner.look_up_index(ranges.index);
  if (ranges.dst.bytes > 0) dst = planner.look_up_here(ranges.dst, Access::write);
  const bool on_cuda = planner.on_cuda();
  Placement placement = src && dst ? place(on_cuda, *src, *dst) : place(on_cuda, dst ? *dst : *src);
  if (src && dst) require_disjoint(ranges.dst, ranges.src);
  if (dst) require_disjoint(ranges.dst, ranges.index);
  if (src) placement.host_side = src->host_side();
  placement.stage_index = on_cuda && read_elsewhere(placement.space, index, completion);
  placement.index_side = index.host_side();
  if (completion == Completion::asynchronous && placement.stage_src) fail_elsewhere("src", *src, placement.space);
  if (completion == Completion::asynchronous && placement.stage_index) fail_elsewhere("index", index, placement.space);
  return placement;
}

template <class Family>
Plan<Family> plan_rows(Planner& planner, const GatherScatterParams& given, Completion completion) {
  check<Family>(given);
  Plan<Family> plan;
  GatherScatterParams& c = plan.params = normal(given);
  const Ranges ranges = ranges_of(c);
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
void require_rows(const BadIndex& bad, const GatherScatterParams& c) {
  if (bad.at < 0) return;
  const uint64_t value = extend(c.index_type, bad.bits);
  const std::string text =
      is_signed_integer(c.index_type) ? std::to_string(static_cast<int64_t>(value)) : std::to_string(value);
  fail(GPUMEM_OUT_OF_RANGE, "index[%lld] is %s; expected 0 or more, and less than %s = %lld", ll(bad.at), text.c_str(),
       kRowsName<Family>, ll(rows_of<Family>(c)));
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
  require_rows<Family>(bad, params);
}

template <class Family>
void enqueue(Context& context, const CallOf<Family>& given, NativeStream stream) {
  CallPlanner planner(context, given, Completion::asynchronous);
  const Plan<Family> planned = plan_rows<Family>(planner, given, Completion::asynchronous);
  GatherScatterParams params = planned.params;
  Output outputs[] = {status_of(params.status)};
  const Ranges ranges = ranges_of(params);
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
