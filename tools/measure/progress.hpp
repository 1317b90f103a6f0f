// A line on standard error that says what is being done.
#pragma once

#include <chrono>
#include <cstddef>
#include <string_view>

namespace measure {

// Rewritten at each step and wiped at the end; silent unless standard error is a terminal, and not a dumb one. With the
// number of steps to come it counts them, and estimates the time that is left from the steps that are done.
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
