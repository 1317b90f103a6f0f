// Running an operation where its plan says: on the stream it was given, or on the host beside a CUDA device in that stream's
// order.
#pragma once

#include <exception>
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

// Whether work runs on the host beside a CUDA device.
inline bool runs_beside(const Context& context, const Placement& placement) noexcept {
  return context.on_cuda() && placement.space == ExecutionSpace::host;
}

// Whether the host does it after the call has returned, in the order of a device's stream.
inline bool runs_later(const Context& context, const Placement& placement, Completion completion) noexcept {
  return runs_beside(context, placement) && completion == Completion::asynchronous;
}

// what: the operation as a sentence names it, "this fill". Completion::blocking is for the context's own stream. Work that runs
// later is copied.
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

// The same, of a family that is only launched.
template <class Family>
void launch_placed(Context& context, const Plan<Family>& plan, NativeStream stream, Completion completion,
                   const char* what) {
  const auto launch = [](const Plan<Family>& of, Backend& backend, NativeStream on, Completion done) {
    backend.launch(on, Work<Family>{of.params, of.selection}, done);
  };
  if (runs_later(context, plan.placement, completion)) {
    run_placed(context, plan.placement, stream, completion, what,
               [plan, launch](Backend& backend, NativeStream on, Completion done) { launch(plan, backend, on, done); });
  } else {  // nothing is copied
    run_placed(context, plan.placement, stream, completion, what,
               [&](Backend& backend, NativeStream on, Completion done) { launch(plan, backend, on, done); });
  }
}

// Work in the plain form, behind the context's own stream: work(backend, stream), and its value.
template <class Work>
auto run_now(Context& context, const Placement& placement, const Work& work) {
  const bool beside = runs_beside(context, placement);
  if (beside) context.device().await_order();
  prefetch_managed(context, placement, context.own_stream());
  return work(context.running(placement.space), beside ? nullptr : context.own_stream());
}

}  // namespace gpumem
