// How long the work of one call takes: by events of its stream, which nobody waits for, or by the clock where the calling thread does it.
#pragma once

#include <chrono>

#include "memory/event_pool.hpp"

namespace gpumem {

struct CallTime {
  using Clock = std::chrono::steady_clock;

  Clock::time_point started;    // the call
  double seconds = -1;          // by the clock; -1: by the events, once they are passed
  NativeEvent begin = nullptr;  // nullptr: no events
  NativeEvent end = nullptr;
  NativeStream stream = nullptr;
  bool captured = false;  // into a graph: it has no time

  bool awaited() const noexcept { return begin != nullptr; }
  void give_back(EventPool& events) noexcept;  // begin and end
};

// While it lives, it watches the calling thread.
class CallTimer final : public LaunchWatch {
 public:
  CallTimer(EventPool& events, NativeStream stream, Completion completion) noexcept;
  ~CallTimer();
  CallTimer(const CallTimer&) = delete;
  CallTimer& operator=(const CallTimer&) = delete;

  void begins(NativeStream stream) noexcept override;
  void ends(NativeStream stream) noexcept override;
  void ran(Clock::time_point begin, Clock::time_point end) noexcept override;

  // Once the call has returned: whether it did anything, and its time, whose events are the caller's then.
  bool finish(CallTime& time) noexcept;

 private:
  void record_end() noexcept;

  LaunchWatch* const before_;
  EventPool& events_;
  const Completion until_;
  CallTime time_;
  Clock::time_point first_;  // of the work in the calling thread
  Clock::time_point last_;
  bool here_ = false;       // some of it was
  bool elsewhere_ = false;  // some was given to other streams
  bool untimed_ = false;    // events could not be had
};

}  // namespace gpumem
