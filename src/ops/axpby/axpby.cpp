// z = alpha x + beta y. Factors are compared as bits: the caller may flush subnormals to zero or trap them.
#include "base/checked.hpp"
#include "kernels/elements.hpp"
#include "ops/plan.hpp"
#include "ops/sources.hpp"

namespace gpumem {
namespace {

SourcedPlan<AxpbyFamily> plan_with_sources(Planner& planner, const AxpbyParams& c, Completion completion) {
  require_f32_or_f64(c.dtype);
  require_at_least("n", c.n, 0);
  SourcedPlan<AxpbyFamily> planned;
  Plan<AxpbyFamily>& plan = planned.plan;
  plan.empty = c.n == 0;
  if (plan.empty) return planned;
  const int64_t bytes = checked_mul(c.n, element_bytes(c.dtype), "bytes of z");
  Sources& sources = planned.sources.emplace(planner, ByteRange{"z", c.z, bytes}, element_bytes(c.dtype), completion);
  AxpbyParams& params = plan.params = c;
  params.x = is_zero(c.dtype, c.alpha) ? nullptr : sources.add({"x", c.x, bytes}, c.x == c.z);
  params.y = is_zero(c.dtype, c.beta) ? nullptr : sources.add({"y", c.y, bytes}, c.y == c.z);
  plan.placement = sources.place();
  if (!sources.read_z()) plan.placement.overwrites(c.z);
  plan.selection = decide<AxpbyFamily>(planner, plan.placement.space, params);
  return planned;
}

}  // namespace

Plan<AxpbyFamily> plan(Planner& planner, const AxpbyParams& call, Completion completion) {
  return plan_with_sources(planner, call, completion).plan;
}

void axpby(Context& context, const AxpbyParams& call, NativeStream stream, Completion completion) {
  CallPlanner planner(context, call, completion);
  SourcedPlan<AxpbyFamily> planned = plan_with_sources(planner, call, completion);
  if (planned.plan.empty) return;
  if (completion == Completion::blocking) require_not_capturing(context, stream, "a blocking axpby");
  Sources::Brought brought;
  planned.sources->bring(context, planned.plan.placement.space, brought);
  AxpbyParams& params = planned.plan.params;
  const void* const* at = brought.at.data();
  if (params.x != nullptr) params.x = *at++;
  if (params.y != nullptr) params.y = *at;
  launch_placed(context, planned.plan, stream, completion, "this axpby");
}

}  // namespace gpumem
