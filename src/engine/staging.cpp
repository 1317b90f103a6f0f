#include "engine/staging.hpp"

namespace gpumem {

void transfer(Context& context, void* dst, const void* src, int64_t bytes, bool mixed, Runs to) {
  const NativeStream stream = context.own_stream();
  const auto size = static_cast<size_t>(bytes);
  if (mixed) return context.device().pageable_copy_async(stream, dst, src, size, to == Runs::cuda);
  context.device().copy(stream, dst, src, size, Until::enqueued);
}

int32_t driver_variant() noexcept { return find_variant(family_names(CopyFamily::id), "driver"); }

bool through_chunks(const Placement& placement, const CopyBlock& block) noexcept {
  return placement.mixed || (placement.pageable && !block.one_range());
}

void transfer_rows(Context& context, NativeStream stream, const CopyBlock& block, const Placement& placement, Runs to) {
  Backend& device = context.device();
  const CopyBlock rows = merged(block);
  if (through_chunks(placement, rows)) return device.pageable_rows_async(stream, rows, to == Runs::cuda);
  device.copy_block(stream, {driver_variant(), {}, rows}, Until::enqueued);
}

void stage(Context& context, std::optional<Scratch>& staged, Runs runs, const void* src, int64_t bytes, bool mixed) {
  const bool to_device = runs == Runs::cuda;
  // What was enqueued before may still be writing host memory, which the driver may read at once.
  if (to_device) context.device().await_order();
  staged.emplace(context.running(runs), to_device ? GPUMEM_MEMORY_DEVICE : GPUMEM_MEMORY_PAGEABLE,
                 static_cast<size_t>(bytes));
  transfer(context, staged->get(), src, bytes, mixed, runs);
  if (!to_device) context.device().synchronize(context.own_stream());
}

// The driver takes no memory that is registered in part: the host gathers such rows first.
void stage_rows(Context& context, Runs to, const Copy2dArgs& args, bool mixed) {
  if (to == Runs::cuda) context.device().await_order();  // as stage()
  if (!mixed) return context.device().copy_2d(context.own_stream(), args, Until::complete);
  const size_t bytes = args.row_bytes * args.rows;
  const Scratch gathered(context.host(), GPUMEM_MEMORY_PAGEABLE, bytes);
  const Copy2dArgs gather{gathered.get(), args.row_bytes, args.src, args.src_pitch, args.row_bytes, args.rows};
  context.host().copy_2d(nullptr, gather, Until::complete);
  const Copy2dArgs place{args.dst, args.dst_pitch, gathered.get(), args.row_bytes, args.row_bytes, args.rows};
  context.device().copy_2d(context.own_stream(), place, Until::complete);
}

void make_room(Context& context, std::optional<Scratch>& room, Runs runs, const Output& output) {
  if (!context.on_cuda() || output.where.on_host() == (runs == Runs::host)) return;
  room.emplace(context.running(runs), runs == Runs::cuda ? GPUMEM_MEMORY_DEVICE : GPUMEM_MEMORY_PAGEABLE,
               static_cast<size_t>(output.bytes));
}

void bring_back(Context& context, const Scratch& room, const Output& output) {
  const Runs to = output.where.on_host() ? Runs::host : Runs::cuda;
  transfer(context, output.p, room.get(), output.bytes, output.where.mixed, to);
  context.device().synchronize(context.own_stream());
}

}  // namespace gpumem
