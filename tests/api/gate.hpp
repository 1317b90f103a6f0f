// Work that does not get on until the test lets it: a program's own thread pool (gpumem_ctx_options::parallel_for) that
// waits at a gate. With it a test knows, without any clock, that enqueued work is still running.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "support/contexts.hpp"
#include "support/memory.hpp"

namespace gpumem_test {

class Gate {
 public:
  // A bound for a library that never comes to the gate; a sound one comes at once.
  static constexpr std::chrono::seconds kPatience{60};

  gpumem_ctx_options options(On on) {
    gpumem_ctx_options options = options_for(on, 4);
    options.parallel_for = pass;
    options.parallel_for_user = this;
    return options;
  }

  void close() { set(false); }
  void open() { set(true); }

  // Waits until some work stands at the closed gate.
  testing::AssertionResult reached() {
    std::unique_lock<std::mutex> lock(mutex_);
    if (changed_.wait_for(lock, kPatience, [this] { return waiting_ > 0; })) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "no work came to the program's parallel_for";
  }

 private:
  void set(bool open) {
    const std::lock_guard<std::mutex> lock(mutex_);
    open_ = open;
    changed_.notify_all();
  }

  static void pass(void* user, int64_t tasks, gpumem_task_fn task, void* task_state) {
    Gate& gate = *static_cast<Gate*>(user);
    {
      std::unique_lock<std::mutex> lock(gate.mutex_);
      ++gate.waiting_;
      gate.changed_.notify_all();
      gate.changed_.wait(lock, [&gate] { return gate.open_; });
      --gate.waiting_;
    }
    for (int64_t i = 0; i < tasks; ++i) task(task_state, i);
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = true;
  int waiting_ = 0;
};

// Opens the gate at the end of a scope, so that a failed assertion leaves nothing waiting. Made last, so that it ends
// before what waits for work at its own end.
class OpenAtEnd {
 public:
  explicit OpenAtEnd(Gate& gate) : gate_(gate) {}
  OpenAtEnd(const OpenAtEnd&) = delete;
  OpenAtEnd& operator=(const OpenAtEnd&) = delete;
  ~OpenAtEnd() { gate_.open(); }

 private:
  Gate& gate_;
};

}  // namespace gpumem_test
