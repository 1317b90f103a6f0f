// Every request for memory, a mapping, a thread or a file, or every call of CUDA on the emulated device, is refused in turn, once and
// for good: each gives a status, nothing crashes, and nothing is kept. Each number is tried in a process of its own, so that a crash names it.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "fault/resources.hpp"
#include "fault/scenario.hpp"
#include "support/random.hpp"

namespace gpumem_test {
namespace {

enum Outcome : int { kNothingRefused = 0, kRefused = 1, kFailed = 2, kRefusedForGood = 3 };

// Writes to the parent without asking for memory.
Outcome complain(int pipe, const char* what, const Verdict& verdict) {
  char line[600];
  const int length =
      std::snprintf(line, sizeof line, "%s (%s): %s gave %s: %s", what, first_refused() ? first_refused() : "nothing",
                    verdict.call, gpumem_status_name(verdict.status), verdict.sentence);
  if (write(pipe, line, static_cast<size_t>(length)) != length) return kFailed;
  return kFailed;
}

Outcome complain_of_leak(int pipe, const Held& before, const Held& after) {
  char line[256];
  const int length = std::snprintf(line, sizeof line, "%s was refused: kept %lld blocks and %lld bytes",
                                   first_refused(), static_cast<long long>(after.blocks - before.blocks),
                                   static_cast<long long>(after.mapped_bytes - before.mapped_bytes));
  if (write(pipe, line, static_cast<size_t>(length)) != length) return kFailed;
  return kFailed;
}

// What can't be freed stays.
bool frees(const char* request) {
  return std::strstr(request, "Free") != nullptr || std::strstr(request, "Destroy") != nullptr ||
         std::strstr(request, "Unregister") != nullptr;
}

Setting calm(Setting setting) {
  setting.lost = false;
  return setting;
}

// What is held now. If more is mapped than before, a run in which nothing is refused gives back what could not be waited for.
Held settled(const Refusal& refusal, const Held& before) {
  if (held_now().mapped_bytes != before.mapped_bytes) run_scenario(calm(refusal.setting));
  return held_now();
}

// What is lost is lost in each of several batches of runs. How many freed addresses the library remembers depends on which ones the system
// gives again: about 10 blocks more after some batch, and few after the others. A number is not the same request in each run, because threads
// make requests. What stays because a request to free it was refused does not count.
bool goes_on(const Refusal& refusal, int64_t number, Refuse mode, const Held& before) {
  constexpr int kBatches = 5, kTimes = 16;
  Held unfreed{0, 0};
  Held now = settled(refusal, before);
  Held lost{0, 0};
  for (int batch = 0; batch < kBatches; ++batch) {
    for (int i = 0; i < kTimes; ++i) {
      refuse_request(refusal, number, mode);
      run_scenario(refusal.setting);
      const bool stays = refuse_nothing() > 0 && frees(first_refused());
      const Held last = std::exchange(now, settled(refusal, now));
      if (stays) unfreed = unfreed + now - last;
    }
    const Held before_batch = std::exchange(lost, now - unfreed);
    if (batch > 0 && lost.blocks - before_batch.blocks <= kTimes / 2 && lost.mapped_bytes == before.mapped_bytes)
      return false;
  }
  return true;
}

Outcome try_one(const Refusal& refusal, int64_t number, Refuse mode, bool warm, int pipe) {
  const Held before = held_now();
  refuse_request(refusal, number, mode);
  const Verdict verdict = run_scenario(refusal.setting);
  const int64_t refused = refuse_nothing();
  if (verdict.call != nullptr) return complain(pipe, "refused", verdict);
  if (refused > 0 && (refusal.setting.lost || frees(first_refused()))) return kRefusedForGood;
  if (warm && held_now() != before && goes_on(refusal, number, mode, before)) {
    return complain_of_leak(pipe, before, held_now());
  }
  const Verdict after = run_scenario(calm(refusal.setting));
  if (after.call != nullptr || after.failed_calls != 0) return complain(pipe, "afterwards", after);
  return refused == 0 ? kNothingRefused : kRefused;
}

// The child's part. With `warm`, the library has been used before, so whatever it keeps for good is there already.
// Otherwise each number has its own process. number: the one that is being tried, and in the end the next one.
Outcome try_some(const Refusal& refusal, int64_t& number, int64_t step, Refuse mode, bool warm, int pipe) {
  constexpr int kSome = 4;
  if (warm) keep_stacks();
  for (int i = 0; warm && i < 2; ++i) {
    const Verdict verdict = run_scenario(calm(refusal.setting));
    if (verdict.call != nullptr) return complain(pipe, "before", verdict);
  }
  Outcome outcome = kRefused;
  for (int i = 0; i < (warm ? kSome : 1) && outcome == kRefused; ++i, number += step) {
    alarm(120);
    outcome = try_one(refusal, number, mode, warm, pipe);
  }
  return outcome;
}

class Fault : public testing::TestWithParam<size_t> {
 protected:
  static void SetUpTestSuite() {
    void* const shared = mmap(nullptr, sizeof(int64_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(shared, MAP_FAILED);
    number_ = static_cast<int64_t*>(shared);
  }

  // The outcome of the last number that a child tried, from *number_ on; or kFailed with a failure of the test.
  static Outcome in_child(int64_t step, Refuse mode, bool warm) {
    int ends[2];
    if (pipe(ends) != 0) return kFailed;
    const int64_t first = *number_;
    const pid_t child = fork();
    if (child == 0) {
      alarm(120);
      _exit(try_some(refusals()[GetParam()], *number_, step, mode, warm, ends[1]));
    }
    close(ends[1]);
    char line[600] = {};
    const ssize_t length = read(ends[0], line, sizeof line - 1);
    close(ends[0]);
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    const bool ended = WIFEXITED(status) && WEXITSTATUS(status) <= kRefusedForGood;
    const bool moved = *number_ != first;
    const int64_t number = ended && moved ? *number_ - step : *number_;
    EXPECT_TRUE(ended) << "request " << number << ": ended with wait status " << status;
    EXPECT_LE(length, 0) << "request " << number << ": " << line;
    if (!moved || !ended) *number_ += step;
    const auto outcome = ended ? static_cast<Outcome>(WEXITSTATUS(status)) : kFailed;
    if (outcome != kNothingRefused || number == first) return outcome;
    *number_ = number;  // the end is believed where nothing was refused before
    return kRefused;
  }

  // GPUMEM_FAULT_SHARE=2/8 takes the third of eight shares of the numbers.
  static void refuse_each_in_turn(Refuse mode, bool warm) {
    long long first = 0, step = quick_run() ? refusals()[GetParam()].quick_step : 1;
    if (const char* share = std::getenv("GPUMEM_FAULT_SHARE")) {
      ASSERT_EQ(std::sscanf(share, "%lld/%lld", &first, &step), 2) << "GPUMEM_FAULT_SHARE is '" << share << "'";
    }
    int failures = 0;
    for (*number_ = first; *number_ < 20000;) {
      const Outcome outcome = in_child(step, mode, warm);
      if (outcome == kNothingRefused) {
        const int64_t number = *number_ - step;
        std::printf("the scenario makes %lld requests or a few less\n", static_cast<long long>(number));
        EXPECT_GT(number, 20) << "the requests do not come through the test";
        return;
      }
      if (outcome == kFailed && ++failures >= 10) FAIL() << "and so on";
    }
    FAIL() << "the requests do not end";
  }

  inline static int64_t* number_ = nullptr;  // shared with the children
};

TEST_P(Fault, NothingIsRefusedAndNothingKept) {
  *number_ = INT64_MAX / 2;
  EXPECT_EQ(in_child(1, Refuse::once, true), kNothingRefused);
}

TEST_P(Fault, EachRequestOnce) { refuse_each_in_turn(Refuse::once, true); }

TEST_P(Fault, EachRequestAndAllAfterIt) { refuse_each_in_turn(Refuse::from_then_on, true); }

TEST_P(Fault, EachRequestOfTheFirstUseOnce) { refuse_each_in_turn(Refuse::once, false); }

TEST_P(Fault, EachRequestOfTheFirstUseAndAllAfterIt) { refuse_each_in_turn(Refuse::from_then_on, false); }

INSTANTIATE_TEST_SUITE_P(Of, Fault, testing::Range(size_t{0}, refusals().size()),
                         [](const auto& of) { return std::string(refusals()[of.param].name); });

}  // namespace
}  // namespace gpumem_test
