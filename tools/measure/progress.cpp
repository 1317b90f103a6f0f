#include "measure/progress.hpp"

#include <unistd.h>

#include <cstdio>

namespace measure {

Progress::Progress(std::size_t steps) : steps_(steps), shown_(isatty(STDERR_FILENO) != 0) {}

Progress::~Progress() { clear(); }

void Progress::step(std::string_view doing) {
  const std::size_t done = begun_++;
  if (!shown_) return;
  std::fputs("\r\033[K", stderr);
  if (steps_ > 0) {
    std::fprintf(stderr, "[%zu/%zu", begun_, steps_);
    if (done > 0 && done < steps_) {
      const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin_;
      std::fprintf(stderr, ", %.0f s left",
                   taken.count() / static_cast<double>(done) * static_cast<double>(steps_ - done));
    }
    std::fputs("] ", stderr);
  }
  std::fprintf(stderr, "%.*s ...", static_cast<int>(doing.size()), doing.data());
}

void Progress::clear() const {
  if (shown_) std::fputs("\r\033[K", stderr);
}

}  // namespace measure
