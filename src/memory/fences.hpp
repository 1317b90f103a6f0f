// Points of streams that memory waits for before it is used again. Their events are kept for the next ones.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "backend/backend.hpp"

namespace gpumem {

class Fences {
 public:
  explicit Fences(Backend& backend) noexcept : backend_(backend) {}
  ~Fences();

  class Fence {
   public:
    Fence(Fences& home, NativeEvent event) noexcept : home_(home), event_(event) {}
    ~Fence() { home_.give_back(event_); }
    Fence(const Fence&) = delete;
    Fence& operator=(const Fence&) = delete;

    bool passed() const { return home_.backend_.passed(event_); }
    // Work that the stream is given from now on comes after it.
    void hold(NativeStream stream) const { home_.backend_.wait_event(stream, event_); }
    void wait() const { home_.backend_.synchronize_event(event_); }

   private:
    Fences& home_;
    NativeEvent event_;
  };

  // After what the stream has been given so far. The stream is not under capture.
  std::shared_ptr<const Fence> record(NativeStream stream);

 private:
  NativeEvent take();
  void give_back(NativeEvent event) noexcept;

  Backend& backend_;
  std::mutex mutex_;
  std::vector<NativeEvent> spare_;
  size_t made_ = 0;  // spare_ has room for all of them
};

using FencePtr = std::shared_ptr<const Fences::Fence>;

}  // namespace gpumem
