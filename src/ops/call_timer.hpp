// Times one call: by events of its stream, without waiting, or by the clock if the calling thread works.
#pragma once

#include <chrono>

#include "memory/event_pool.hpp"

namespace gpumem {

struct CallTime {
  using Clock = std::chrono::steady_clock;

  Clock::time_point started;
  double seconds = -1;          // by the clock; -1: by the events, once passed
  NativeEvent begin = nullptr;  // nullptr: no events
  NativeEvent end = nullptr;
  NativeStream stream = nullptr;
  bool captured = false;  // into a graph: it has no time

  bool awaited() const noexcept { return begin != nullptr; }
  void give_back(EventPool& events) noexcept;
};

// Watches the calling thread while it exists.
class CallTimer final : public LaunchWatch {
 public:
  CallTimer(EventPool& events, NativeStream stream, Completion completion) noexcept;
  ~CallTimer();
  CallTimer(const CallTimer&) = delete;
  CallTimer& operator=(const CallTimer&) = delete;

  void begins(NativeStream stream) noexcept override;
  void ends(NativeStream stream) noexcept override;
  void ran(Clock::time_point begin, Clock::time_point end) noexcept override;

  // Call after the operation returned. Returns whether it did any work, and its time. The caller then owns the events.
  bool finish(CallTime& time) noexcept;

 private:
  void record_end() noexcept;

  LaunchWatch* const before_;
  EventPool& events_;
  const Completion until_;
  CallTime time_;
  Clock::time_point first_;  // of the work in the calling thread
  Clock::time_point last_;
  bool here_ = false;       // the thread did some of the work
  bool elsewhere_ = false;  // other streams got some of the work
  bool untimed_ = false;    // no events were available
};

}  // namespace gpumem
