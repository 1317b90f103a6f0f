// What a program does with streams and events once they exist. Waiting and querying would invalidate a graph capture: this is the one
// place that looks for one first.
#pragma once

#include "context/context.hpp"

namespace gpumem {

// Throws CAPTURING.
void require_not_capturing(Context& context, NativeStream stream, const char* what);

// For calls that end something: after a fault, or a reset of the device, no stream is.
bool is_captured(Context& context, NativeStream stream) noexcept;

// The same for every stream that is alive on the context.
void require_none_capturing(Context& context, const char* what);

void synchronize(Context& context, NativeStream stream);
bool is_idle(Context& context, NativeStream stream);

// The context's own stream and every stream that is alive on it. Streams under capture have no work to wait for:
// synchronize_all() throws CAPTURING for one, wait_for_streams() passes it over.
void synchronize_all(Context& context);
void wait_for_streams(Context& context);

void record(Context& context, Event& event, NativeStream stream);
void wait(Context& context, NativeStream stream, const Event& event);
void synchronize(Context& context, Event& event);
double elapsed_seconds(Context& context, Event& start, Event& end);

}  // namespace gpumem
