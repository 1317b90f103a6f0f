#include <optional>

#include "base/checked.hpp"
#include "base/sentences.hpp"
#include "ops/plan.hpp"
#include "ops/staging.hpp"

namespace gpumem {
namespace {

void check(const SortParams& c) {
  if (!is_dtype(c.dtype)) {
    fail(GPUMEM_INVALID_ARGUMENT, "dtype is %d; expected a dtype, GPUMEM_I8 (%d) to GPUMEM_F64 (%d)", c.dtype,
         GPUMEM_I8, GPUMEM_F64);
  }
  require_at_least("n", c.n, 0);
  if (c.descending != 0 && c.descending != 1) {
    fail(GPUMEM_INVALID_ARGUMENT, "descending is %d; expected 0 or 1", c.descending);
  }
  if (c.n > 0 && c.sorted == nullptr && c.order == nullptr) {
    fail(GPUMEM_INVALID_ARGUMENT, "sorted and order are NULL; expected at least one output");
  }
  if (c.order == nullptr) return;
  if (!is_dtype(c.order_type) || is_floating(c.order_type) || element_bytes(c.order_type) < 4) {
    fail(GPUMEM_INVALID_ARGUMENT,
         "order_type is %d; expected GPUMEM_I32 (4), GPUMEM_U32 (5), GPUMEM_I64 (6) or GPUMEM_U64 (7)", c.order_type);
  }
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
};
Ranges ranges_of(const SortParams& c) {
  const int64_t bytes = checked_mul(c.n, element_bytes(c.dtype), "bytes of keys");
  const int64_t order_bytes = c.order == nullptr ? 0 : checked_mul(c.n, element_bytes(c.order_type), "bytes of order");
  static_cast<void>(checked_mul(c.n, 64, "bytes of keys and scratch memory"));
  return {{"keys", c.keys, bytes}, {"sorted", c.sorted, bytes}, {"order", c.order, order_bytes}};
}

// The work runs at sorted, or at order if sorted is NULL. Placement sees keys as src, and that output as dst.
Placement place_sort(Planner& planner, const SortParams& c, SortParams& placed, Completion completion) {
  const auto [keys, sorted, order] = ranges_of(c);
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
  if (c.sorted != c.keys) placement.overwrites(c.sorted);
  placement.overwrites(c.order);
  if (placement.stage_src) {
    placed.keys = placeholder();
    placement.reason = placement.space == ExecutionSpace::cuda
                           ? "the output is in device memory; keys are copied to the device first"
                           : "the output is in host memory; keys are copied to the host first";
  }
  if (elsewhere) placed.order = placeholder();
  return placement;
}

}  // namespace

Plan<SortFamily> plan(Planner& planner, const SortParams& c, Completion completion) {
  check(c);
  static_cast<void>(ranges_of(c));
  Plan<SortFamily> plan;
  plan.empty = c.n == 0;
  if (plan.empty) return plan;
  plan.params = c;
  plan.placement = place_sort(planner, c, plan.params, completion);
  plan.selection = decide<SortFamily>(planner, plan.placement.space, plan.params);
  return plan;
}

void sort(Context& context, const SortParams& call, NativeStream stream, Completion completion) {
  CallPlanner planner(context, call, completion);
  Plan<SortFamily> planned = plan(planner, call, completion);
  if (planned.empty) return;
  const ExecutionSpace space = planned.placement.space;
  const auto [keys, sorted, order] = ranges_of(call);
  std::optional<Workspace> staged;
  std::optional<Workspace> room;
  Output other{.argument = "order", .p = call.order, .bytes = order.bytes};
  if (completion == Completion::blocking) require_not_capturing(context, stream, "this sort");
  if (planned.placement.stage_src) {
    stage(context, staged, space, call.keys, keys.bytes, planned.placement.host_side);
    planned.params.keys = staged->get();
  }
  if (planned.params.order != call.order) {
    other.where = look_up_range(context, call.order, order.bytes, Access::write, "order");
    make_room(context, room, space, other);
    planned.params.order = room->get();
  }
  launch_placed(context, planned, stream, completion, "this sort");
  if (room) bring_back(context, *room, other);
}

}  // namespace gpumem
