#include "memory/fences.hpp"

#include "base/scope_exit.hpp"

namespace gpumem {

Fences::~Fences() {
  for (NativeEvent event : spare_) backend_.destroy_event(event);
}

NativeEvent Fences::take() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!spare_.empty()) {
    NativeEvent event = spare_.back();
    spare_.pop_back();
    return event;
  }
  spare_.reserve(made_ + 1);  // so that giving back can't fail
  NativeEvent event = backend_.create_fence();
  ++made_;
  return event;
}

void Fences::give_back(NativeEvent event) noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  spare_.push_back(event);
}

FencePtr Fences::record(NativeStream stream) {
  NativeEvent event = take();
  ScopeExit back([&] { give_back(event); });
  auto fence = std::make_unique<Fence>(*this, event);
  back.release();
  backend_.record(event, stream);
  return fence;
}

}  // namespace gpumem
