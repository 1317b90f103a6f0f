// A plan is everything that is decided before anything runs: checked operands, placement, the parameters as they travel on, and the
// chosen variant. The operations execute plans and explain() prints them, so the two can't disagree.
#pragma once

#include "base/error.hpp"
#include "ops/operations.hpp"
#include "ops/placement.hpp"
#include "ops/planner.hpp"

namespace gpumem {

template <class Family>
struct Plan {
  bool empty = false;  // nothing to do: no kernel runs
  Placement placement{};
  // Normal: distances that are never used are tight. An operand that is staged is scratch_to_come().
  typename Family::Params params{};
  Decision decision{};
};

// Where an operand crosses the link to the device, the parameters are those of the first piece.
struct TransposePlan : Plan<TransposeFamily> {
  TransposeParams whole{};
};

// Each throws what the operation itself would fail with before its first write. Some plans depend on whether it is the plain form
// (Until::complete) or the _async one, which moves no operand.
Plan<ReduceFamily> plan(Planner& planner, const ReduceParams& params, Until until);
Plan<ReduceAxisFamily> plan(Planner& planner, const ReduceAxisParams& params, Until until);
Plan<ReduceSegmentsFamily> plan(Planner& planner, const ReduceSegmentsParams& params, Until until);
TransposePlan plan(Planner& planner, const TransposeParams& params, Until until);
Plan<PermuteFamily> plan(Planner& planner, const PermuteParams& params, Until until);
// The parameters are merged.
Plan<CopyFamily> plan(Planner& planner, const CopyParams& params, Until until);
Plan<FillFamily> plan(Planner& planner, const FillParams& params, Until until);
Plan<AxpbyFamily> plan(Planner& planner, const AxpbyParams& params, Until until);
Plan<GatherFamily> plan(Planner& planner, const GatherParams& params, Until until);
Plan<ScatterFamily> plan(Planner& planner, const ScatterParams& params, Until until);
Plan<ResizeFamily> plan(Planner& planner, const ResizeParams& params, Until until);

// Place: a Planner or a Context.
template <class Family, class Place>
Decision decide(Place& place, Runs runs, const typename Family::Params& params, Override forced) {
  const Decision decision = select<Family>(place.props(runs), params, forced, place.tuning());
  if (decision.row < 0 && forced.row < 0) fail(GPUMEM_INTERNAL, "%s: %s", Family::name, decision.rejected);
  if (decision.row < 0) {
    fail(GPUMEM_UNSUPPORTED, "the variant %s of %s, forced by %s, does not fit: %s", Family::table()[forced.row].name,
         Family::name, forced.by == ChosenBy::environment ? "the environment" : "the program", decision.rejected);
  }
  return decision;
}
template <class Family, class Place>
Decision decide(Place& place, Runs runs, const typename Family::Params& params) {
  return decide<Family>(place, runs, params, place.forced(Family::id));
}

}  // namespace gpumem
