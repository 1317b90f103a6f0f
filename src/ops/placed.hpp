// Running an operation where its plan says: on the stream it was given, or on the host beside a CUDA device in that stream's
// order.
#pragma once

#include <exception>
#include <functional>
#include <string>

#include "context/context.hpp"
#include "context/streams.hpp"
#include "ops/plan.hpp"

namespace gpumem {

// A task of the host that calls work(backend, stream, until). what: as the log names it. *status, if there is one, tells where
// memory has run out.
template <class Work>
HostTask beside_task(Context& context, std::string what, Work work, gpumem_status* status = nullptr) {
  return [&context, what = std::move(what), work = std::move(work), status] {
    try {
      work(context.host(), nullptr, Completion::blocking);
    } catch (const std::exception& error) {  // of memory
      if (status != nullptr) *status = GPUMEM_OUT_OF_MEMORY;
      context.log.write(GPUMEM_LOG_ERROR, "%s failed: %s", what.c_str(), error.what());
    }
  };
}

// what: the operation as a sentence names it, "this fill". Completion::blocking is for the context's own stream.
template <class Work>
void run_placed(Context& context, const Placement& placement, NativeStream stream, Completion completion,
                const char* what, Work work) {
  const bool beside = context.on_cuda() && placement.space == ExecutionSpace::host;
  if (completion == Completion::blocking || beside) require_not_capturing(context, stream, what);
  if (!beside) {
    prefetch_managed(context, placement, stream);
    work(context.running(placement.space), stream, completion);
  } else if (completion == Completion::blocking) {
    context.device().await_order();
    work(context.host(), nullptr, completion);
  } else {
    const std::string enqueued = std::string(what) + " that was enqueued";
    context.device().host_callback(stream, beside_task(context, enqueued, std::move(work)));
  }
}

// The same, of a family that is only launched: copied where the host does it later.
template <class Family>
void launch_placed(Context& context, const Plan<Family>& plan, NativeStream stream, Completion completion,
                   const char* what) {
  const bool later =
      context.on_cuda() && plan.placement.space == ExecutionSpace::host && completion == Completion::asynchronous;
  const auto launch = [](const auto& of) {
    return [of](Backend& backend, NativeStream on, Completion done) {
      const Plan<Family>& planned = of;
      backend.launch(on, Work<Family>{planned.params, planned.selection}, done);
    };
  };
  later ? run_placed(context, plan.placement, stream, completion, what, launch(plan))
        : run_placed(context, plan.placement, stream, completion, what, launch(std::cref(plan)));
}

// Work in the plain form, behind the context's own stream: work(backend, stream), and its value.
template <class Work>
auto run_now(Context& context, const Placement& placement, const Work& work) {
  const bool beside = context.on_cuda() && placement.space == ExecutionSpace::host;
  if (beside) context.device().await_order();
  prefetch_managed(context, placement, context.own_stream());
  return work(context.running(placement.space), beside ? nullptr : context.own_stream());
}

}  // namespace gpumem
