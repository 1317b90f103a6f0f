// Operands that lie elsewhere than the work: brought next to it, and results brought back. Everything here goes through the
// context's own stream.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/outputs.hpp"
#include "engine/placement.hpp"
#include "engine/scratch.hpp"

namespace gpumem {

// Enqueues a copy between host and device on the context's own stream. mixed: the host's side is registered in part, which
// the driver takes in no copy of its own.
void transfer(Context& context, void* dst, const void* src, int64_t bytes, bool mixed, Runs to);

// The row of the copies' table that takes any pair of pointers.
int32_t driver_variant() noexcept;

// Whether a copy between host and device goes through pinned chunks, by the kind of its side in host memory: the driver takes no
// memory that is registered in part, and does not say whether it leaves the gaps between rows of pageable memory alone, where pages
// may be missing. block is merged.
bool through_chunks(const Placement& placement, const CopyBlock& block) noexcept;

// Enqueues a copy of rows between host and device on a stream. Pageable memory is read and written in the stream's order, or at once.
void transfer_rows(Context& context, NativeStream stream, const CopyBlock& block, const Placement& placement, Runs to);

// Copies bytes of src next to the work, in the order of the context's own stream.
void stage(Context& context, std::optional<Scratch>& staged, Runs runs, const void* src, int64_t bytes, bool mixed);

// Copies rows next to the work, args.dst in memory of its side; behind the context's own stream and complete on return. mixed as
// above.
void stage_rows(Context& context, Runs to, const Copy2dArgs& args, bool mixed);

// A heap or device buffer beside the work for an output that the work itself can't write; nothing otherwise. bring_back()
// then copies it to the output, complete on return.
void make_room(Context& context, std::optional<Scratch>& room, Runs runs, const Output& output);
void bring_back(Context& context, const Scratch& room, const Output& output);

}  // namespace gpumem
