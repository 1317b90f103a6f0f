#include "ops/planner.hpp"

#include "base/error.hpp"
#include "base/sentences.hpp"
#include "ops/call_work.hpp"
#include "ops/placement.hpp"
#include "ops/problem_line.hpp"
#include "ops/tuning.hpp"

namespace gpumem {

Planner::Planner(Context& context, Completion completion) noexcept
    : device_(context.device().props()),
      host_(context.host().props()),
      context_(&context),
      one_side_(context.strict_host() && completion == Completion::asynchronous) {}
Planner::Planner(const DeviceProps& device, const DeviceProps& host) noexcept
    : device_(device), host_(host), context_(nullptr) {}

Override Planner::forced(gpumem_family family) const noexcept {
  return context_ != nullptr ? context_->forced(family) : Override{};
}
TunedRow Planner::tuned() const noexcept {
  if (context_ == nullptr || context_->tuning().empty() || ScopedOverride::running()) return {};
  return context_->tuning().find(problem_class(record()));
}
bool Planner::streams_host_data() const noexcept { return context_ != nullptr && context_->streams_host_data(); }

Operand Planner::look_up_here(const ByteRange& range, Access access) {
  const Operand operand = look_up(range, access);
  require_same_device(device_, operand, range.argument);
  require_one_side(range.argument, operand);
  return operand;
}

Operand Planner::look_up_index(const ByteRange& range) {
  const Operand operand = look_up(range, Access::read);
  require_same_device(device_, operand, range.argument);
  if (operand.kind != GPUMEM_MEMORY_PINNED) require_one_side(range.argument, operand);
  return operand;
}

void Planner::require_one_side(const char* argument, const Operand& operand) {
  if (!one_side_) return;
  if (first_argument_ == nullptr) {
    first_argument_ = argument;
    first_kind_ = operand.kind;
  }
  Operand first;
  first.kind = first_kind_;
  if (operand.on_host() != first.on_host()) fail_on_two_sides(argument, operand, first_argument_, first);
}

// Allocators such as PyTorch's cut tensors from larger ranges, which the driver describes in 0.25 us.
Operand CallPlanner::look_up(const ByteRange& range, Access access) {
  Operand operand = foreign_;
  if (covers(foreign_, range)) {
    operand.first = range.p;
    operand.extent = range.bytes;
  } else {
    operand = look_up_range(context_, range.p, range.bytes, access, range.argument, range.spacing.gap);
    if (operand.kind == GPUMEM_MEMORY_DEVICE && !operand.ours) foreign_ = operand;
  }
  note(range, operand);
  return operand;
}

void CallPlanner::note(const ByteRange& range, const Operand& operand) noexcept {
  record_.note(
      {range.p, operand.kind, operand.device == device().ordinal ? kOwnDevice : operand.device, operand.mixed});
}

Operand PartPlanner::look_up(const ByteRange& range, Access access) {
  Operand operand = access == Access::read ? src_ : dst_;
  operand.first = range.p;
  operand.extent = range.bytes;
  note(range, operand);
  return operand;
}

void CallPlanner::chose(int32_t row, ExecutionSpace space) noexcept {
  record_.row = row;
  record_.space = space;
}

Operand LinePlanner::look_up(const ByteRange& range, Access) {
  const OperandInfo* seen = record_.find(range.p);
  if (seen == nullptr) {
    fail(GPUMEM_INVALID_ARGUMENT, "%s is missing; expected its kind of memory: pageable, pinned, device or managed",
         range.argument);
  }
  if (range.bytes > kLineOperandBytes) {
    fail(GPUMEM_OUT_OF_RANGE, "%s: %lld bytes leave the address space", range.argument, ll(range.bytes));
  }
  Operand operand;
  operand.kind = seen->kind;
  operand.mixed = seen->mixed;
  operand.first = range.p;
  operand.extent = range.bytes;
  if (!operand.on_host()) operand.device = seen->device == kOwnDevice ? device().ordinal : seen->device;
  require_host_memory(device(), operand, range.argument);
  return operand;
}

}  // namespace gpumem
