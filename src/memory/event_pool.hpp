// Reusable events of a backend.
#pragma once

#include <mutex>
#include <vector>

#include "backend/backend.hpp"

namespace gpumem {

class EventPool {
 public:
  enum class Of { order, time };

  EventPool(Backend& backend, Of of) noexcept : backend_(backend), of_(of) {}
  ~EventPool() {
    for (NativeEvent event : spare_) backend_.destroy_event(event);
  }
  EventPool(const EventPool&) = delete;
  EventPool& operator=(const EventPool&) = delete;

  NativeEvent take() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!spare_.empty()) {
      NativeEvent event = spare_.back();
      spare_.pop_back();
      return event;
    }
    spare_.reserve(made_ + 1);  // so that a return can't fail
    NativeEvent event = of_ == Of::order ? backend_.create_fence() : backend_.create_event();
    ++made_;
    return event;
  }
  void give_back(NativeEvent event) noexcept {
    const std::lock_guard<std::mutex> lock(mutex_);
    spare_.push_back(event);
  }

  Backend& backend() const noexcept { return backend_; }

 private:
  Backend& backend_;
  const Of of_;
  std::mutex mutex_;
  std::vector<NativeEvent> spare_;
  size_t made_ = 0;
};

}  // namespace gpumem
