// What belongs to the program is as it was after each call, whether it does its work or refuses to.
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cfenv>
#include <clocale>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "api/each_call.hpp"

namespace gpumem_test {
namespace {

std::vector<std::string> descriptors() {
  std::vector<std::string> all;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) all.push_back(entry.path());
  std::sort(all.begin(), all.end());
  return all;
}

// Of the thread and the process. Bits of the floating-point environment are those of the rounding mode, the traps and the flags.
struct Belongings {
  int rounding = std::fegetround();
  int flags = std::fetestexcept(FE_ALL_EXCEPT);
  int traps = fegetexcept();
  sigset_t blocked{};
  cpu_set_t affinity{};
  std::string locale = std::setlocale(LC_ALL, nullptr);
  locale_t thread_locale = uselocale(nullptr);
  std::string folder = std::filesystem::current_path();
  mode_t mask = 0;
  std::vector<std::string> open = descriptors();

  Belongings() {
    pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    sched_getaffinity(0, sizeof affinity, &affinity);
    mask = umask(0);
    umask(mask);
  }
};

void expect_same(const std::string& name, const Belongings& before, const Belongings& after) {
  EXPECT_EQ(after.rounding, before.rounding) << name;
  EXPECT_EQ(after.flags, before.flags) << name;
  EXPECT_EQ(after.traps, before.traps) << name;
  EXPECT_EQ(std::memcmp(&after.blocked, &before.blocked, sizeof before.blocked), 0) << name << ": the signal mask";
  EXPECT_TRUE(CPU_EQUAL(&after.affinity, &before.affinity)) << name << ": the affinity";
  EXPECT_EQ(after.locale, before.locale) << name;
  EXPECT_EQ(after.thread_locale, before.thread_locale) << name;
  EXPECT_EQ(after.folder, before.folder) << name;
  EXPECT_EQ(after.mask, before.mask) << name << ": umask";
  // Those of a context last as long as it does.
  const bool one_context_more_or_less = name == "ctx_create" || name == "shared_ctx" || name == "ctx_destroy";
  EXPECT_TRUE(one_context_more_or_less || after.open == before.open) << name << ": open descriptors";
}

// In an unusual state, so that a default that is set shows too.
void expect_neutral(const std::string& name, const CallOnce& call) {
  std::fesetround(FE_UPWARD);
  std::feclearexcept(FE_ALL_EXCEPT);
  std::feraiseexcept(FE_UNDERFLOW);
  const Belongings before;
  errno = 77;
  call();
  EXPECT_EQ(errno, 77) << name;
  const Belongings after;
  std::fesetround(FE_TONEAREST);
  std::feclearexcept(FE_ALL_EXCEPT);
  expect_same(name, before, after);
}

class Neutral : public testing::TestWithParam<On> {};

TEST_P(Neutral, EachCall) { on_each_call(expect_neutral, GetParam()); }

TEST_P(Neutral, EachCallThatIsRefused) { on_each_refused_call(expect_neutral, GetParam()); }

INSTANTIATE_TEST_SUITE_P(On, Neutral, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
