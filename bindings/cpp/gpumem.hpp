// SPDX-License-Identifier: Apache-2.0
//
// gpumem for C++17 and later. What each operation does, and what it refuses, stands in gpumem.h; here is what differs.
//
// Work        context::copy(), reduce(), ... are complete on return; the same names of a stream only enqueue, and what they use
//             must live until the stream has passed them.
// Operands    A device_view or a device buffer, which the host can't dereference; a host_view, a pinned or managed buffer, or
//             anything that std::data() and std::size() take: std::vector, std::array, std::span, arrays. The element type gives
//             the dtype. Temporaries that own their memory are refused by the compiler. every() gives a view with a stride,
//             matrix_view one of rows, grid_view one of up to three axes.
// Sizes       std::int64_t, in elements. Operands of unequal sizes are status::invalid_argument.
// Failure     Throws gpumem::error, whose code() is the status and whose what() is the library's sentence. The same operations
//             give a result<T> instead where they are called through attempt(): context.attempt().copy(dst, src).
// Lifetime    context, stream, event, buffer, dist and dist_plan are move-only owners. A context ends with the last of what it made, a
//             dist with its last plan. One that was moved from is refused by every operation, but a buffer is then an empty one.
#ifndef GPUMEM_HPP
#define GPUMEM_HPP

#include "gpumem/buffer.hpp"
#include "gpumem/constants.hpp"
#include "gpumem/context.hpp"
#include "gpumem/dist.hpp"
#include "gpumem/dist_layout.hpp"
#include "gpumem/grid_view.hpp"
#include "gpumem/handles.hpp"
#include "gpumem/memory_resource.hpp"
#include "gpumem/operations.hpp"
#include "gpumem/result.hpp"
#include "gpumem/stream.hpp"
#include "gpumem/views.hpp"

#endif  // GPUMEM_HPP
