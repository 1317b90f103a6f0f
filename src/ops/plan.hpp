// A plan is everything that is decided before anything runs: checked operands, placement, the parameters as they travel on, and the
// chosen variant. The operations execute plans and explain() prints them, so the two can't disagree.
#pragma once

#include "base/error.hpp"
#include "ops/operations.hpp"
#include "ops/placement.hpp"

namespace gpumem {

template <class Family>
struct Plan {
  bool empty = false;  // nothing to do: no kernel runs
  Placement placement{};
  // Normal: distances that are never used are tight. An operand that is staged is scratch_to_come().
  typename Family::Params params{};
  Decision decision{};
};

// The parameters of a copy are merged.
struct CopyPlan : Plan<CopyFamily> {
  bool from_host = false;  // src lies in host memory
};

// Where an operand crosses the link to the device, the parameters are those of the first piece.
struct TransposePlan : Plan<TransposeFamily> {
  TransposeParams whole{};
};

// Each throws what the operation itself would fail with before its first write. Some plans depend on whether it is the plain form
// (Until::complete) or the _async one, which moves no operand.
Plan<ReduceFamily> plan(Context& context, const ReduceParams& params, Until until);
Plan<ReduceAxisFamily> plan(Context& context, const ReduceAxisParams& params);
Plan<ReduceSegmentsFamily> plan(Context& context, const ReduceSegmentsParams& params, Until until);
TransposePlan plan(Context& context, const TransposeParams& params, Until until);
Plan<PermuteFamily> plan(Context& context, const PermuteParams& params, Until until);
CopyPlan plan(Context& context, const CopyParams& params);
// The pattern may be nullptr: one whose bytes differ is assumed.
Plan<FillFamily> plan(Context& context, const FillParams& params);
Plan<AxpbyFamily> plan(Context& context, const AxpbyParams& params, Until until);
Plan<GatherFamily> plan_gather(Context& context, const GatherScatterParams& params, Until until);
Plan<ScatterFamily> plan_scatter(Context& context, const GatherScatterParams& params, Until until);
Plan<ResizeFamily> plan(Context& context, const ResizeParams& params, Until until);

template <class Family>
Decision decide(Context& context, Runs runs, const typename Family::Params& params) {
  const Override forced = context.forced(Family::id);
  const DeviceProps& props = context.running(runs).props();
  const Decision decision = select<Family>(props, params, forced, context.tuning());
  if (decision.row < 0 && forced.row < 0) fail(GPUMEM_INTERNAL, "%s: %s", Family::name, decision.rejected);
  if (decision.row < 0) {
    fail(GPUMEM_UNSUPPORTED, "the variant %s of %s, forced by %s, does not fit: %s", Family::table()[forced.row].name,
         Family::name, forced.by == ChosenBy::environment ? "the environment" : "the program", decision.rejected);
  }
  return decision;
}

}  // namespace gpumem
