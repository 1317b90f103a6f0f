// The `gpumem` command: turns exceptions of a sub-command into an error message and an exit status.
#include <csignal>
#include <cstdio>
#include <exception>

#include "command_line.hpp"
#include "failure.hpp"
#include "text.hpp"

namespace {

int fail(const char* sentence, int status) {
  std::fflush(stdout);
  std::fprintf(stderr, "gpumem: %s\n", tool::printable(sentence).c_str());
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // exceeding `ulimit -f` gives an error message, like a full disk
  try {
    const int status = tool::run_command_line(argc, argv);
    std::fflush(stdout);
    const bool failed = std::ferror(stdout) != 0;  // it may already be flushed, so that nothing can fail now
    if (std::fclose(stdout) != 0 || failed) throw tool::Failure("writing to the standard output failed");
    return status;
  } catch (const tool::Mistake& mistake) {
    return fail(mistake.what(), 2);
  } catch (const std::exception& error) {
    return fail(error.what(), 1);
  }
}
