// Copies between host memory that the driver does not reach by itself and the device, through rings of pinned chunks. Rows lie in a
// chunk without their gaps: the host leaves them out, or puts them in, on its side, and the copy engine on the device's.
#pragma once

#include "context/context.hpp"
#include "kernels/copy/params.hpp"
#include "ops/operand.hpp"

namespace gpumem {

// Whether such a copy goes through rings, whether or not the driver could make it. block is merged.
bool through_rings(Context& context, HostSide host_side, const CopyParams& block, Runs to) noexcept;

// By the threads of the host, each with a ring of its own. On return the host's side has been read or written; given
// Until::enqueued, the device's comes in the order of the stream. To the device, what was enqueued before is no longer writing the
// host's side.
void copy_through_rings(Context& context, NativeStream stream, const CopyParams& block, Runs to, Until until);

// In the order of the stream, both sides: host functions move the host's side. When something can't be enqueued, what was enqueued
// before it has completed by the time of the throw.
void enqueue_through_rings(Context& context, NativeStream stream, const CopyParams& block, Runs to);

}  // namespace gpumem
