// SPDX-License-Identifier: Apache-2.0
//
// gpumem for C++17 and later. gpumem.h has the contract of each operation; this binding adds the following.
//
// Work        context::copy(), reduce(), ... are complete on return. The same names of a stream return at once, and
//             their operands must live until the stream has passed the call.
// Operands    A device_view or device buffer, which the host cannot dereference; a host_view, pinned or managed buffer;
//             or anything that std::data() and std::size() take. The element type gives the dtype. The compiler refuses
//             temporaries that own their memory. every() makes a view with a stride, matrix_view a view of rows,
//             grid_view a view of up to eight axes.
// Sizes       std::int64_t, in elements. Operands of unequal sizes are status::invalid_argument.
// Failure     Throws gpumem::error: code() is the status, what() the error message. Through attempt(), the same
//             operations return a result<T> instead: context.attempt().copy(dst, src).
// Lifetime    context, stream, event, buffer, dist and dist_plan are move-only owners. A context outlives everything
//             that it made, and a dist outlives its plans. Every operation refuses a moved-from owner. A moved-from
//             buffer is empty.
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
