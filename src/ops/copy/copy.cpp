#include "base/checked.hpp"
#include "base/sentences.hpp"
#include "ops/copy/ring_copy.hpp"
#include "ops/placed.hpp"
#include "ops/plan.hpp"
#include "ops/staging.hpp"

namespace gpumem {
namespace {

void require_extent(const char* name, int64_t value) {
  if (value < 0) fail(GPUMEM_INVALID_ARGUMENT, "%s is %lld; expected 0 or more", name, ll(value));
}

// Names of one side's arguments.
struct SideNames {
  const char* pitch;
  const char* slice;
  const char* bytes;
};
constexpr SideNames kDst{"dst_pitch_bytes", "dst_slice_bytes", "bytes of dst"};
constexpr SideNames kSrc{"src_pitch_bytes", "src_slice_bytes", "bytes of src"};

// Bytes from the first row's first to the last row's last.
int64_t extent_bytes(const CopyParams& c, int64_t pitch, int64_t slice, const SideNames& names) {
  int64_t bytes = c.row_bytes;
  if (c.rows > 1) {
    if (pitch < c.row_bytes) {
      fail(GPUMEM_INVALID_ARGUMENT, "%s is %lld; expected at least row_bytes = %lld", names.pitch, ll(pitch),
           ll(c.row_bytes));
    }
    bytes = checked_add(checked_mul(c.rows - 1, pitch, names.bytes), c.row_bytes, names.bytes);
  }
  if (c.slices == 1) return bytes;
  if (slice < bytes) {
    fail(GPUMEM_INVALID_ARGUMENT, "%s is %lld; expected at least the %lld bytes of a slice's rows", names.slice,
         ll(slice), ll(bytes));
  }
  return checked_add(checked_mul(c.slices - 1, slice, names.bytes), bytes, names.bytes);
}

int64_t gap_in(const CopyParams& c, int64_t pitch, int64_t slice) noexcept {
  return gap_of(c.row_bytes, {{c.rows, pitch}, {c.slices, slice}}, 1);
}

bool same_rows(const CopyParams& b) noexcept {
  return b.dst == b.src && b.dst_pitch == b.src_pitch && b.dst_slice == b.src_slice;
}

// Whether the two sides are blocks of columns of one matrix that share no column.
bool interleaved(const CopyParams& b) noexcept {
  const bool whole_rows = b.slices == 1 || (b.dst_slice % b.dst_pitch == 0 && b.src_slice % b.src_pitch == 0);
  return b.dst_pitch == b.src_pitch && whole_rows &&
         disjoint_columns({b.dst, b.row_bytes}, {b.src, b.row_bytes}, b.dst_pitch);
}

// Copies that no variant serves are the driver's, whatever was forced.
Decision driver_decision(Context& context, const CopyParams& params) {
  return select<CopyFamily>(context.device().props(), params, {driver_variant(), ChosenBy::table}, {});
}

// Between host and device, or between two devices.
void copy_by_driver(Context& context, const CopyPlan& planned, NativeStream stream, Until until) {
  Backend& device = context.device();
  const HostSide side = planned.placement.host_side;
  const Runs to = planned.from_host ? Runs::cuda : Runs::host;
  if (until == Until::complete || side != HostSide::locked) {
    require_not_capturing(context, stream, "a copy of host memory");
  }
  if (until == Until::enqueued) {
    if (side != HostSide::locked) return enqueue_through_rings(context, stream, planned.params, to);
    return device.copy(stream, planned.params, planned.decision, until);
  }
  // Earlier work may still be writing host memory, which this may read immediately.
  if (side != HostSide::locked && planned.from_host) device.await_order();
  transfer_rows(context, stream, planned.params, side, to, until);
}

}  // namespace

CopyPlan plan(Context& context, const CopyParams& c) {
  require_extent(c.rank == 1 ? "bytes" : "row_bytes", c.row_bytes);
  require_extent("rows", c.rows);
  require_extent("slices", c.slices);
  CopyPlan plan;
  plan.empty = c.row_bytes == 0 || c.rows == 0 || c.slices == 0;
  if (plan.empty) return plan;
  const int64_t src_bytes = extent_bytes(c, c.src_pitch, c.src_slice, kSrc);
  const int64_t dst_bytes = extent_bytes(c, c.dst_pitch, c.dst_slice, kDst);
  const Operand src =
      look_up_range(context, c.src, src_bytes, Access::read, "src", gap_in(c, c.src_pitch, c.src_slice));
  const Operand dst =
      look_up_range(context, c.dst, dst_bytes, Access::write, "dst", gap_in(c, c.dst_pitch, c.dst_slice));
  CopyParams& params = plan.params = merged(c);
  plan.empty = same_rows(params);
  if (plan.empty) return plan;
  if (!interleaved(params)) require_disjoint({"dst", c.dst, dst_bytes}, {"src", c.src, src_bytes});
  plan.placement = place_copy(context.on_cuda(), context.device().props().ordinal, src, dst);
  params.row_by_row = on_another_device(context.device().props().ordinal, src) ||
                      on_another_device(context.device().props().ordinal, dst);
  if (params.one_range()) plan.placement.overwrites(c.dst);
  plan.from_host = src.on_host();
  params.managed = src.kind == GPUMEM_MEMORY_MANAGED || dst.kind == GPUMEM_MEMORY_MANAGED;
  plan.decision = plan.placement.by_driver ? driver_decision(context, params)
                                           : decide<CopyFamily>(context, plan.placement.runs, params);
  return plan;
}

void copy(Context& context, const CopyParams& call, NativeStream stream, Until until) {
  const CopyPlan planned = plan(context, call);
  if (planned.empty) return;
  if (planned.placement.by_driver) return copy_by_driver(context, planned, stream, until);
  const Runs runs = planned.placement.runs;
  run_placed(context, planned.placement, stream, until, runs == Runs::host ? "a copy of host memory" : "a copy",
             [params = planned.params, choice = Choice(planned.decision)](
                 Backend& backend, NativeStream on, Until done) { backend.copy(on, params, choice, done); });
}

}  // namespace gpumem
