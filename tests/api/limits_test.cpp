// A process in a control group with a limit of memory: the system ends it where it touches more, so the library has to know.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "support/contexts.hpp"

namespace gpumem_test {
namespace {

// Of version 1 below the process's own group; of version 2 below the root, since a group with processes has none with limits below it.
class Group {
 public:
  explicit Group(int64_t bytes) {
    std::ifstream groups("/proc/self/cgroup");
    for (std::string line; std::getline(groups, line);) {
      const auto at = line.find(":memory:");
      if (at != line.npos) make("/sys/fs/cgroup/memory" + line.substr(at + 8), "/memory.limit_in_bytes", bytes);
    }
    if (folder_.empty() && why_not_.empty()) make("/sys/fs/cgroup", "/memory.max", bytes);
  }
  ~Group() {
    for (int i = 0; !folder_.empty() && rmdir(folder_.c_str()) != 0 && i < 100;
         ++i) {  // what has ended is still leaving
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  const std::string& why_not() const { return why_not_; }
  bool join() const { return static_cast<bool>(std::ofstream(folder_ + "/cgroup.procs") << getpid() << std::flush); }

 private:
  void make(const std::string& parent, const char* name, int64_t bytes) {
    folder_ = parent + "/gpumem_limits_test." + std::to_string(getpid());
    if (mkdir(folder_.c_str(), 0755) != 0) {
      why_not_ = folder_ + ": " + std::strerror(errno);
      folder_.clear();
    } else if (!(std::ofstream(folder_ + name) << bytes << std::flush)) {
      why_not_ = folder_ + name + " can't be written";
    }
  }

  std::string folder_;
  std::string why_not_;
};

// What the probe says is in the log of the test. scripts/trust has larger limits.
void run_below(const char* what, int64_t mib) {
  if (const char* const given = std::getenv("GPUMEM_TEST_LIMIT_MIB")) mib = std::atoll(given);
  const std::string limit = std::to_string(mib << 20);
  const Group group(mib << 20);
  if (!group.why_not().empty()) GTEST_SKIP() << "no control group with a limit can be made: " << group.why_not();
  const auto probe = std::filesystem::read_symlink("/proc/self/exe").replace_filename("gpumem_limits_probe").string();
  const pid_t child = fork();
  if (child == 0) {
    if (group.join()) execl(probe.c_str(), probe.c_str(), what, limit.c_str(), nullptr);
    _exit(3);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_FALSE(WIFSIGNALED(status)) << what << " was ended by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0) << what;
}

class MemoryLimit : public testing::TestWithParam<On> {};

TEST_P(MemoryLimit, NothingTouchesMoreThanThereIs) {
  if (GetParam() == On::cuda) return run_below("cuda", 512);
  run_below("kept", 192);
  run_below("debug", 128);
  run_below("host", 192);
}

INSTANTIATE_TEST_SUITE_P(On, MemoryLimit, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
