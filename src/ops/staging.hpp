// Stages operands next to the work and copies results back, on the context's own stream.
#pragma once

#include <cstdint>
#include <optional>

#include "ops/outputs.hpp"
#include "ops/placement.hpp"
#include "ops/workspace.hpp"

namespace gpumem {

void transfer(Context& context, void* dst, const void* src, int64_t bytes, HostSide host_side, ExecutionSpace to);

// Copies rows between host and device after the stream's work, and ignores overrides. A copy to the device may read
// host memory that is not locked at once. With Completion::asynchronous, the rest follows the order of the stream.
void transfer_rows(Context& context, NativeStream stream, const CopyParams& block, HostSide host_side,
                   ExecutionSpace to, Completion completion);

// Copies bytes of src next to the work, in the own stream's order. host_side is ignored if src is on the device.
void stage(Context& context, std::optional<Workspace>& staged, ExecutionSpace space, const void* src, int64_t bytes,
           HostSide host_side);

// Copies rows next to the work without their padding. Runs after the context's own stream and is complete on return.
void stage_rows(Context& context, std::optional<Workspace>& staged, ExecutionSpace space, const void* src,
                int64_t src_pitch, int64_t row_bytes, int64_t rows, HostSide host_side);

// Allocates a pageable or device buffer for an output that the work can't write itself, and nothing otherwise.
// bring_back() copies the buffer to the output and is complete on return.
void make_room(Context& context, std::optional<Workspace>& room, ExecutionSpace space, const Output& output);
void bring_back(Context& context, const Workspace& room, const Output& output);

}  // namespace gpumem
