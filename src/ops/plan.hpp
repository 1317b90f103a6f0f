// A plan has every decision that precedes execution: checked operands, placement, parameters and variant. Operations
// execute plans and explain() prints them, so the two can't disagree. A plan runs on its stream, or on the host in that
// stream's order.
#pragma once

#include <exception>
#include <memory>
#include <string>

#include "base/error.hpp"
#include "context/context.hpp"
#include "context/streams.hpp"
#include "ops/operations.hpp"
#include "ops/placement.hpp"
#include "ops/planner.hpp"

namespace gpumem {

template <class Family>
struct Plan {
  bool empty = false;  // nothing to do: no kernel runs
  Placement placement{};
  // Unused distances are tight. A staged operand is placeholder().
  typename Family::Params params{};
  Selection<typename Family::Params> selection{};
};

// If an operand crosses PCIe or NVLink, `params` describes the first piece and `whole` the call.
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

// A host task that calls work(backend, stream, completion). what: its name in the log. *status, unless status is
// nullptr, becomes GPUMEM_OUT_OF_MEMORY if memory runs out.
template <class Work>
HostTask beside_task(Context& context, std::string what, Work work, gpumem_status* status = nullptr) {
  return [&context, what = std::move(what), work = std::move(work), status] {
    try {
      work(context.host(), nullptr, Completion::blocking);
    } catch (const std::exception& error) {  // host work fails only if memory runs out
      if (status != nullptr) *status = GPUMEM_OUT_OF_MEMORY;
      context.log.write(GPUMEM_LOG_ERROR, "%s failed: %s", what.c_str(), error.what());
    }
  };
}

// Whether the host does the work of a CUDA context.
inline bool runs_beside(const Context& context, const Placement& placement) noexcept {
  return context.on_cuda() && placement.space == ExecutionSpace::host;
}

// Whether the host does the work after the call has returned, in the order of a device stream.
inline bool runs_later(const Context& context, const Placement& placement, Completion completion) noexcept {
  return runs_beside(context, placement) && completion == Completion::asynchronous;
}

// what: the operation's name in error messages, "this fill". Completion::blocking requires the context's own stream.
// Work that runs after the return is copied.
template <class Work>
void run_placed(Context& context, const Placement& placement, NativeStream stream, Completion completion,
                const char* what, const Work& work) {
  const bool beside = runs_beside(context, placement);
  if (completion == Completion::blocking || beside) require_not_capturing(context, stream, what);
  if (!beside) {
    prefetch_managed(context, placement, stream);
    work(context.running(placement.space), stream, completion);
  } else if (runs_later(context, placement, completion)) {
    const std::string enqueued = std::string(what) + " that was enqueued";
    context.device().host_callback(stream, beside_task(context, enqueued, work));
  } else {
    context.device().await_order();
    work(context.host(), nullptr, completion);
  }
}

// The same for an operation that consists of one launch.
template <class Family>
void launch_placed(Context& context, const Plan<Family>& plan, NativeStream stream, Completion completion,
                   const char* what) {
  const auto launch = [](const Plan<Family>& of, Backend& backend, NativeStream on, Completion done) {
    backend.launch(on, Work<Family>{of.params, of.selection}, done);
  };
  if (runs_later(context, plan.placement, completion)) {
    const auto kept = std::make_shared<const Plan<Family>>(plan);  // not on the stack, because plans are large
    run_placed(
        context, plan.placement, stream, completion, what,
        [kept, launch](Backend& backend, NativeStream on, Completion done) { launch(*kept, backend, on, done); });
  } else {  // nothing is copied
    run_placed(context, plan.placement, stream, completion, what,
               [&](Backend& backend, NativeStream on, Completion done) { launch(plan, backend, on, done); });
  }
}

// Runs work(backend, stream) as a blocking call after the context's own stream, and returns its value.
template <class Work>
auto run_now(Context& context, const Placement& placement, const Work& work) {
  const bool beside = runs_beside(context, placement);
  if (beside) context.device().await_order();
  prefetch_managed(context, placement, context.own_stream());
  return work(context.running(placement.space), beside ? nullptr : context.own_stream());
}

}  // namespace gpumem
