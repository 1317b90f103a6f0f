// Forks while other threads of the parent are inside the library: whatever lock one of them holds just then stays locked in the child, so
// none may be on the way of the child's calls. GPUMEM_TEST_FORKS says how many forks. When there were such locks, one of the first 10 met one.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

#include "support/contexts.hpp"
#include "support/memory.hpp"
#include "support/random.hpp"
#include "support/sanitizers.hpp"

namespace gpumem_test {
namespace {

constexpr size_t kElements =
    size_t{1} << 18;  // more than malloc() takes of the program's heap, which no call asks about

constexpr int kThreads = 4;  // of a child that come at once

int forks() {
  const char* wanted = std::getenv("GPUMEM_TEST_FORKS");
  return wanted != nullptr ? std::atoi(wanted) : quick_run() ? 15 : 40;
}

gpumem_ctx* make_host_context() {
  gpumem_ctx_options options;
  gpumem_ctx* ctx = nullptr;
  if (gpumem_ctx_options_init(&options, sizeof options) != GPUMEM_OK) return nullptr;
  options.device = GPUMEM_DEVICE_HOST;
  options.host_threads = 2;
  return gpumem_ctx_create(&options, &ctx) == GPUMEM_OK ? ctx : nullptr;
}

void ignore(void*, gpumem_log_level, const char*) {}

// Each of these returns the number of the step that went wrong, and 0 if none did.

int look_pointers_up(gpumem_ctx* ctx, std::vector<int32_t>& x) {
  gpumem_pointer_info info;
  int64_t sum = 0;
  if (gpumem_pointer_info_init(&info, sizeof info) != GPUMEM_OK) return 1;
  for (size_t at = 0; at < 64; ++at) {
    if (gpumem_pointer_query(ctx, &x[at], &info) != GPUMEM_OK) return 2;
    if (gpumem_reduce_i32(ctx, GPUMEM_SUM, &x[at], 16, 1, &sum) != GPUMEM_OK || sum != 16) return 3;
    if (gpumem_copy(ctx, &x[kElements / 2], &x[at], 64) != GPUMEM_OK) return 4;
  }
  return 0;
}

// The shortest calls: a thread that makes many of them is often inside a lock on their way.
int look_own_stack_up(gpumem_ctx* ctx, int times) {
  gpumem_pointer_info info;
  if (gpumem_pointer_info_init(&info, sizeof info) != GPUMEM_OK) return 5;
  for (int i = 0; i < times; ++i) {
    if (gpumem_pointer_query(ctx, &info, &info) != GPUMEM_OK) return 6;
  }
  return 0;
}

int use_memory(gpumem_ctx* ctx, std::vector<int32_t>& x) {
  void* p = nullptr;
  if (gpumem_alloc_pinned(ctx, 1 << 16, &p) != GPUMEM_OK || gpumem_free(ctx, p) != GPUMEM_OK) return 11;
  if (gpumem_alloc_async(ctx, 4000, 256, nullptr, &p) != GPUMEM_OK) return 12;
  if (gpumem_free_async(ctx, p, nullptr) != GPUMEM_OK) return 13;
  if (gpumem_host_register(ctx, x.data(), 4096) != GPUMEM_OK) return 14;
  return gpumem_host_unregister(ctx, x.data()) == GPUMEM_OK ? 0 : 15;
}

int use_streams(gpumem_ctx* ctx, std::vector<int32_t>& x) {
  gpumem_stream* stream = nullptr;
  gpumem_event* event = nullptr;
  const int32_t one = 1;
  int64_t sum = 0;
  if (gpumem_stream_create(ctx, &stream) != GPUMEM_OK || gpumem_event_create(ctx, &event) != GPUMEM_OK) return 21;
  if (gpumem_fill_async(ctx, x.data(), &one, 4, kElements, stream) != GPUMEM_OK) return 22;
  if (gpumem_event_record(ctx, event, stream) != GPUMEM_OK || gpumem_event_synchronize(event) != GPUMEM_OK) return 23;
  if (gpumem_reduce_i32(ctx, GPUMEM_SUM, x.data(), kElements, 1, &sum) != GPUMEM_OK || sum != kElements) return 24;
  if (gpumem_event_destroy(event) != GPUMEM_OK || gpumem_stream_destroy(stream) != GPUMEM_OK) return 25;
  return 0;
}

int make_mistakes(gpumem_ctx* ctx, const void* unmapped) {
  int64_t sum = 0;
  char sentence[256];
  const auto* const x = static_cast<const int32_t*>(unmapped);
  if (gpumem_reduce_i32(ctx, GPUMEM_SUM, x, 4, 1, &sum) != GPUMEM_INVALID_POINTER) return 31;
  if (gpumem_free(ctx, &sum) != GPUMEM_INVALID_POINTER) return 32;
  return gpumem_last_error(sentence, sizeof sentence, nullptr) == GPUMEM_OK && sentence[0] != '\0' ? 0 : 33;
}

// With a block that is left behind, which the log tells of.
int use_a_context(std::vector<int32_t>& x, const void* unmapped) {
  gpumem_ctx* const ctx = make_host_context();
  void* left = nullptr;
  if (ctx == nullptr || gpumem_ctx_set_log(ctx, ignore, nullptr) != GPUMEM_OK) return 41;
  if (gpumem_alloc_pinned(ctx, 5000, &left) != GPUMEM_OK) return 42;
  if (const int step = look_pointers_up(ctx, x); step != 0) return step;
  if (const int step = use_memory(ctx, x); step != 0) return step;
  if (const int step = use_streams(ctx, x); step != 0) return step;
  if (const int step = make_mistakes(ctx, unmapped); step != 0) return step;
  return gpumem_ctx_destroy(ctx) == GPUMEM_OK ? 0 : 43;
}

// Threads that call the library until the end of the scope.
class Load {
 public:
  Load() = default;
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;
  ~Load() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
  }

