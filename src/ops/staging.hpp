// Operands that lie elsewhere than the work: brought next to it, and results brought back. Everything here goes through the
// context's own stream.
#pragma once

#include <cstdint>
#include <optional>

#include "ops/outputs.hpp"
#include "ops/placement.hpp"
#include "ops/workspace.hpp"

namespace gpumem {

// Enqueues a copy between host and device on the context's own stream, as transfer_rows().
void transfer(Context& context, void* dst, const void* src, int64_t bytes, HostSide host_side, ExecutionSpace to);

// Copies rows between host and device, whatever variant is forced, behind the stream; to the device, host memory that is not locked
// may be read at once. Given Completion::asynchronous, the rest comes in the order of the stream.
void transfer_rows(Context& context, NativeStream stream, const CopyParams& block, HostSide host_side,
                   ExecutionSpace to, Completion completion);

// Copies bytes of src next to the work, in the order of the context's own stream. host_side describes
// src, and is not looked at where src lies on the device.
void stage(Context& context, std::optional<Workspace>& staged, ExecutionSpace space, const void* src, int64_t bytes,
           HostSide host_side);

// Copies rows next to the work, without the gaps between them; behind the context's own stream and complete on return. host_side
// as above.
void stage_rows(Context& context, std::optional<Workspace>& staged, ExecutionSpace space, const void* src,
                int64_t src_pitch, int64_t row_bytes, int64_t rows, HostSide host_side);

// A heap or device buffer beside the work for an output that the work itself can't write; nothing otherwise. bring_back()
// then copies it to the output, complete on return.
void make_room(Context& context, std::optional<Workspace>& room, ExecutionSpace space, const Output& output);
void bring_back(Context& context, const Workspace& room, const Output& output);

}  // namespace gpumem
