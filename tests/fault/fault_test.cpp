// Every request for memory, a mapping or a thread is refused in turn, once and for good: each gives a status, nothing
// crashes, and nothing is kept. Each number is tried in a process of its own, so that a crash names it.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "fault/resources.hpp"
#include "fault/scenario.hpp"
#include "support/random.hpp"

namespace gpumem_test {
namespace {

enum Outcome : int { kNothingRefused = 0, kRefused = 1, kFailed = 2 };

// Writes to the parent without asking for memory.
Outcome complain(int pipe, const char* what, const Verdict& verdict) {
  char line[256];
  const int length =
      std::snprintf(line, sizeof line, "%s: %s gave %s", what, verdict.call, gpumem_status_name(verdict.status));
  if (write(pipe, line, static_cast<size_t>(length)) != length) return kFailed;
  return kFailed;
}

Outcome complain_of_leak(int pipe, const Held& before, const Held& after) {
  char line[256];
  const int length = std::snprintf(line, sizeof line, "kept %lld blocks and %lld mapped bytes",
                                   static_cast<long long>(after.blocks - before.blocks),
                                   static_cast<long long>(after.mapped_bytes - before.mapped_bytes));
  if (write(pipe, line, static_cast<size_t>(length)) != length) return kFailed;
  return kFailed;
}

// The child's part. With `warm`, the library has been used before, so that whatever it keeps for good is there already.
Outcome try_one(int64_t number, Refuse mode, bool warm, int pipe) {
  for (int i = 0; warm && i < 2; ++i) {
    if (const Verdict verdict = run_scenario(); verdict.call != nullptr) return complain(pipe, "before", verdict);
  }
  const Held before = held_now();
  refuse_request(number, mode);
  const Verdict verdict = run_scenario();
  const int64_t refused = refuse_nothing();
  if (verdict.call != nullptr) return complain(pipe, "refused", verdict);
  if (warm && held_now() != before) return complain_of_leak(pipe, before, held_now());
  const Verdict after = run_scenario();
  if (after.call != nullptr || after.failed_calls != 0) return complain(pipe, "afterwards", after);
  return refused == 0 ? kNothingRefused : kRefused;
}

class Fault : public testing::Test {
 protected:
  // The child's outcome, or kFailed with a failure of the test.
  static Outcome in_child(int64_t number, Refuse mode, bool warm) {
    int ends[2];
    if (pipe(ends) != 0) return kFailed;
    const pid_t child = fork();
    if (child == 0) {
      alarm(120);
      _exit(try_one(number, mode, warm, ends[1]));
    }
    close(ends[1]);
    char line[256] = {};
    const ssize_t length = read(ends[0], line, sizeof line - 1);
    close(ends[0]);
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status)) << "request " << number << ": ended by signal " << WTERMSIG(status);
    EXPECT_LE(length, 0) << "request " << number << ": " << line;
    return WIFEXITED(status) ? static_cast<Outcome>(WEXITSTATUS(status)) : kFailed;
  }

  static void refuse_each_in_turn(Refuse mode, bool warm) {
    const int64_t step = quick_run() ? 7 : 1;
    int failures = 0;
    for (int64_t number = 0; number < 20000; number += step) {
      const Outcome outcome = in_child(number, mode, warm);
      if (outcome == kNothingRefused) {
        std::printf("the scenario makes %lld requests or a few less\n", static_cast<long long>(number));
        EXPECT_GT(number, 20) << "the requests do not come through the test";
        return;
      }
      if (outcome == kFailed && ++failures >= 10) FAIL() << "and so on";
    }
    FAIL() << "the requests do not end";
  }
};

TEST_F(Fault, NothingIsRefusedAndNothingKept) { EXPECT_EQ(in_child(INT64_MAX, Refuse::once, true), kNothingRefused); }

TEST_F(Fault, EachRequestOnce) { refuse_each_in_turn(Refuse::once, true); }

TEST_F(Fault, EachRequestAndAllAfterIt) { refuse_each_in_turn(Refuse::from_then_on, true); }

TEST_F(Fault, EachRequestOfTheFirstUseOnce) { refuse_each_in_turn(Refuse::once, false); }

TEST_F(Fault, EachRequestOfTheFirstUseAndAllAfterIt) { refuse_each_in_turn(Refuse::from_then_on, false); }

}  // namespace
}  // namespace gpumem_test
