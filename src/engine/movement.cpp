#include <cstring>
#include <memory>

#include "engine/checked.hpp"
#include "engine/plan.hpp"
#include "engine/streams.hpp"

namespace gpumem {
namespace {

class CopyTask final : public HostTask {
 public:
  CopyTask(Backend& host, void* dst, const void* src, size_t bytes)
      : host_(host), dst_(dst), src_(src), bytes_(bytes) {}
  void run() noexcept override { host_.copy(nullptr, dst_, src_, bytes_, Until::complete); }

 private:
  Backend& host_;
  void* dst_;
  const void* src_;
  size_t bytes_;
};

class FillTask final : public HostTask {
 public:
  FillTask(Backend& host, const FillArgs& args) : host_(host), args_(args) {}
  void run() noexcept override { host_.fill(nullptr, args_, Until::complete); }

 private:
  Backend& host_;
  FillArgs args_;
};

// Host work of a CUDA context: now, behind the context's own stream, or in the order of a stream.
void run_beside(Context& context, std::unique_ptr<HostTask> task, NativeStream stream, Until until) {
  if (until == Until::complete) {
    context.device().await_order();
    task->run();
  } else {
    context.device().host_callback(stream, std::move(task));
  }
}

bool every_byte_equal(const unsigned char* pattern, int64_t bytes) noexcept {
  for (int64_t i = 1; i < bytes; ++i) {
    if (pattern[i] != pattern[0]) return false;
  }
  return true;
}

FillArgs fill_args(const Plan<FillFamily>& planned, const FillCall& call, const void* pattern) noexcept {
  FillArgs args{planned.decision.row, planned.decision.shape, call.dst, planned.problem.bytes, {}};
  for (int64_t at = 0; at < 16; at += call.pattern_bytes) {
    std::memcpy(args.word + at, pattern, static_cast<size_t>(call.pattern_bytes));
  }
  return args;
}

}  // namespace

void copy(Context& context, void* dst, const void* src, int64_t bytes, NativeStream stream, Until until) {
  if (bytes < 0) fail(GPUMEM_INVALID_ARGUMENT, "bytes is %lld; expected 0 or more", static_cast<long long>(bytes));
  if (bytes == 0) return;
  const Operand from = look_up_range(context, src, bytes, Access::read, "src");
  const Operand to = look_up_range(context, dst, bytes, Access::write, "dst");
  if (dst == src) return;
  require_disjoint({"dst", dst, bytes}, {"src", src, bytes});
  const auto size = static_cast<size_t>(bytes);
  Backend& device = context.device();
  if (!context.on_cuda()) return device.copy(stream, dst, src, size, until);

  const bool host_only = from.on_host() && to.on_host();
  const bool pageable = from.kind == GPUMEM_MEMORY_PAGEABLE || to.kind == GPUMEM_MEMORY_PAGEABLE;
  if (until == Until::complete || host_only || pageable)
    require_not_capturing(context, stream, "a copy of host memory");
  if (host_only) return run_beside(context, std::make_unique<CopyTask>(context.host(), dst, src, size), stream, until);
  if (from.mixed || to.mixed || (pageable && until == Until::enqueued)) {
    device.pageable_copy_async(stream, dst, src, size, from.on_host());
    if (until == Until::complete) device.synchronize(stream);
    return;
  }
  device.copy(stream, dst, src, size, until);
}

Plan<FillFamily> plan(Context& context, const FillCall& c, const void* pattern) {
  const int64_t e = c.pattern_bytes;
  if (e != 1 && e != 2 && e != 4 && e != 8 && e != 16) {
    fail(GPUMEM_INVALID_ARGUMENT, "pattern_bytes is %lld; expected 1, 2, 4, 8 or 16", static_cast<long long>(e));
  }
  if (c.count < 0) fail(GPUMEM_INVALID_ARGUMENT, "count is %lld; expected 0 or more", static_cast<long long>(c.count));
  Plan<FillFamily> plan;
  if (c.count == 0) {
    plan.empty = true;
    return plan;
  }
  const int64_t bytes = checked_mul(c.count, e, "count x pattern_bytes");
  const Operand dst = look_up_range(context, c.dst, bytes, Access::write, "dst");
  require_same_device(context, dst, "dst");
  plan.placement = place(context.on_cuda(), dst);
  const bool uniform = pattern != nullptr ? every_byte_equal(static_cast<const unsigned char*>(pattern), e) : e == 1;
  plan.problem = {plan.placement.runs, e, bytes, uniform};
  plan.decision = decide<FillFamily>(context, plan.problem);
  return plan;
}

void fill(Context& context, const FillCall& call, const void* pattern, NativeStream stream, Until until) {
  if (pattern == nullptr) fail(GPUMEM_INVALID_ARGUMENT, "pattern is NULL; expected pattern_bytes bytes of host memory");
  const Plan<FillFamily> planned = plan(context, call, pattern);
  if (planned.empty) return;
  const FillArgs args = fill_args(planned, call, pattern);
  const bool beside = context.on_cuda() && planned.placement.runs == Runs::host;
  if (until == Until::complete || beside) require_not_capturing(context, stream, "this fill");
  if (beside) return run_beside(context, std::make_unique<FillTask>(context.host(), args), stream, until);
  context.running(planned.placement.runs).fill(stream, args, until);
}

}  // namespace gpumem
