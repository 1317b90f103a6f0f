#include <cstring>

#include "engine/checked.hpp"
#include "engine/placed.hpp"
#include "engine/plan.hpp"

namespace gpumem {
namespace {

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
  if (host_only) {
    return run_beside(context, stream, until, "a copy",
                      [=](Backend& host, NativeStream now, Until done) { host.copy(now, dst, src, size, done); });
  }
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
  run_placed(context, planned.placement.runs, stream, until, "this fill",
             [args](Backend& backend, NativeStream on, Until done) { backend.fill(on, args, done); });
}

}  // namespace gpumem
