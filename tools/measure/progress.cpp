#include "measure/progress.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace measure {

namespace {

bool is_shown() {
  const char* const term = std::getenv("TERM");
  return isatty(STDERR_FILENO) != 0 && term != nullptr && *term != '\0' && std::string_view(term) != "dumb";
}

}  // namespace

Progress::Progress(std::size_t steps) : steps_(steps), shown_(is_shown()) {}

Progress::~Progress() { clear(); }

void Progress::step(std::string_view doing) {
  const std::size_t done = begun_++;
  if (!shown_) return;
  std::string line;
  if (steps_ > 0) {
    line.append("[").append(std::to_string(begun_)).append("/").append(std::to_string(steps_));
    if (done > 0 && done < steps_) {
      const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin_;
      const double left = taken.count() / static_cast<double>(done) * static_cast<double>(steps_ - done);
      line.append(", ").append(std::to_string(std::lround(left))).append(" s left");
    }
    line += "] ";
  }
  line.append(doing).append(" ...");
  winsize size{};  // a wrapped line could not be erased
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && line.size() >= size.ws_col) {
    std::size_t end = size.ws_col - std::size_t{1};
    while (end > 0 && (line[end] & 0xc0) == 0x80) --end;  // no part of a character
    line.resize(end);
  }
  std::fprintf(stderr, "\r\033[K%s", line.c_str());
}

void Progress::clear() const {
  if (shown_) std::fputs("\r\033[K", stderr);
}

}  // namespace measure
