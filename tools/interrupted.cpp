#include "interrupted.hpp"

#include <csignal>

#include "measure/interrupts.hpp"

namespace tool {

void watch_interrupts() { measure::watch_interrupts({SIGINT}); }

bool interrupted() { return measure::interrupted() != 0; }

void stop_if_interrupted() {
  if (interrupted()) throw Interrupted{};
}

}  // namespace tool
