#include "base/checked.hpp"
#include "base/sentences.hpp"
#include "ops/copy/ring_copy.hpp"
#include "ops/plan.hpp"

namespace gpumem {
namespace {

struct SideNames {
  const char* pitch;
  const char* slice;
  const char* bytes;
};
constexpr SideNames kDst{"dst_pitch_bytes", "dst_slice_bytes", "bytes of dst"};
constexpr SideNames kSrc{"src_pitch_bytes", "src_slice_bytes", "bytes of src"};

int64_t extent_bytes(const CopyParams& c, int64_t pitch, int64_t slice, const SideNames& names) {
  int64_t bytes = c.row_bytes;
  if (c.rows > 1) {
    require_at_least(names.pitch, pitch, "row_bytes", c.row_bytes);
    bytes = checked_extent(c.rows, pitch, c.row_bytes, names.bytes);
  }
  if (c.slices == 1) return bytes;
  if (slice < bytes) {
    fail(GPUMEM_INVALID_ARGUMENT, "%s is %lld; expected at least the %lld bytes of a slice's rows", names.slice,
         ll(slice), ll(bytes));
  }
  return checked_extent(c.slices, slice, bytes, names.bytes);
}

Spacing spacing_in(const CopyParams& c, int64_t pitch, int64_t slice) noexcept {
  return spacing_of(c.row_bytes, {{c.rows, pitch}, {c.slices, slice}}, 1);
}

bool same_rows(const CopyParams& b) noexcept {
  return b.dst == b.src && b.dst_pitch == b.src_pitch && b.dst_slice == b.src_slice;
}

// An override for copies within one memory does not apply across PCIe.
Override forced_for(const Planner& planner, const CopyParams& params) noexcept {
  const Override forced = planner.forced(CopyFamily::id);
  if (params.across == Across::nothing || forced.row < 0) return forced;
  return forced.row == driver_variant() || forced.row == rings_variant() ? forced : Override{};
}

// Opens memory of other devices to this one if the driver can, so that it copies directly (H200: 372 GB/s; through the
// host 38). A graph can't contain a copy between devices without such access.
void open_sides(Context& context, NativeStream stream, CopyParams& p) {
  if (p.reached) return;
  Backend& device = context.device();
  const auto opened = [&](int32_t at, const void* side, int64_t bytes) {
    return at == device.props().ordinal ||
           (device.reaches_device(at) && device.reaches(side, static_cast<size_t>(bytes)));
  };
  p.row_by_row = !(opened(p.dst_device, p.dst, p.dst_extent()) && opened(p.src_device, p.src, p.src_extent()));
  if (p.row_by_row) require_not_capturing(context, stream, "a copy of memory that this device can't access");
}

void copy_across(Context& context, const Plan<CopyFamily>& planned, NativeStream stream, Completion completion) {
  const CopyParams& p = planned.params;
  const bool locked = p.host_side == HostSide::locked;
  if (completion == Completion::blocking || !locked) require_not_capturing(context, stream, "a copy of host memory");
  // Host memory may be read at once, but earlier enqueued work may still be writing it.
  const bool looks_again = planned.selection.row == rings_variant() && reads_early(p);
  if (completion == Completion::blocking && !locked && p.to_device && !looks_again) context.device().await_order();
  const ExecutionSpace to = p.to_device ? ExecutionSpace::cuda : ExecutionSpace::host;
  if (completion == Completion::asynchronous && planned.selection.row == rings_variant()) {
    return enqueue_through_rings(context, stream, p, to);
  }
  move_across(context, stream, p, planned.selection, completion);
}

}  // namespace

Plan<CopyFamily> plan(Planner& planner, const CopyParams& c, Completion completion) {
  require_at_least(c.rank == 1 ? "bytes" : "row_bytes", c.row_bytes, 0);
  require_at_least("rows", c.rows, 0);
  require_at_least("slices", c.slices, 0);
  Plan<CopyFamily> plan;
  plan.empty = c.row_bytes == 0 || c.rows == 0 || c.slices == 0;
  if (plan.empty) return plan;
  const int64_t src_bytes = extent_bytes(c, c.src_pitch, c.src_slice, kSrc);
  const int64_t dst_bytes = extent_bytes(c, c.dst_pitch, c.dst_slice, kDst);
  const ByteRange src_range{"src", c.src, src_bytes, spacing_in(c, c.src_pitch, c.src_slice)};
  const ByteRange dst_range{"dst", c.dst, dst_bytes, spacing_in(c, c.dst_pitch, c.dst_slice)};
  const Operand src = planner.look_up(src_range, Access::read);
  const Operand dst = planner.look_up(dst_range, Access::write);
  CopyParams& params = plan.params = merged(c);
  plan.empty = same_rows(params);
  if (plan.empty) return plan;
  require_disjoint(dst_range, src_range);
  const int32_t own = planner.device().ordinal;
  plan.placement = place_copy(planner.on_cuda(), own, src, dst);
  params.dst_device = on_another_device(own, dst) ? dst.device : own;
  params.src_device = on_another_device(own, src) ? src.device : own;
  if (params.one_range()) plan.placement.overwrites(c.dst);
  params.managed = src.kind == GPUMEM_MEMORY_MANAGED || dst.kind == GPUMEM_MEMORY_MANAGED;
  params.across = plan.placement.across;
  params.host_side = plan.placement.host_side;
  params.to_device = src.on_host();
  params.enqueued = completion == Completion::asynchronous;
  params.host_threads = planner.host().multiprocessors;
  plan.selection = decide<CopyFamily>(planner, plan.placement.space, params, forced_for(planner, params));
  return plan;
}

void copy(Context& context, const CopyParams& call, NativeStream stream, Completion completion) {
  CallPlanner planner(context, call, completion);
  Plan<CopyFamily> planned = plan(planner, call, completion);
  if (planned.empty) return;
  open_sides(context, stream, planned.params);
  if (planned.params.across != Across::nothing) return copy_across(context, planned, stream, completion);
  const bool on_host = planned.placement.space == ExecutionSpace::host;
  launch_placed(context, planned, stream, completion, on_host ? "a copy of host memory" : "a copy");
}

}  // namespace gpumem
