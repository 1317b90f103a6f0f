// Scalar reductions that are only enqueued.
#include "context/streams.hpp"
#include "ops/bounce_buffers.hpp"
#include "ops/managed_prefetch.hpp"
#include "ops/reduce/reduce.hpp"

namespace gpumem {
namespace {

void enqueue_beside(Context& context, const Plan<ReduceFamily>& planned, const Output (&outputs)[3],
                    NativeStream stream) {
  require_not_capturing(context, stream, "a reduction of host memory");
  BounceBuffers buffers;
  ReduceParams params = planned.params;
  params.result = buffers.room_for(outputs[0]);
  params.index = static_cast<int64_t*>(buffers.room_for(outputs[1]));
  params.status = static_cast<gpumem_status*>(buffers.room_for(outputs[2]));
  const auto work = [params, choice = Choice(planned.decision)](Backend& host, NativeStream now, Until) {
    host.reduce_async(now, params, choice);
  };
  enqueue_on_host(context, stream, "an enqueued reduction", work, params.status, std::move(buffers), true);
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
