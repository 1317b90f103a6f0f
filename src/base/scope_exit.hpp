// Runs an action at the end of a scope, however it is left.
#pragma once

#include <utility>

namespace gpumem {

template <class F>
class ScopeExit {
 public:
  explicit ScopeExit(F f) noexcept : f_(std::move(f)) {}
  ~ScopeExit() {
    if (!released_) f_();
  }
  ScopeExit(const ScopeExit&) = delete;
  ScopeExit& operator=(const ScopeExit&) = delete;

  void release() noexcept { released_ = true; }

 private:
  F f_;
  bool released_ = false;
};

}  // namespace gpumem
