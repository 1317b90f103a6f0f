// The inputs of a plan other than the call: devices, the program's choices, and the memory of the operands. Operations
// look up real memory. gpumem_explain() takes the kinds of memory from an operation descriptor.
#pragma once

#include "ops/call_record.hpp"

namespace gpumem {

class Planner {
 public:
  virtual ~Planner() = default;
  Planner(const Planner&) = delete;
  Planner& operator=(const Planner&) = delete;

  // Throws if the memory does not permit the access. See look_up_range().
  virtual Operand look_up(const ByteRange& range, Access access) = 0;
  // Whether the elements of src and dst are known to be disjoint even if their ranges overlap.
  virtual bool knows_disjoint() const noexcept { return false; }
  // Throws also for memory of a CUDA device other than the context's. For an asynchronous call on a strict host
  // context, it throws too if one operand is in host memory and another in device memory.
  Operand look_up_here(const ByteRange& range, Access access);
  // The same for an index or offsets. Kernels can read them in pinned memory.
  Operand look_up_index(const ByteRange& range);

  bool on_cuda() const noexcept { return device_.backend == ExecutionSpace::cuda; }
  // On a host context, these are the host's properties.
  const DeviceProps& device() const noexcept { return device_; }
  const DeviceProps& host() const noexcept { return host_; }
  const DeviceProps& props(ExecutionSpace space) const noexcept {
    return space == ExecutionSpace::cuda ? device_ : host_;
  }
  Override forced(gpumem_family family) const noexcept;
  TunedRow tuned() const noexcept;
  virtual void chose(int32_t /*row*/, ExecutionSpace /*space*/) noexcept {}
  bool streams_host_data() const noexcept;

 protected:
  virtual const CallRecord& record() const noexcept = 0;

  Planner(Context& context, Completion completion) noexcept;
  // For devices that need not be present.
  Planner(const DeviceProps& device, const DeviceProps& host) noexcept;

 private:
  void require_one_side(const char* argument, const Operand& operand);

  const DeviceProps& device_;
  const DeviceProps& host_;
  const Context* context_;  // nullptr: no program has chosen anything
  bool one_side_ = false;   // all operands must be on the side of the first
  const char* first_argument_ = nullptr;
  gpumem_memory_kind first_kind_ = GPUMEM_MEMORY_PAGEABLE;
};

// For a call: asks the registry and the driver, and records the answers as the thread's last operation.
class CallPlanner : public Planner {
 public:
  template <class Call>
  CallPlanner(Context& context, const Call& call, Completion completion)
      : Planner(context, completion), context_(context), record_(note_call(call, completion)) {}

  Operand look_up(const ByteRange& range, Access access) override;
  void chose(int32_t row, ExecutionSpace space) noexcept override;

 protected:
  void note(const ByteRange& range, const Operand& operand) noexcept;

 private:
  const CallRecord& record() const noexcept override { return record_; }

  Context& context_;
  CallRecord& record_;
  Operand foreign_{};  // the last operand in device memory of another allocator
};

// For a part of a call whose operands were looked up before, by this context or another one of its device.
class PartPlanner final : public CallPlanner {
 public:
  template <class Call>
  PartPlanner(Context& context, const Call& call, Completion completion, const Operand& src, const Operand& dst)
      : CallPlanner(context, call, completion), src_(src), dst_(dst) {}

  Operand look_up(const ByteRange& range, Access access) override;
  bool knows_disjoint() const noexcept override { return true; }

 private:
  const Operand& src_;
  const Operand& dst_;
};

// For an operation descriptor. It touches no memory.
class LinePlanner : public Planner {
 public:
  LinePlanner(Context& context, const CallRecord& record) noexcept
      : Planner(context, record.completion), record_(record) {}
  LinePlanner(const DeviceProps& device, const DeviceProps& host, const CallRecord& record) noexcept
      : Planner(device, host), record_(record) {}

  Operand look_up(const ByteRange& range, Access access) override;

 private:
  const CallRecord& record() const noexcept override { return record_; }

  const CallRecord& record_;
};

}  // namespace gpumem
