// A lock that is usually held for about a microsecond, which is less than a thread takes to sleep and wake.
#pragma once

#include <mutex>

#include "base/spin_pause.hpp"

namespace gpumem {

class SpinningLock {
 public:
  void lock() {
    for (int i = 0; i < kTries; ++i) {
      if (mutex_.try_lock()) return;
      spin_pause();
    }
    mutex_.lock();
  }
  void unlock() noexcept { mutex_.unlock(); }

 private:
  static constexpr int kTries = 100;  // a few microseconds

  std::mutex mutex_;
};

}  // namespace gpumem
