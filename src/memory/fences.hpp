// Points of streams that must pass before memory is reused. Their events are recycled.
#pragma once

#include <memory>

#include "memory/event_pool.hpp"

namespace gpumem {

class Fences {
 public:
  explicit Fences(Backend& backend) noexcept : events_(backend, EventPool::Of::order) {}

  class Fence {
   public:
    Fence(Fences& home, NativeEvent event) noexcept : home_(home), event_(event) {}
    ~Fence() { home_.events_.give_back(event_); }
    Fence(const Fence&) = delete;
    Fence& operator=(const Fence&) = delete;

    bool passed() const { return home_.backend().passed(event_); }
    // Orders later work of the stream behind it.
    void hold(NativeStream stream) const { home_.backend().wait_event(stream, event_); }
    void wait() const { home_.backend().synchronize_event(event_); }

   private:
    Fences& home_;
    NativeEvent event_;
  };

  // Marks the end of the stream's work so far. The stream is not under capture.
  std::shared_ptr<const Fence> record(NativeStream stream);

 private:
  Backend& backend() const noexcept { return events_.backend(); }

  EventPool events_;
};

// Throws CAPTURING.
void require_not_capturing(Backend& backend, NativeStream stream, const char* what);

using FencePtr = std::shared_ptr<const Fences::Fence>;

}  // namespace gpumem
