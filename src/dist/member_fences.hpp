// Order between streams of this process's participants.
#pragma once

#include <deque>
#include <vector>

#include "context/context.hpp"

namespace gpumem {

// An event, recorded again by each call.
class MemberFence {
 public:
  explicit MemberFence(Backend& backend) : backend_(backend), event_(backend.create_fence()) {}
  ~MemberFence() { backend_.destroy_event(event_); }
  MemberFence(const MemberFence&) = delete;
  MemberFence& operator=(const MemberFence&) = delete;

  void record(NativeStream stream) const { backend_.record(event_, stream); }
  void wait(Context& context, NativeStream stream) const { context.device().wait_event(stream, event_); }
  bool passed() const { return backend_.passed(event_); }
  NativeEvent native() const noexcept { return event_; }

 private:
  Backend& backend_;
  const NativeEvent event_;
};

class MemberFences {
 public:
  explicit MemberFences(const std::vector<Context*>& contexts) {
    for (Context* context : contexts) fences_.emplace_back(context->device());
  }
  const MemberFence& of(size_t member) const noexcept { return fences_[member]; }

 private:
  std::deque<MemberFence> fences_;
};

}  // namespace gpumem
