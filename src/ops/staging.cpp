#include "ops/staging.hpp"

#include "ops/copy/ring_copy.hpp"

namespace gpumem {
namespace {

// Host side of a staged operand: the operand itself, or the library's own pages.
HostSide staged_side(ExecutionSpace to, HostSide of_src) noexcept {
  return to == ExecutionSpace::cuda ? of_src : HostSide::pageable;
}

}  // namespace

void transfer(Context& context, void* dst, const void* src, int64_t bytes, HostSide host_side, ExecutionSpace to) {
  transfer_rows(context, context.own_stream(), one_range(dst, src, bytes), host_side, to, Completion::asynchronous);
}

void transfer_rows(Context& context, NativeStream stream, const CopyParams& block, HostSide host_side,
                   ExecutionSpace to, Completion completion) {
  CopyParams rows = merged(block);
  rows.across = Across::link;
  rows.host_side = host_side;
  rows.to_device = to == ExecutionSpace::cuda;
  rows.host_threads = context.host().props().multiprocessors;
  move_across(context, stream, rows, select<CopyFamily>(context.device().props(), rows, {}, {}), completion);
}

void stage(Context& context, std::optional<Workspace>& staged, ExecutionSpace space, const void* src, int64_t bytes,
           HostSide host_side) {
  const bool to_device = space == ExecutionSpace::cuda;
  // Earlier work may still be writing host memory, which this may read immediately.
  if (to_device) context.device().await_order();
  staged.emplace(context, space, bytes);
  transfer(context, staged->get(), src, bytes, staged_side(space, host_side), space);
  if (!to_device) context.device().synchronize(context.own_stream());
}

void stage_rows(Context& context, std::optional<Workspace>& staged, ExecutionSpace space, const void* src,
                int64_t src_pitch, int64_t row_bytes, int64_t rows, HostSide host_side) {
  staged.emplace(context, space, row_bytes * rows);
  if (space == ExecutionSpace::cuda) context.device().await_order();  // as stage()
  transfer_rows(context, context.own_stream(),
                {.dst = static_cast<char*>(staged->get()),
                 .dst_pitch = row_bytes,
                 .src = static_cast<const char*>(src),
                 .src_pitch = src_pitch,
                 .row_bytes = row_bytes,
                 .rows = rows},
                staged_side(space, host_side), space, Completion::blocking);
}

void make_room(Context& context, std::optional<Workspace>& room, ExecutionSpace space, const Output& output) {
  if (!context.on_cuda() || output.where.on_host() == (space == ExecutionSpace::host)) return;
  room.emplace(context, space, output.bytes);
}

void bring_back(Context& context, const Workspace& room, const Output& output) {
  const ExecutionSpace to = output.where.on_host() ? ExecutionSpace::host : ExecutionSpace::cuda;
  const HostSide side = to == ExecutionSpace::host ? output.where.host_side() : HostSide::pageable;
  transfer(context, output.p, room.get(), output.bytes, side, to);
  context.device().synchronize(context.own_stream());
}

}  // namespace gpumem
