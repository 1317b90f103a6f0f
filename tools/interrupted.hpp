// Ctrl-C, for the sub-commands that report partial results.
#pragma once

namespace tool {

struct Interrupted {};
inline constexpr int kInterruptedStatus = 130;
void watch_interrupts();
bool interrupted();
void stop_if_interrupted();

}  // namespace tool
