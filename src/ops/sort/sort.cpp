#include <optional>

#include "base/checked.hpp"
#include "base/sentences.hpp"
#include "ops/bounce_buffers.hpp"
#include "ops/plan.hpp"
#include "ops/reduce/reduce.hpp"
#include "ops/rows.hpp"
#include "ops/sources.hpp"
#include "ops/staging.hpp"

namespace gpumem {
namespace {

constexpr const char* kThisSort = "this sort";

void check(const SortParams& c) {
  require_dtype("dtype", c.dtype);
  require_at_least("n", c.n, 0);
  if (c.in_segments()) require_at_least("segments", c.segments, 0);
  if (c.descending != 0 && c.descending != 1) {
    fail(GPUMEM_INVALID_ARGUMENT, "descending is %d; expected 0 or 1", c.descending);
  }
  if (c.n > 0 && c.sorted == nullptr && c.order == nullptr) {
    fail(GPUMEM_INVALID_ARGUMENT, "sorted and order are NULL; expected at least one output");
  }
  if (c.order == nullptr) return;
  require_index_type("order_type", c.order_type);
  const int64_t most = c.order_type == GPUMEM_I32 ? int64_t{1} << 31 : int64_t{1} << 32;
  if (element_bytes(c.order_type) == 4 && c.n > most) {
    fail(GPUMEM_INVALID_ARGUMENT, "n is %lld; expected at most %lld, because order has 32-bit numbers", ll(c.n),
         ll(most));
  }
  require_aligned("order", c.order, element_bytes(c.order_type));
}

struct Ranges {
  ByteRange keys;
  ByteRange sorted;
  ByteRange order;
  ByteRange offsets{};
};
Ranges ranges_of(const SortParams& c) {
  const int64_t bytes = checked_mul(c.n, element_bytes(c.dtype), "bytes of keys");
  const int64_t order_bytes = c.order == nullptr ? 0 : checked_mul(c.n, element_bytes(c.order_type), "bytes of order");
  static_cast<void>(checked_mul(c.n, 64, "bytes of keys and scratch memory"));
  return {{"keys", c.keys, bytes},
          {"sorted", c.sorted, bytes},
          {"order", c.order, order_bytes},
          c.in_segments() ? range_of_offsets(c.offsets, c.segments) : ByteRange{"offsets", nullptr, 0}};
}

void place_offsets(Planner& planner, const Ranges& ranges, Placement& placement, Completion completion) {
  require_aligned("offsets", ranges.offsets.p, sizeof(int64_t));
  const Operand lies = planner.look_up_index(ranges.offsets);
  for (const ByteRange& output : {ranges.sorted, ranges.order}) {
    if (output.p != nullptr) require_disjoint(output, ranges.offsets);
  }
  const char* const beside = ranges.sorted.p != nullptr ? "sorted" : "order";
  place_index(placement, planner.on_cuda(), "offsets", lies, beside, completion);
}

// The work runs at sorted, or at order if sorted is NULL. Placement sees keys as src, and that output as dst.
Placement place_sort(Planner& planner, const SortParams& c, const Ranges& ranges, SortParams& placed,
                     Completion completion) {
  const auto& [keys, sorted, order, offsets] = ranges;
  const Operand keys_lie = planner.look_up_here(keys, Access::read);
  std::optional<Operand> sorted_lies;
  std::optional<Operand> order_lies;
  if (c.sorted != nullptr) sorted_lies = planner.look_up_here(sorted, Access::write);
  if (c.order != nullptr) order_lies = planner.look_up_here(order, Access::write);
  if (sorted_lies && c.sorted != c.keys) require_disjoint(sorted, keys);
  if (order_lies) require_disjoint(order, keys);
  if (order_lies && sorted_lies) require_disjoint(order, sorted);
  const bool on_cuda = planner.on_cuda();
  const Operand& output = sorted_lies ? *sorted_lies : *order_lies;
  Placement placement = place_beside_output(on_cuda, output, on_cuda && keys_lie.on_host() != output.on_host());
  placement.uses(keys_lie);
  placement.host_side = keys_lie.host_side();
  const bool elsewhere = on_cuda && sorted_lies && order_lies && sorted_lies->on_host() != order_lies->on_host();
  if (completion == Completion::asynchronous && placement.stage_src) {
    fail_on_two_sides("keys", keys_lie, sorted_lies ? "sorted" : "order", output);
  }
  if (completion == Completion::asynchronous && elsewhere) {
    fail_on_two_sides("sorted", *sorted_lies, "order", *order_lies);
  }
  if (sorted_lies && order_lies && !elsewhere) placement.uses(*order_lies);
  if (!c.in_segments()) {  // keys in no segment keep their outputs
    if (c.sorted != c.keys) placement.overwrites(c.sorted);
    placement.overwrites(c.order);
  }
  if (placement.stage_src) {
    placed.keys = placeholder();
    placement.reason = placement.space == ExecutionSpace::cuda
                           ? "the output is in device memory; keys are copied to the device first"
                           : "the output is in host memory; keys are copied to the host first";
  }
  if (elsewhere) placed.order = placeholder();
  if (c.in_segments()) place_offsets(planner, ranges, placement, completion);
  return placement;
}

// Staged operands, and the room for an order on the other side. Outside of the segments, the room has what order has.
struct Staged {
  std::optional<Workspace> keys;
  std::optional<Workspace> offsets;
  std::optional<Workspace> room;
  Output order;
};
void bring(Context& context, Plan<SortFamily>& planned, const SortParams& call, Staged& staged) {
  const Placement& placement = planned.placement;
  const Ranges ranges = ranges_of(call);
  if (placement.stage_src) {
    stage(context, staged.keys, placement.space, call.keys, ranges.keys.bytes, placement.host_side);
    planned.params.keys = staged.keys->get();
  }
  if (placement.stage_index) {
    stage(context, staged.offsets, placement.space, call.offsets, ranges.offsets.bytes, placement.index_side);
    planned.params.offsets = static_cast<const int64_t*>(staged.offsets->get());
  }
  if (planned.params.order == call.order) return;
  Output& order = staged.order = {.argument = "order", .p = call.order, .bytes = ranges.order.bytes};
  order.where = look_up_range(context, call.order, order.bytes, Access::write, "order");
  if (call.in_segments()) {
    stage(context, staged.room, placement.space, call.order, order.bytes, order.where.host_side());
  } else {
    make_room(context, staged.room, placement.space, order);
  }
  planned.params.order = staged.room->get();
}

void run(Context& context, Plan<SortFamily>& planned, const SortParams& call) {
  require_not_capturing(context, context.own_stream(), kThisSort);
  Staged staged;
  bring(context, planned, call, staged);
  std::optional<BlockingResult> status;
  if (call.in_segments()) {
    planned.params.status = static_cast<gpumem_status*>(status.emplace(context, planned.placement.space).get());
  }
  launch_placed(context, planned, context.own_stream(), Completion::blocking, kThisSort);
  if (status) {
    require_offsets(context, status->value<gpumem_status>(), ranges_of(call).offsets, call.n, "nothing was written");
  }
  if (staged.room) bring_back(context, *staged.room, staged.order);
}

void enqueue(Context& context, Plan<SortFamily>& planned, const SortParams& call, NativeStream stream) {
  Output outputs[] = {status_of(call.status)};
  const Ranges ranges = ranges_of(call);
  const ByteRange operands[] = {ranges.keys, ranges.sorted, ranges.order, ranges.offsets};
  check_outputs(context, outputs, planned.empty ? std::span<const ByteRange>() : operands, Completion::asynchronous);
  if (planned.empty) return write_empty_values(context, outputs, stream, Completion::asynchronous);
  launch_with_status(context, planned, outputs[0], stream, kThisSort, "a sort of host memory");
}

}  // namespace

Plan<SortFamily> plan(Planner& planner, const SortParams& c, Completion completion) {
  check(c);
  const Ranges ranges = ranges_of(c);
  Plan<SortFamily> plan;
  plan.empty = c.n == 0 || c.segments == 0;
  if (plan.empty) return plan;
  plan.params = c;
  plan.placement = place_sort(planner, c, ranges, plan.params, completion);
  plan.selection = decide<SortFamily>(planner, plan.placement.space, plan.params);
  return plan;
}

void sort(Context& context, const SortParams& call, NativeStream stream, Completion completion) {
  CallPlanner planner(context, call, completion);
  Plan<SortFamily> planned = plan(planner, call, completion);
  if (completion == Completion::asynchronous) return enqueue(context, planned, call, stream);
  if (!planned.empty) run(context, planned, call);
}

void sort_segments(Context& context, const SortParams& call, NativeStream stream, Completion completion) {
  require_at_least("segments", call.segments, 0);
  sort(context, call, stream, completion);
}

}  // namespace gpumem
