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
  // Normal: distances that are never used are tight. An operand that is staged is placeholder().
  typename Family::Params params{};
  Selection<typename Family::Params> selection{};
};

// If an operand crosses the link to the device, the parameters are those of the first piece, and `whole` those of the call.
struct TransposePlan : Plan<TransposeFamily> {
  TransposeParams whole{};
};

// Place: a Planner or a Context.
template <class Family, class Place>
Selection<typename Family::Params> decide(Place& place, ExecutionSpace space, const typename Family::Params& params,
                                          Override forced) {
  auto selection = select<Family>(place.props(space), params, forced, place.tuned());
  if (selection.row < 0 && forced.row < 0) fail(GPUMEM_INTERNAL, "%s: %s", Family::name, selection.refusal);
  if (selection.row < 0) {
    fail(GPUMEM_UNSUPPORTED, "the variant %s of %s, forced by %s, does not fit: %s", Family::table()[forced.row].name,
         Family::name, forced.by == ChosenBy::environment ? "the environment" : "the program", selection.refusal);
  }
  place.chose(selection.row, space);
  return selection;
}
template <class Family, class Place>
Selection<typename Family::Params> decide(Place& place, ExecutionSpace space, const typename Family::Params& params) {
  return decide<Family>(place, space, params, place.forced(Family::id));
}

}  // namespace gpumem