  // Calls job(ctx, x) again and again in a thread with a context and elements of its own, from now on.
  template <class Job>
  void run(Job job) {
    std::atomic<bool> begun{false};
    threads_.emplace_back([this, &begun, job] {
      std::vector<int32_t> x(kElements, 1);
      const Context ctx(On::host, 2);
      begun = true;
      while (!stop_) ASSERT_EQ(job(ctx, x), 0) << "the parent's step of that number failed";
    });
    while (!begun) std::this_thread::yield();
  }

 private:
  std::atomic<bool> stop_{false};
  std::vector<std::thread> threads_;
};

// What f() returned in a child process; a child that hangs is ended by a signal.
template <class F>
testing::AssertionResult in_child(const F& f) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(30);
    _exit(f());
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return testing::AssertionFailure() << "there is no child";
  if (WIFSIGNALED(status)) return testing::AssertionFailure() << "the child was ended by signal " << WTERMSIG(status);
  if (WEXITSTATUS(status) == 0) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "the child's step " << WEXITSTATUS(status) << " failed";
}

class ForkUnderLoad : public testing::Test {
 protected:
  void SetUp() override {
    if (kSanitized) GTEST_SKIP() << "a sanitizer's run-time can't be relied on to start threads in such a child";
    unmapped_ = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(unmapped_, MAP_FAILED);
  }
  void TearDown() override {
    if (unmapped_ != nullptr) munmap(unmapped_, 4096);
  }

  void* unmapped_ = nullptr;
};

