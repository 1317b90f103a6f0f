#include "measure/interrupts.hpp"

#include <csignal>

namespace measure {
namespace {

volatile std::sig_atomic_t g_interrupted = 0;

extern "C" void on_interrupt(int signal) {
  g_interrupted = signal;
  std::signal(signal, SIG_DFL);
}

}  // namespace

void watch_interrupts(std::initializer_list<int> signals) {
  for (const int signal : signals) {
    if (std::signal(signal, on_interrupt) == SIG_IGN) std::signal(signal, SIG_IGN);
  }
}

int interrupted() { return g_interrupted; }

}  // namespace measure
