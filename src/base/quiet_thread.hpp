// A library thread that blocks signals. Signals that report an error of the thread itself stay open, because a blocked
// one would end the process without calling the program's handler.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <thread>
#include <utility>

namespace gpumem {

class SignalsBlocked {
 public:
  SignalsBlocked() noexcept {
    sigset_t all;
    sigfillset(&all);
    for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS}) sigdelset(&all, own);
    pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

// The new thread inherits the mask. Throws std::system_error if no thread can be started.
template <class F>
std::thread quiet_thread(F&& f) {
  const SignalsBlocked blocked;
  std::thread thread(std::forward<F>(f));
  pthread_setname_np(thread.native_handle(), "gpumem");
  return thread;
}

}  // namespace gpumem
