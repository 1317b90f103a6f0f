// Selections of the rows, or of the places, that a mask keeps.
#include <algorithm>
#include <optional>

#include "base/checked.hpp"
#include "base/sentences.hpp"
#include "kernels/elements.hpp"
#include "ops/bounce_buffers.hpp"
#include "ops/rows.hpp"
#include "ops/staging.hpp"

namespace gpumem {
namespace {

int64_t src_rows(const SelectParams& c) noexcept { return c.places || c.dst_rows == 0 ? 0 : c.n; }

void check(const SelectParams& c) {
  require_at_least("n", c.n, 0);
  require_at_least(c.places ? "places_n" : "dst_rows", c.dst_rows, 0);
  if (!c.places) {
    require_at_least("row_bytes", c.row_bytes, 1);
    require_pitch("src_pitch_bytes", c.src_pitch, src_rows(c), c.row_bytes);
    require_pitch("dst_pitch_bytes", c.dst_pitch, std::min(c.n, c.dst_rows), c.row_bytes);
    return;
  }
  require_index_type("index_type", c.index_type);
  if (element_bytes(c.index_type) == 8) return;
  const auto most = static_cast<int64_t>(sign_bit(c.index_type)) * (is_signed_integer(c.index_type) ? 1 : 2);
  if (c.n <= most) return;
  fail(GPUMEM_INVALID_ARGUMENT, "n is %lld; expected at most %lld, the places that index_type can number", ll(c.n),
       ll(most));
}

// Replaces unused values: room that no row can take, the operands of a count, and the pitch of fewer than two rows.
SelectParams normal(SelectParams c) noexcept {
  c.dst_rows = std::min(c.dst_rows, c.n);
  if (c.places) c.row_bytes = c.dst_pitch = element_bytes(c.index_type);
  if (c.places || c.dst_rows == 0) c.src = nullptr;
  if (c.dst_rows == 0) c.dst = nullptr;
  if (c.src == nullptr || c.n <= 1) c.src_pitch = c.row_bytes;
  if (c.dst_rows <= 1) c.dst_pitch = c.row_bytes;
  return c;
}

RowRanges ranges_of(const SelectParams& c) {
  return {range_of_rows("src", c.src, src_rows(c), c.src_pitch, c.row_bytes, "bytes of src"),
          {"mask", c.mask, c.n},
          range_of_rows(c.places ? "places" : "dst", c.dst, c.dst_rows, c.dst_pitch, c.row_bytes,
                        c.places ? "bytes of places" : "bytes of dst")};
}

// Returns the number of kept rows.
int64_t run(Context& context, const Plan<SelectFamily>& planned, const SelectParams& given) {
  const Placement& placement = planned.placement;
  SelectParams params = planned.params;
  std::optional<Workspace> src;
  std::optional<Workspace> mask;
  if (placement.stage_src) {
    stage_rows(context, src, placement.space, given.src, given.src_pitch, params.row_bytes, params.n,
               placement.host_side);
    params.src = src->get();
  }
  if (placement.stage_index) {
    stage(context, mask, placement.space, given.mask, params.n, placement.index_side);
    params.mask = static_cast<const uint8_t*>(mask->get());
  }
  const BlockingResult kept(context, placement.space);
  params.kept = static_cast<int64_t*>(kept.get());
  run_now(context, placement, [&](Backend& backend, NativeStream stream) {
    backend.launch(stream, Work<SelectFamily>{params, planned.selection}, Completion::blocking);
  });
  return kept.value<int64_t>();
}

void enqueue(Context& context, Plan<SelectFamily>& planned, const Output& kept, NativeStream stream) {
  launch_bounced(context, planned, stream, {"this selection", "a selection of host memory", "an enqueued selection"},
                 false, [&kept](SelectParams& params, BounceBuffers& buffers) -> gpumem_status* {
                   params.kept = static_cast<int64_t*>(buffers.room_for(kept));
                   return nullptr;
                 });
}

}  // namespace

Plan<SelectFamily> plan(Planner& planner, const SelectParams& given, Completion completion) {
  check(given);
  Plan<SelectFamily> plan;
  SelectParams& c = plan.params = normal(given);
  const RowRanges ranges = ranges_of(c);
  plan.empty = c.n == 0;
  if (plan.empty) return plan;
  if (c.places) require_aligned("places", c.dst, element_bytes(c.index_type));
  plan.placement = place_rows(planner, ranges, completion);
  if (plan.placement.stage_src) {  // the staged copy is tight and starts an allocation
    c.src = placeholder();
    c.src_pitch = c.row_bytes;
  }
  if (plan.placement.stage_index) c.mask = static_cast<const uint8_t*>(placeholder());
  plan.selection = decide<SelectFamily>(planner, plan.placement.space, c);
  return plan;
}

void select_rows(Context& context, const SelectParams& given, NativeStream stream, Completion completion) {
  CallPlanner planner(context, given, completion);
  Plan<SelectFamily> planned = plan(planner, given, completion);
  const bool blocking = completion == Completion::blocking;
  Output outputs[] = {{"kept", given.kept, sizeof(int64_t), blocking ? 1 : int64_t{sizeof(int64_t)}}};
  const RowRanges ranges = ranges_of(normal(given));
  const ByteRange operands[] = {ranges.src, ranges.index, ranges.dst};
  check_outputs(context, outputs, planned.empty ? std::span<const ByteRange>() : operands, completion);
  if (blocking) require_not_capturing(context, stream, given.places ? "gpumem_select_places" : "gpumem_select");
  if (planned.empty) return write_empty_values(context, outputs, stream, completion);
  if (!blocking) return enqueue(context, planned, outputs[0], stream);
  const int64_t kept = run(context, planned, given);
  store(context, outputs[0], &kept);
  if (given.dst_rows == 0 || kept <= given.dst_rows) return;
  fail(GPUMEM_OUT_OF_RANGE, "%s is %lld; expected room for the %lld that the mask keeps",
       given.places ? "places_n" : "dst_rows", ll(given.dst_rows), ll(kept));
}

}  // namespace gpumem
