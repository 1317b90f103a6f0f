// A progress line on standard error.
#pragma once

#include <chrono>
#include <cstddef>
#include <string_view>

namespace measure {

// Rewritten at each step and erased at the end. Silent unless standard error is a terminal, and not a dumb one. If the
// number of steps is known, it counts them and estimates the remaining time.
class Progress {
 public:
  explicit Progress(std::size_t steps = 0);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void step(std::string_view doing);
  void clear() const;

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::size_t steps_;
  std::size_t begun_ = 0;
  bool shown_;
};

}  // namespace measure
