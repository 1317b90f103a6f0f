// Scalar reductions that are only enqueued.
#include <memory>
#include <new>

#include "context/streams.hpp"
#include "ops/bounce_buffers.hpp"
#include "ops/managed_prefetch.hpp"
#include "ops/reduce/reduce.hpp"

namespace gpumem {
namespace {

// A reduction on the host in the order of a stream of a CUDA context.
class ReduceTask final : public HostTask {
 public:
  ReduceTask(Context& context, const ReduceParams& params, const Choice& choice) noexcept
      : context_(context), params_(params), choice_(choice) {}

  void run() noexcept override {
    try {
      context_.host().reduce_async(nullptr, params_, choice_);
    } catch (const std::exception& error) {  // of memory, for the pieces' values
      if (params_.status != nullptr) *params_.status = GPUMEM_OUT_OF_MEMORY;
      context_.log.write(GPUMEM_LOG_ERROR, "an enqueued reduction failed: %s", error.what());
    }
  }

 private:
  Context& context_;
  ReduceParams params_;
  Choice choice_;
};

void enqueue_beside(Context& context, const Plan<ReduceFamily>& planned, const Output (&outputs)[3],
                    NativeStream stream) {
  require_not_capturing(context, stream, "a reduction of host memory");
  BounceBuffers buffers;
  ReduceParams params = planned.params;
  params.result = buffers.room_for(outputs[0]);
  params.index = static_cast<int64_t*>(buffers.room_for(outputs[1]));
  params.status = static_cast<gpumem_status*>(buffers.room_for(outputs[2]));
  enqueue_on_host(context, stream, std::make_unique<ReduceTask>(context, params, planned.decision), std::move(buffers),
                  true);
}

}  // namespace

void reduce_async(Context& context, const ReduceParams& call, NativeStream stream) {
  CallPlanner planner(context, call, Until::enqueued);
  const Plan<ReduceFamily> planned = plan(planner, call, Until::enqueued);
  Output outputs[] = {result_of(call.op, call.result, 8), index_of(call.op, call.index, 8), status_of(call.status)};
  check_outputs(context, outputs, inputs_of(call).all(), Until::enqueued);
  if (planned.empty) return zero(context, outputs, stream, Until::enqueued);
  if (context.on_cuda() && planned.placement.runs == Runs::host) {
    return enqueue_beside(context, planned, outputs, stream);
  }
  prefetch_managed(context, planned.placement, stream);
  context.running(planned.placement.runs).reduce_async(stream, planned.params, planned.decision);
}

}  // namespace gpumem
