#include "ops/call_timer.hpp"

#include <utility>

namespace gpumem {

void CallTime::give_back(EventPool& events) noexcept {
  for (NativeEvent* event : {&begin, &end}) {
    if (*event != nullptr) events.give_back(std::exchange(*event, nullptr));
  }
}

CallTimer::CallTimer(EventPool& events, NativeStream stream, Completion completion) noexcept
    : before_(std::exchange(t_launch_watch, this)), events_(events), until_(completion) {
  g_launch_watches.fetch_add(1, std::memory_order_relaxed);
  time_.started = Clock::now();
  time_.stream = stream;
}

CallTimer::~CallTimer() {
  t_launch_watch = before_;
  g_launch_watches.fetch_sub(1, std::memory_order_relaxed);
  time_.give_back(events_);
}

void CallTimer::begins(NativeStream stream) noexcept {
  if (stream != time_.stream) {
    elsewhere_ = true;
    return;
  }
  if (time_.begin != nullptr || time_.captured || untimed_) return;
  try {
    time_.captured = events_.backend().capturing(stream);
    if (time_.captured) return;
    time_.begin = events_.take();
    time_.end = events_.take();
    events_.backend().record(time_.begin, stream);
  } catch (const std::exception&) {  // a call does not fail because it can't be timed
    untimed_ = true;
    time_.give_back(events_);
  }
}

// The last end counts. A blocking call records its event before it waits, an asynchronous one after all its work.
void CallTimer::ends(NativeStream stream) noexcept {
  if (stream == time_.stream && until_ == Completion::blocking) record_end();
}

void CallTimer::record_end() noexcept {
  if (time_.begin == nullptr) return;
  try {
    events_.backend().record(time_.end, time_.stream);
  } catch (const std::exception&) {
    untimed_ = true;
    time_.give_back(events_);
  }
}

void CallTimer::ran(Clock::time_point begin, Clock::time_point end) noexcept {
  if (!here_) first_ = begin;
  here_ = true;
  last_ = end;
}

// If work ran in several places, the time is the whole call's, provided that the call was blocking.
bool CallTimer::finish(CallTime& time) noexcept {
  if (until_ == Completion::asynchronous && !here_) record_end();
  const bool by_stream = time_.begin != nullptr;
  const bool any = here_ || elsewhere_ || by_stream || time_.captured || untimed_;
  if (until_ == Completion::blocking && (elsewhere_ || (here_ && by_stream))) {
    time_.give_back(events_);
    time_.seconds = std::chrono::duration<double>(Clock::now() - time_.started).count();
  } else if (here_) {
    time_.give_back(events_);
    time_.seconds = std::chrono::duration<double>(last_ - first_).count();
  }
  time = time_;
  time_.begin = time_.end = nullptr;
  return any;
}

}  // namespace gpumem
