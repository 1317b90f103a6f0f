// Ctrl-C, for the sub-commands that tell what they have so far.
#pragma once

namespace tool {

struct Interrupted {};  // thrown once it was pressed
inline constexpr int kInterruptedStatus = 130;
void watch_interrupts();
bool interrupted();
void stop_if_interrupted();

}  // namespace tool
