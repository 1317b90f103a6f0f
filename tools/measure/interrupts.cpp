#include "measure/interrupts.hpp"

#include <time.h>

#include <csignal>

namespace measure {
namespace {

volatile std::sig_atomic_t g_interrupted = 0;
double g_first = 0;  // when g_interrupted was set

// The second signal ends the program, but only after a delay: timeout(1) signals its child, and then its group.
extern "C" void on_interrupt(int signal) {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const double seconds = static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
  if (g_interrupted == 0) {
    g_first = seconds;
    g_interrupted = signal;
  } else if (seconds - g_first > 0.2) {
    std::signal(signal, SIG_DFL);
    static_cast<void>(std::raise(signal));
  }
}

}  // namespace

void watch_interrupts(std::initializer_list<int> signals) {
  for (const int signal : signals) {
    if (std::signal(signal, on_interrupt) == SIG_IGN) std::signal(signal, SIG_IGN);
  }
}

int interrupted() { return g_interrupted; }

}  // namespace measure
