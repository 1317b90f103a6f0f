// Operations on existing streams and events. Only this file waits and queries, because both would invalidate a capture.
#pragma once

#include "context/context.hpp"

namespace gpumem {

void require_not_capturing(Context& context, NativeStream stream, const char* what);

// For calls that end something. After a fault or device reset, no stream counts as captured.
bool is_captured(Context& context, NativeStream stream) noexcept;

void require_none_capturing(Context& context, const char* what);

void synchronize(Context& context, NativeStream stream);
bool is_idle(Context& context, NativeStream stream);

// Wait for the context's own stream and all of its live streams. Captured streams have no work to wait for:
// synchronize_all() throws CAPTURING, wait_for_streams() skips them.
void synchronize_all(Context& context);
void wait_for_streams(Context& context);

void record(Context& context, Event& event, NativeStream stream);
void wait(Context& context, NativeStream stream, const Event& event);
void synchronize(Context& context, Event& event);
double elapsed_seconds(Context& context, Event& start, Event& end);

}  // namespace gpumem
