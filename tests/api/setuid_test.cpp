// A program that runs with more rights than its user has takes nothing from the user's environment.
#include <grp.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "support/sanitizers.hpp"

namespace gpumem_test {
namespace {

constexpr uid_t kNobody = 65534;
constexpr const char* kSecret = "a file that only root may read";

std::string content_of(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

// A program that is setuid root, a folder that anybody may write to, and a file that nobody but root may.
class Setuid : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "only root can make a program setuid root";
    if (kSanitized) GTEST_SKIP() << "a sanitizer's run-time reads the environment of a setuid program itself";
    ASSERT_NE(::mkdtemp(folder_.data()), nullptr);
    probe_ = folder_ + "/probe";
    trace_ = folder_ + "/trace";
    secret_ = folder_ + "/secret";
    std::filesystem::copy_file(std::filesystem::read_symlink("/proc/self/exe").replace_filename("gpumem_setuid_probe"),
                               probe_);
    ASSERT_EQ(::chmod(probe_.c_str(), 04755), 0);
    ASSERT_EQ(::chmod(folder_.c_str(), 0777), 0);
    std::ofstream(secret_) << kSecret;
    ASSERT_EQ(::chmod(secret_.c_str(), 0600), 0);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // Runs it as another user, who has made a link to the file where a trace of it would be. Its exit status; -1: a signal.
  int run_as_nobody(const std::string& variable) const {
    const pid_t child = fork();
    if (child == 0) {
      const std::string trace = trace_ + "." + std::to_string(getpid()) + ".1";
      const char* const environment[] = {variable.c_str(), nullptr};
      const char* const arguments[] = {probe_.c_str(), nullptr};
      if (setgroups(0, nullptr) != 0 || setgid(kNobody) != 0 || setuid(kNobody) != 0) _exit(2);
      if (::symlink(secret_.c_str(), trace.c_str()) != 0) _exit(3);
      execve(probe_.c_str(), const_cast<char**>(arguments), const_cast<char**>(environment));
      _exit(4);
    }
    int status = 0;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  std::string folder_ = testing::TempDir() + "gpumem_setuid_XXXXXX";
  std::string probe_;
  std::string trace_;
  std::string secret_;
};

TEST_F(Setuid, TakesNothingFromTheEnvironment) {
  for (const std::string& variable : {"GPUMEM_TRACE=" + trace_, std::string("GPUMEM_DEVICE=nosuch"),
                                      std::string("GPUMEM_DEBUG=nosuch"), std::string("GPUMEM_VARIANT_FILL=nosuch")}) {
    const int status = run_as_nobody(variable);
    if (status == 77) GTEST_SKIP() << "the file system of " << folder_ << " lets no program be setuid";
    EXPECT_EQ(status, 0) << variable;
    EXPECT_EQ(content_of(secret_), kSecret) << variable;
  }
}

}  // namespace
}  // namespace gpumem_test