TEST_F(ForkUnderLoad, NoChildHangs) {
  const Context ctx(On::host, 2);
  gpumem_stream* stream = nullptr;
  ASSERT_TRUE(ok(gpumem_stream_create(ctx, &stream)));
  {
    Load load;
    load.run([](gpumem_ctx* own, auto& y) { return look_pointers_up(own, y); });
    load.run([](gpumem_ctx* own, auto& y) { return use_memory(own, y); });
    load.run([this](gpumem_ctx* own, auto& y) { return use_streams(own, y) + make_mistakes(own, unmapped_); });
    load.run([this](gpumem_ctx*, auto& y) { return use_a_context(y, unmapped_); });
    std::vector<int32_t> x(kElements, 1);
    bool sound = true;
    for (int i = 0; sound && i < forks(); ++i) {
      const auto child = [&] {
        int64_t sum = 0;
        if (gpumem_reduce_i32(ctx, GPUMEM_SUM, x.data(), 16, 1, &sum) != GPUMEM_FORKED) return 51;
        if (gpumem_stream_destroy(stream) != GPUMEM_FORKED || gpumem_ctx_destroy(ctx) != GPUMEM_FORKED) return 52;
        return use_a_context(x, unmapped_);
      };
      const testing::AssertionResult ended = in_child(child);
      EXPECT_TRUE(ended) << "fork " << i;
      sound = ended;
    }
  }
  EXPECT_TRUE(ok(gpumem_stream_destroy(stream)));
}

TEST_F(ForkUnderLoad, NoChildHangsInALookUp) {
  Load load;
  for (int i = 0; i < 2; ++i) load.run([](gpumem_ctx* own, auto&) { return look_own_stack_up(own, 10000); });
  bool sound = true;
  for (int i = 0; sound && i < 4 * forks(); ++i) {
    const testing::AssertionResult ended = in_child([] {
      gpumem_ctx* const own = make_host_context();
      return own == nullptr ? 41 : look_own_stack_up(own, 1);
    });
    EXPECT_TRUE(ended) << "fork " << i;
    sound = ended;
  }
}

// Without a driver each search for one ends the same way. A child crashed that searched, too, if it was forked in the midst of one.
TEST_F(ForkUnderLoad, NoChildCrashesInASearchForADriver) {
  int32_t devices = 0;
  ASSERT_TRUE(ok(gpumem_device_count(&devices)));
  if (devices > 0) GTEST_SKIP() << "CUDA does not work in a child of a process that uses it";
  Load load;
  const auto search = [](gpumem_ctx*, auto&) {
    int32_t count = 0;
    return gpumem_device_count(&count) == GPUMEM_OK ? 0 : 61;
  };
  for (int i = 0; i < 2; ++i) load.run(search);
  bool sound = true;
  for (int i = 0; sound && i < 4 * forks(); ++i) {
    const testing::AssertionResult ended = in_child([&] {
      std::vector<int32_t> x(kElements, 1);
      for (int k = 0; k < 3; ++k) {
        if (const int step = search(nullptr, x); step != 0) return step;
        if (const int step = use_a_context(x, unmapped_); step != 0) return step;
      }
      return 0;
    });
    EXPECT_TRUE(ended) << "fork " << i;
    sound = ended;
  }
}

// The library's state is made anew by the first call in a child; several may come at once.
TEST_F(ForkUnderLoad, ThreadsOfAChildFindOneLibrary) {
  const Context ctx(On::host, 2);
  for (int i = 0; i < (quick_run() ? 5 : 20); ++i) {
    ASSERT_TRUE(in_child([&] {
      std::array<gpumem_ctx*, kThreads> shared{};
      std::atomic<int> ready{0};
      std::vector<std::thread> threads;
      for (gpumem_ctx*& own : shared) {
        threads.emplace_back([&ready, &own] {
          ++ready;
          while (ready < kThreads) std::this_thread::yield();
          if (gpumem_shared_ctx(GPUMEM_DEVICE_HOST, &own) != GPUMEM_OK) own = nullptr;
        });
      }
      for (std::thread& thread : threads) thread.join();
      for (gpumem_ctx* const of_thread : shared) {
        if (of_thread == nullptr || of_thread != shared[0] || gpumem_ctx_status(of_thread) != GPUMEM_OK) return 1;
      }
      return gpumem_ctx_status(ctx) == GPUMEM_FORKED ? 0 : 2;
    })) << "fork "
        << i;
  }
}

}  // namespace
}  // namespace gpumem_test
