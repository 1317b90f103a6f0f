#include "ops/staging.hpp"

#include "ops/copy/ring_copy.hpp"

namespace gpumem {
namespace {

// The host's side of a staged operand: the operand itself, or pages of the library's own beside the work.
HostSide staged_side(Runs to, HostSide of_src) noexcept { return to == Runs::cuda ? of_src : HostSide::pageable; }

}  // namespace

void transfer(Context& context, void* dst, const void* src, int64_t bytes, HostSide host_side, Runs to) {
  transfer_rows(context, context.own_stream(), one_range(dst, src, bytes), host_side, to, Until::enqueued);
}

void transfer_rows(Context& context, NativeStream stream, const CopyParams& block, HostSide host_side, Runs to,
                   Until until) {
  CopyParams rows = merged(block);
  rows.across = Across::link;
  rows.host_side = host_side;
  rows.to_device = to == Runs::cuda;
  rows.host_threads = context.host().props().multiprocessors;
  move_across(context, stream, rows, select<CopyFamily>(context.device().props(), rows, {}, {}), until);
}

void allocate_beside(Context& context, std::optional<Scratch>& room, Runs runs, int64_t bytes) {
  room.emplace(context.running(runs), runs == Runs::cuda ? GPUMEM_MEMORY_DEVICE : GPUMEM_MEMORY_PAGEABLE,
               static_cast<size_t>(bytes));
}

void stage(Context& context, std::optional<Scratch>& staged, Runs runs, const void* src, int64_t bytes,
           HostSide host_side) {
  const bool to_device = runs == Runs::cuda;
  // Earlier work may still be writing host memory, which this may read immediately.
  if (to_device) context.device().await_order();
  allocate_beside(context, staged, runs, bytes);
  transfer(context, staged->get(), src, bytes, staged_side(runs, host_side), runs);
  if (!to_device) context.device().synchronize(context.own_stream());
}

void stage_rows(Context& context, std::optional<Scratch>& staged, Runs runs, const void* src, int64_t src_pitch,
                int64_t row_bytes, int64_t rows, HostSide host_side) {
  allocate_beside(context, staged, runs, row_bytes * rows);
  if (runs == Runs::cuda) context.device().await_order();  // as stage()
  transfer_rows(context, context.own_stream(),
                {.dst = static_cast<char*>(staged->get()),
                 .dst_pitch = row_bytes,
                 .src = static_cast<const char*>(src),
                 .src_pitch = src_pitch,
                 .row_bytes = row_bytes,
                 .rows = rows},
                staged_side(runs, host_side), runs, Until::complete);
}

void make_room(Context& context, std::optional<Scratch>& room, Runs runs, const Output& output) {
  if (!context.on_cuda() || output.where.on_host() == (runs == Runs::host)) return;
  allocate_beside(context, room, runs, output.bytes);
}

void bring_back(Context& context, const Scratch& room, const Output& output) {
  const Runs to = output.where.on_host() ? Runs::host : Runs::cuda;
  const HostSide side = to == Runs::host ? output.where.host_side() : HostSide::pageable;
  transfer(context, output.p, room.get(), output.bytes, side, to);
  context.device().synchronize(context.own_stream());
}

}  // namespace gpumem
