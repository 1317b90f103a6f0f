#include "ops/placement.hpp"

#include "base/error.hpp"

namespace gpumem {
namespace {

constexpr const char* kHostContext = "a host context runs everything on the host";

Placement place_one(const Operand& operand) noexcept {
  switch (static_cast<decltype(GPUMEM_MEMORY_PAGEABLE)>(operand.kind)) {
    case GPUMEM_MEMORY_DEVICE:
      return {ExecutionSpace::cuda, false, "the data is in device memory"};
    case GPUMEM_MEMORY_MANAGED:
      return {ExecutionSpace::cuda, false,
              "the data is in managed memory, which the host backend leaves to the device"};
    case GPUMEM_MEMORY_PINNED:
      return {ExecutionSpace::host, false,
              "the data is in pinned host memory, which the host reads faster than the device would"};
    case GPUMEM_MEMORY_PAGEABLE:
      break;
  }
  return {ExecutionSpace::host, false,
          "the data is in pageable host memory, which the host reads faster than the device would"};
}

Placement place_two(const Operand& src, const Operand& dst) noexcept {
  const bool dst_on_host = dst.on_host();
  const bool src_on_host = src.on_host();
  if (dst_on_host && src_on_host) return {ExecutionSpace::host, false, "both operands are in host memory"};
  if (!dst_on_host && !src_on_host) return {ExecutionSpace::cuda, false, "both operands are in device memory"};
  if (dst_on_host) return {ExecutionSpace::host, true, "dst is in host memory; src is copied to the host first"};
  return {ExecutionSpace::cuda, true, "dst is in device memory; src is copied to the device first"};
}

}  // namespace

void Placement::uses(const Operand& operand) noexcept {
  if (space != ExecutionSpace::cuda || operand.kind != GPUMEM_MEMORY_MANAGED || operand.extent == 0) return;
  managed[static_cast<size_t>(managed_ranges++)] = {operand.first, operand.extent, false};
}

void Placement::overwrites(const void* p) noexcept {
  for (ManagedRange& range : managed) {
    if (range.p == p) range.overwritten = true;
  }
}

Placement place(bool on_cuda, const Operand& operand) noexcept {
  if (!on_cuda) return {ExecutionSpace::host, false, kHostContext};
  Placement placement = place_one(operand);
  placement.uses(operand);
  return placement;
}

Placement place_streamed(const Operand& x) noexcept {
  Placement placement{ExecutionSpace::cuda, false,
                      "the data is in host memory and streams through the device, as the context's option asks"};
  placement.host_side = x.host_side();
  placement.streamed = true;
  return placement;
}

Placement place_beside_x(bool on_cuda, const Operand& x, const Operand& y) noexcept {
  Placement placement = place(on_cuda, x);
  if (on_cuda) placement.uses(y);
  if (!on_cuda || x.on_host() == y.on_host()) return placement;
  placement.stage_src = true;
  placement.host_side = y.host_side();
  placement.reason = x.on_host() ? "x is in host memory; y is copied to the host first"
                                 : "x is in device memory; y is copied to the device first";
  return placement;
}

Placement place(bool on_cuda, const Operand& src, const Operand& dst) noexcept {
  if (!on_cuda) return {ExecutionSpace::host, false, kHostContext};
  Placement placement = place_two(src, dst);
  placement.uses(src);
  placement.uses(dst);
  return placement;
}

Placement place(bool on_cuda, const Operand& src, const Operand& dst, Completion completion) {
  Placement placement = place(on_cuda, src, dst);
  placement.host_side = src.host_side();
  if (placement.stage_src && completion == Completion::asynchronous) fail_on_two_sides("src", src, "dst", dst);
  return placement;
}

Placement place_across(bool on_cuda, const Operand& src, const Operand& dst) noexcept {
  Placement placement = place(on_cuda, src, dst);
  if (!placement.stage_src) return placement;
  placement.host_side = (dst.on_host() ? dst : src).host_side();
  if (!dst.on_host()) {
    placement.reason =
        "dst is in device memory; src is copied there in pieces, while the device works on the piece before";
    return placement;
  }
  placement.space = ExecutionSpace::cuda;
  placement.uses(src);
  placement.stage_src = false;
  placement.bring_dst = true;
  placement.reason =
      "src is in device memory, so the device does the work; dst is copied to the host in pieces meanwhile";
  return placement;
}

Placement place_beside_output(bool on_cuda, const Operand& output, bool staged) noexcept {
  Placement placement = place(on_cuda, output);
  if (!staged) return placement;
  placement.stage_src = true;
  placement.reason = output.on_host()
                         ? "the output is in host memory; operands on the device are copied to the host first"
                         : "the output is in device memory; operands on the host are copied to the device first";
  return placement;
}

bool read_elsewhere(ExecutionSpace space, const Operand& index, Completion completion) noexcept {
  if (space == ExecutionSpace::host) return !index.on_host();
  return completion == Completion::blocking ? index.on_host() : index.kind == GPUMEM_MEMORY_PAGEABLE;
}

void place_index(Placement& placement, bool on_cuda, const char* argument, const Operand& index, const char* beside,
                 Completion completion) {
  placement.stage_index = on_cuda && read_elsewhere(placement.space, index, completion);
  placement.index_side = index.host_side();
  if (!placement.stage_index) return placement.uses(index);
  if (completion == Completion::blocking) return;
  fail(GPUMEM_UNSUPPORTED, "%s is %s memory, which the work on %s (%s) can't read; expected memory of that side",
       argument, kind_name(index.kind), beside,
       placement.space == ExecutionSpace::cuda ? "on the device" : "on the host");
}

void fail_on_two_sides(const char* a_name, const Operand& a, const char* b_name, const Operand& b) {
  fail(GPUMEM_UNSUPPORTED,
       "%s is %s memory and %s is %s memory; expected both in host memory or both on the device's side", a_name,
       kind_name(a.kind), b_name, kind_name(b.kind));
}

bool on_another_device(int32_t own, const Operand& operand) noexcept {
  return operand.kind == GPUMEM_MEMORY_DEVICE && operand.device != GPUMEM_DEVICE_HOST && operand.device != own;
}

Placement place_copy(bool on_cuda, int32_t own, const Operand& src, const Operand& dst) noexcept {
  const Placement placement = place(on_cuda, src, dst);
  const bool devices = on_cuda && (on_another_device(own, src) || on_another_device(own, dst));
  if (!devices && !placement.stage_src) return placement;
  Placement across{ExecutionSpace::cuda, false, "one operand is in host memory, the other in device memory"};
  if (devices) across.reason = "one operand is on another device";
  across.across = src.on_host() || dst.on_host() ? Across::link : Across::devices;
  if (across.across == Across::link) across.host_side = (dst.on_host() ? dst : src).host_side();
  return across;
}

}  // namespace gpumem
