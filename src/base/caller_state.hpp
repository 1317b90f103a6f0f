// State of the calling thread that each call preserves.
#pragma once

#include <pthread.h>

#include <cerrno>

#include "base/float_environment.hpp"

namespace gpumem {

class KeptErrno {
 public:
  KeptErrno() noexcept = default;
  ~KeptErrno() { errno = before_; }
  KeptErrno(const KeptErrno&) = delete;
  KeptErrno& operator=(const KeptErrno&) = delete;

 private:
  const int before_ = errno;
};

// Disables thread cancellation: its unwinding looks like an exception, and ends the process if caught.
class KeptThreadState {
 public:
  KeptThreadState() noexcept { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state_); }
  ~KeptThreadState() { pthread_setcancelstate(cancel_state_, nullptr); }
  KeptThreadState(const KeptThreadState&) = delete;
  KeptThreadState& operator=(const KeptThreadState&) = delete;

 private:
  const KeptErrno errno_;
  const KeptFloatEnvironment floats_;
  int cancel_state_;
};

}  // namespace gpumem
