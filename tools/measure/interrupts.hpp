// Signals that ask a program which measures to stop: it writes what it has measured first.
#pragma once

#include <initializer_list>

namespace measure {

void watch_interrupts(std::initializer_list<int> signals);

// The signal that came, or 0. A second one ends the program where it is.
int interrupted();

}  // namespace measure
