// The cost of using the library in a new process: dlopen, a host context, one small reduction, the end.
#include <dlfcn.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "host/host_cases.hpp"

extern char** environ;

namespace bench {
namespace {

struct ProbeTimes {
  double process = 0;  // seconds from the spawn to the end
  double calls = 0;    // seconds from before dlopen to after the context is destroyed, by the probe's own clock
};

std::string library_path() {
  Dl_info info{};
  if (!dladdr(reinterpret_cast<void*>(&gpumem_version), &info) || !info.dli_fname)
    throw Skip("libgpumem.so has no path");
  return std::filesystem::absolute(info.dli_fname).string();
}

pid_t spawn(const std::string& probe, const std::string& library, int write_end) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, write_end, STDOUT_FILENO);
  char* argv[] = {const_cast<char*>(probe.c_str()), library.empty() ? nullptr : const_cast<char*>(library.c_str()),
                  nullptr};
  pid_t child = -1;
  const int failed = posix_spawn(&child, probe.c_str(), &actions, nullptr, argv, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed) throw std::runtime_error("can't start " + probe);
  return child;
}

ProbeTimes run_probe(const std::string& probe, const std::string& library) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe");
  const auto begin = std::chrono::steady_clock::now();
  const pid_t child = spawn(probe, library, ends[1]);
  int status = 0;
  waitpid(child, &status, 0);
  const double process = Seconds(std::chrono::steady_clock::now() - begin).count();
  close(ends[1]);
  char text[32] = "";
  const ssize_t got = read(ends[0], text, sizeof text - 1);
  close(ends[0]);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || got <= 0) throw std::runtime_error("the startup probe failed");
  return {process, std::strtod(text, nullptr) * 1e-9};
}

}  // namespace

void add_startup(std::vector<Case>& cases) {
  const std::string probe =
      (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "bench_startup_probe").string();
  const auto with_library = [probe](double ProbeTimes::*part) {
    return Side{[=, library = library_path()] { return run_probe(probe, library).*part; }, {}, {}};
  };
  cases.push_back({.family = "startup",
                   .name = "process",
                   .peer = "process without it",
                   .bar = at_most_us(10000),
                   .quick = true,
                   .open = [=] {
                     const Side without{[probe] { return run_probe(probe, "").process; }, {}, {}};
                     return Pair{with_library(&ProbeTimes::process), without};
                   }});
  cases.push_back(
      {.family = "startup", .name = "dlopen+context+reduce+destroy", .peer = "", .bar = at_most_us(10000), .open = [=] {
         return Pair{with_library(&ProbeTimes::calls), {}};
       }});
}

}  // namespace bench
