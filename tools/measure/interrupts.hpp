// Signals that ask a program which measures to stop: it writes what it has measured first.
#pragma once

#include <initializer_list>

namespace measure {

// What is ignored, as SIGINT by a shell's background jobs and SIGHUP by nohup, stays so.
void watch_interrupts(std::initializer_list<int> signals);

// The signal that came, or 0. A second one ends the program where it is.
int interrupted();

}  // namespace measure
