// A plan is everything that is decided before anything runs: checked operands, placement, the problem as the table sees
// it, and the chosen variant. The operations execute plans and explain() prints them, so the two can't disagree.
#pragma once

#include "base/error.hpp"
#include "ops/operations.hpp"
#include "ops/placement.hpp"

namespace gpumem {

template <class Family>
struct Plan {
  bool empty = false;  // nothing to do: no kernel runs
  Placement placement{};
  typename Family::Problem problem{};
  Decision decision{};
};

// Copies know more: what is copied, in as few rows as can be, and who can.
struct CopyPlan : Plan<CopyFamily> {
  CopyBlock block{};
  bool from_host = false;  // src lies in host memory
};

// Each throws what the operation itself would fail with before its first write. Some plans depend on whether it is the plain form
// (Until::complete) or the _async one, which moves no operand.
Plan<ReduceFamily> plan(Context& context, const ReduceCall& call, Until until);
Plan<ReduceAxisFamily> plan(Context& context, const ReduceAxisCall& call);
Plan<ReduceSegmentsFamily> plan(Context& context, const ReduceSegmentsCall& call, Until until);
Plan<TransposeFamily> plan(Context& context, const TransposeCall& call, Until until);
Plan<PermuteFamily> plan(Context& context, const PermuteCall& call, Until until);
CopyPlan plan(Context& context, const CopyCall& call);
// pattern may be nullptr: one whose bytes differ is assumed.
Plan<FillFamily> plan(Context& context, const FillCall& call, const void* pattern);
Plan<AxpbyFamily> plan(Context& context, const AxpbyCall& call, Until until);
Plan<GatherFamily> plan(Context& context, const GatherCall& call, Until until);
Plan<ScatterFamily> plan(Context& context, const ScatterCall& call, Until until);
Plan<ResizeFamily> plan(Context& context, const ResizeCall& call, Until until);

template <class Family>
Decision decide(Context& context, const typename Family::Problem& problem) {
  const Override forced = context.forced(Family::id);
  const DeviceProps& props = context.running(problem.runs).props();
  const Decision decision = select<Family>(props, problem, forced, context.tuning());
  if (decision.row < 0 && forced.row < 0) fail(GPUMEM_INTERNAL, "%s: %s", Family::name, decision.rejected);
  if (decision.row < 0) {
    fail(GPUMEM_UNSUPPORTED, "the variant %s of %s, forced by %s, does not fit: %s", Family::table()[forced.row].name,
         Family::name, forced.by == ChosenBy::environment ? "the environment" : "the program", decision.rejected);
  }
  return decision;
}

}  // namespace gpumem
