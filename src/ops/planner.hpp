// What a plan is made from beside the call: the devices, what the program chose, and who says where operands lie. The operations
// plan with memory, gpumem_explain() with what a line says of it.
#pragma once

#include "ops/call_record.hpp"

namespace gpumem {

class Planner {
 public:
  virtual ~Planner() = default;
  Planner(const Planner&) = delete;
  Planner& operator=(const Planner&) = delete;

  // Throws for memory that can't be accessed so; see look_up_range().
  virtual Operand look_up(const ByteRange& range, Access access) = 0;
  // Whether the elements of src and dst are known to be disjoint, though their ranges may overlap.
  virtual bool knows_disjoint() const noexcept { return false; }
  // And for memory of another CUDA device than the context's; for an _async call on a strict host context also for memory of another
  // side than that of the operands before.
  Operand look_up_here(const ByteRange& range, Access access);
  // The same for an index or offsets, which kernels read in pinned memory too.
  Operand look_up_index(const ByteRange& range);

  bool on_cuda() const noexcept { return device_.backend == ExecutionSpace::cuda; }
  // Of the context's device; on a host context the host's.
  const DeviceProps& device() const noexcept { return device_; }
  const DeviceProps& host() const noexcept { return host_; }
  const DeviceProps& props(ExecutionSpace space) const noexcept {
    return space == ExecutionSpace::cuda ? device_ : host_;
  }
  Override forced(gpumem_family family) const noexcept;
  // What was tuned for problems like this one.
  TunedRow tuned() const noexcept;
  virtual void chose(int32_t /*row*/, ExecutionSpace /*space*/) noexcept {}
  bool streams_host_data() const noexcept;

 protected:
  virtual const CallRecord& record() const noexcept = 0;

  Planner(Context& context, Completion completion) noexcept;
  // Of devices that need not be here, where the program has chosen nothing.
  Planner(const DeviceProps& device, const DeviceProps& host) noexcept;

 private:
  void require_one_side(const char* argument, const Operand& operand);

  const DeviceProps& device_;
  const DeviceProps& host_;
  const Context* context_;  // may be nullptr
  bool one_side_ = false;   // all operands have to lie on that of the first
  const char* first_argument_ = nullptr;
  gpumem_memory_kind first_kind_ = GPUMEM_MEMORY_PAGEABLE;
};

// Of a call: asks registry and driver, and notes it all as the thread's last operation.
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
};

// Of a part of a call whose operands were looked up before, by the context that works or by another one of its device.
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

// Of a line: no memory is touched.
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
