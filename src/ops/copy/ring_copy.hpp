// Copies between the device and host memory that the driver does not reach directly, through rings of pinned chunks.
// Rows are packed in a chunk. The host adds or removes their padding on its side, and the copy engine on the device's.
#pragma once

#include "base/ring_sizes.hpp"
#include "context/context.hpp"
#include "kernels/copy/params.hpp"
#include "select/select.hpp"

namespace gpumem {

int32_t driver_variant() noexcept;
int32_t rings_variant() noexcept;
Configured<CopyParams> by_driver() noexcept;

// Whether a blocking copy reads pageable memory before earlier work is complete, and afterwards resends changed data.
inline bool reads_early(const CopyParams& p) noexcept { return p.one_range() && p.row_bytes <= kMostReadEarly; }

// Copies by one of the two. Through rings, each host thread uses a ring of its own, and the host's side is complete on
// return. With Completion::asynchronous, the device's side follows the order of the stream. To the device, earlier
// enqueued work must not be writing the host's side any more, unless a blocking copy reads early.
void move_across(Context& context, NativeStream stream, const CopyParams& params,
                 const Selection<CopyParams>& selection, Completion completion);

// Both sides follow the order of the stream. If enqueuing fails, earlier parts have completed by the time of the throw.
void enqueue_through_rings(Context& context, NativeStream stream, const CopyParams& block, ExecutionSpace to);

}  // namespace gpumem
