// The library takes nothing of the process over: it prints nothing, installs no signal handler, lets no signal reach
// its threads, and leaves no thread or descriptor behind.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "support/contexts.hpp"
#include "support/memory.hpp"
#include "support/sanitizers.hpp"

namespace gpumem_test {
namespace {

// Work that uses threads, and mistakes of many kinds.
void use_the_library(On on) {
  gpumem_ctx_options options = options_for(on, 3);
  gpumem_ctx* ctx = nullptr;
  gpumem_ctx_create(&options, &ctx);
  void* p = nullptr;
  gpumem_alloc_pinned(ctx, int64_t{16} << 20, &p);
  int32_t one = 1;
  gpumem_stream* stream = nullptr;
  gpumem_stream_create(ctx, &stream);
  gpumem_fill_async(ctx, p, &one, sizeof one, int64_t{4} << 20, stream);
  gpumem_stream_synchronize(ctx, stream);
  int64_t sum = 0;
  gpumem_reduce_i32(ctx, GPUMEM_SUM, static_cast<const int32_t*>(p), int64_t{4} << 20, 1, &sum);
  EXPECT_EQ(sum, int64_t{4} << 20);
  gpumem_reduce_i32(ctx, 99, nullptr, -1, 0, nullptr);
  gpumem_copy(ctx, p, reinterpret_cast<const void*>(uintptr_t{64}), 8);
  gpumem_free(ctx, &one);
  gpumem_ctx_destroy(ctx);  // refused: the stream is alive
  gpumem_stream_destroy(stream);
  gpumem_ctx_destroy(ctx);  // p leaks, and no log is set
  gpumem_ctx_synchronize(ctx);
}

// Standard output and standard error go to a file while this lives.
class CapturedOutput {
 public:
  CapturedOutput() {
    std::fflush(nullptr);
    file_ = std::tmpfile();
    for (int i = 0; i < 2; ++i) {
      kept_[i] = dup(i + 1);
      dup2(fileno(file_), i + 1);
    }
  }
  CapturedOutput(const CapturedOutput&) = delete;
  CapturedOutput& operator=(const CapturedOutput&) = delete;
  ~CapturedOutput() { std::fclose(file_); }

  // Puts both back and returns what was written.
  std::string end() {
    std::fflush(nullptr);
    for (int i = 0; i < 2; ++i) {
      dup2(kept_[i], i + 1);
      close(kept_[i]);
    }
    std::string text;
    std::rewind(file_);
    for (int c = std::fgetc(file_); c != EOF; c = std::fgetc(file_)) text += static_cast<char>(c);
    return text;
  }

 private:
  FILE* file_;
  int kept_[2];
};

class Quiet : public testing::TestWithParam<On> {};

TEST_P(Quiet, PrintsNothing) {
  CapturedOutput output;
  use_the_library(GetParam());
  EXPECT_EQ(output.end(), "");
}

TEST_P(Quiet, LeavesSignalHandlersAlone) {
  const auto handlers = [] {
    std::vector<void (*)(int)> all;
    for (int signal = 1; signal < NSIG; ++signal) {
      struct sigaction action {};
      if (sigaction(signal, nullptr, &action) == 0) all.push_back(action.sa_handler);
    }
    return all;
  };
  const auto before = handlers();
  use_the_library(GetParam());
  EXPECT_EQ(handlers(), before);
}

size_t entries_of(const char* folder) {
  size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++count;
  return count;
}

INSTANTIATE_TEST_SUITE_P(On, Quiet, testing::ValuesIn(contexts_here()), OnEachContext::name);

TEST(QuietHost, LeavesNoThreadAndNoDescriptorBehind) {
  use_the_library(On::host);
  const size_t threads = entries_of("/proc/self/task");
  const size_t descriptors = entries_of("/proc/self/fd");
  for (int i = 0; i < 20; ++i) use_the_library(On::host);
  // After its end, a thread may remain in the list for a moment.
  for (int tries = 0; tries < 5000 && entries_of("/proc/self/task") > threads; ++tries) usleep(1000);
  EXPECT_LE(entries_of("/proc/self/task"), threads);
  EXPECT_LE(entries_of("/proc/self/fd"), descriptors);
}

// The mask of blocked signals of a thread, as the kernel tells it.
uint64_t blocked_signals(const std::filesystem::path& task) {
  std::ifstream status(task / "status");
  for (std::string line; std::getline(status, line);) {
    uint64_t mask = 0;
    if (std::sscanf(line.c_str(), "SigBlk: %" SCNx64, &mask) == 1) return mask;
  }
  return ~uint64_t{0};  // the thread has ended
}

TEST(QuietHost, ItsThreadsBlockEverySignal) {
  if (kThreadSanitizer) GTEST_SKIP() << "the thread sanitizer has a thread of its own that blocks nothing";
  std::vector<std::string> before;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) before.push_back(task.path());
  const Context ctx(On::host, 4);
  ASSERT_TRUE(ok(gpumem_ctx_warmup(ctx)));
  const Memory memory(ctx, GPUMEM_MEMORY_PINNED, int64_t{64} << 20);
  const char zero = 0;
  ASSERT_TRUE(ok(gpumem_fill_async(ctx, memory.get(), &zero, 1, int64_t{64} << 20, nullptr)));
  ASSERT_TRUE(ok(gpumem_ctx_synchronize(ctx)));
  size_t seen = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    if (std::find(before.begin(), before.end(), task.path()) != before.end()) continue;
    uint64_t mask = blocked_signals(task.path());
    // A thread blocks every signal for a moment when it begins and when it ends.
    for (int tries = 0; tries < 30000 && (mask & (uint64_t{1} << (SIGSEGV - 1))) != 0 && mask != ~uint64_t{0};
         ++tries) {
      usleep(1000);
      mask = blocked_signals(task.path());
    }
    if (mask == ~uint64_t{0}) continue;  // it has ended
    ++seen;
    for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGPIPE, SIGALRM, SIGTERM, SIGCHLD, SIGPROF}) {
      EXPECT_NE(mask & (uint64_t{1} << (signal - 1)), 0u) << "a thread of the library takes " << strsignal(signal);
    }
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) {
      EXPECT_EQ(mask & (uint64_t{1} << (signal - 1)), 0u)
          << "a handler of the program would not learn of " << strsignal(signal);
    }
  }
  EXPECT_GE(seen, 1u) << "there was no thread to look at";
}

}  // namespace
}  // namespace gpumem_test
