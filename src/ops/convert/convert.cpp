#include <optional>

#include "base/checked.hpp"
#include "base/sentences.hpp"
#include "ops/plan.hpp"
#include "ops/sources.hpp"
#include "ops/staging.hpp"

namespace gpumem {
namespace {

int64_t src_bytes(const ConvertParams& c) { return checked_mul(c.n, element_bytes(c.src_type), "bytes of src"); }

}  // namespace

Plan<ConvertFamily> plan(Planner& planner, const ConvertParams& c, Completion completion) {
  require_dtype("src_type", c.src_type);
  require_dtype("dst_type", c.dst_type);
  require_at_least("n", c.n, 0);
  Plan<ConvertFamily> plan;
  plan.empty = c.n == 0;
  if (plan.empty) return plan;
  const ByteRange src{"src", c.src, src_bytes(c)};
  const ByteRange dst{"dst", c.dst, checked_mul(c.n, element_bytes(c.dst_type), "bytes of dst")};
  const Operand src_lies = planner.look_up_here(src, Access::read);
  const Operand dst_lies = planner.look_up_here(dst, Access::write);
  const bool in_place = src.p == dst.p && src.bytes == dst.bytes;
  plan.empty = in_place && c.src_type == c.dst_type;
  if (plan.empty) return plan;
  if (!in_place) require_disjoint(dst, src);
  plan.placement = place(planner.on_cuda(), src_lies, dst_lies, completion);
  if (!in_place) plan.placement.overwrites(c.dst);
  plan.params = c;
  if (plan.placement.stage_src) plan.params.src = placeholder();
  plan.selection = decide<ConvertFamily>(planner, plan.placement.space, plan.params);
  return plan;
}

void convert(Context& context, const ConvertParams& call, NativeStream stream, Completion completion) {
  CallPlanner planner(context, call, completion);
  Plan<ConvertFamily> planned = plan(planner, call, completion);
  if (planned.empty) return;
  std::optional<Workspace> staged;
  if (planned.placement.stage_src) {
    require_not_capturing(context, stream, "this conversion");
    stage(context, staged, planned.placement.space, call.src, src_bytes(call), planned.placement.host_side);
    planned.params.src = staged->get();
  }
  launch_placed(context, planned, stream, completion, "this conversion");
}

}  // namespace gpumem
