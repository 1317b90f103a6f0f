// Signals that ask a measuring program to stop after it has written its results.
#pragma once

#include <initializer_list>

namespace measure {

// Ignored signals stay ignored: SIGINT in a shell's background jobs, SIGHUP under nohup.
void watch_interrupts(std::initializer_list<int> signals);

// The signal that came, or 0. A second one ends the program at once.
int interrupted();

}  // namespace measure
