// What the standard streams are connected to.
#pragma once

#include <string>
#include <string_view>

namespace tool {

enum class Colours { none, palette256, rgb24 };

// What standard output can show. none: not a terminal, NO_COLOR is set, a dumb terminal, or not UTF-8.
Colours output_colours();

// The width of standard output's terminal, 80 if it is none.
int output_columns();

// A line on standard error that says what is being done, rewritten at each step and wiped at the end. Silent unless
// standard error is a terminal.
class Progress {
 public:
  Progress();
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void step(std::string_view doing);
  void clear();

 private:
  bool shown_;
};

}  // namespace tool
