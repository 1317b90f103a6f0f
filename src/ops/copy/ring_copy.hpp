// Copies between host memory that the driver does not reach by itself and the device, through rings of pinned chunks. Rows lie in a
// chunk without their gaps: the host leaves them out, or puts them in, on its side, and the copy engine on the device's.
#pragma once

#include "base/ring_sizes.hpp"
#include "context/context.hpp"
#include "kernels/copy/params.hpp"
#include "select/select.hpp"

namespace gpumem {

// The rows of the copies' table that move between host and device.
int32_t driver_variant() noexcept;
int32_t rings_variant() noexcept;
Configured<CopyParams> by_driver() noexcept;

// A blocking copy to the device through rings that reads the heap at once, and again if that has changed by the time that the copy has
// been made, when nothing enqueued before is writing any more.
inline bool reads_early(const CopyParams& p) noexcept { return p.one_range() && p.row_bytes <= kMostReadEarly; }

// By one of the two. Through rings by the threads of the host, each with a ring of its own: on return the host's side has been read or
// written; given Completion::asynchronous, the device's comes in the order of the stream. To the device, what was enqueued before is no
// longer writing the host's side, unless a blocking copy reads early.
void move_across(Context& context, NativeStream stream, const CopyParams& params,
                 const Selection<CopyParams>& selection, Completion completion);

// In the order of the stream, both sides: host functions move the host's side. When something can't be enqueued, what was enqueued
// before it has completed by the time of the throw.
void enqueue_through_rings(Context& context, NativeStream stream, const CopyParams& block, ExecutionSpace to);

}  // namespace gpumem
