// Streams of the host share threads: as few as were asked for, and more only while the program's own code holds them up.
#include <gtest/gtest.h>

#include <unistd.h>

#include <array>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <iterator>
#include <mutex>
#include <thread>
#include <vector>

#include "api/queue_handles.hpp"
#include "support/contexts.hpp"
#include "support/memory.hpp"

namespace gpumem_test {
namespace {

constexpr int32_t kThreads = 2;  // of each context here
constexpr size_t kPerContext = kThreads;

size_t threads_now() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return static_cast<size_t>(std::distance(begin(tasks), end(tasks)));
}

TEST(StreamWorkers, AreNoMoreForManyStreams) {
  constexpr int64_t kStreams = 2000;
  const Context ctx(On::host, kThreads);
  const size_t before = threads_now();
  std::deque<Stream> streams;
  std::vector<std::array<int32_t, 16>> filled(kStreams);
  for (int64_t i = 0; i < kStreams; ++i) {
    streams.emplace_back(ctx);
    const auto pattern = static_cast<int32_t>(i + 1);
    ASSERT_TRUE(ok(gpumem_fill_async(ctx, filled[static_cast<size_t>(i)].data(), &pattern, 4, 16, streams.back())));
  }
  for (const Stream& stream : streams) ASSERT_TRUE(ok(gpumem_stream_synchronize(ctx, stream)));
  EXPECT_LE(threads_now(), before + kPerContext);
  for (int64_t i = 0; i < kStreams; ++i) {
    std::array<int32_t, 16> expected{};
    expected.fill(static_cast<int32_t>(i + 1));
    ASSERT_EQ(filled[static_cast<size_t>(i)], expected) << "stream " << i;
  }
}

// A program's pool, whose calls wait for one another, so many at a time.
class Meeting {
 public:
  explicit Meeting(int expected) : expected_(expected) {}

  gpumem_ctx_options options() {
    gpumem_ctx_options options = options_for(On::host, kThreads);
    options.parallel_for = come;
    options.parallel_for_user = this;
    return options;
  }
  int met() const { return met_; }  // calls that saw the others come

 private:
  // A bound for a library that keeps the others from coming.
  static constexpr std::chrono::seconds kPatience{60};

  static void come(void* user, int64_t tasks, gpumem_task_fn task, void* task_state) {
    Meeting& meeting = *static_cast<Meeting*>(user);
    {
      std::unique_lock<std::mutex> lock(meeting.mutex_);
      const int enough = (meeting.come_ / meeting.expected_ + 1) * meeting.expected_;
      ++meeting.come_;
      meeting.changed_.notify_all();
      const auto all_are_here = [&meeting, enough] { return meeting.come_ >= enough; };
      if (meeting.changed_.wait_for(lock, kPatience, all_are_here)) ++meeting.met_;
    }
    for (int64_t i = 0; i < tasks; ++i) task(task_state, i);
  }

  const int expected_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int come_ = 0;
  int met_ = 0;
};

TEST(StreamWorkers, ComeInForThoseThatTheProgramsPoolHoldsUpAndGoAgain) {
  constexpr int kStreams = 7;
  constexpr int64_t kBytes = int64_t{8} << 20;  // enough to be shared out
  Meeting meeting(kStreams);
  const Context ctx(meeting.options());
  const size_t before = threads_now();
  std::deque<Stream> streams;
  std::vector<Bytes> filled(kStreams, Bytes(kBytes));
  for (int round = 1; round <= 2; ++round) {
    for (auto& bytes : filled) {
      streams.emplace_back(ctx);
      const auto pattern = static_cast<char>(round);
      ASSERT_TRUE(ok(gpumem_fill_async(ctx, bytes.data(), &pattern, 1, kBytes, streams.back())));
    }
    for (const Stream& stream : streams) ASSERT_TRUE(ok(gpumem_stream_synchronize(ctx, stream)));
    EXPECT_EQ(meeting.met(), round * kStreams);
    for (const auto& bytes : filled) EXPECT_EQ(bytes, Bytes(kBytes, static_cast<unsigned char>(round)));
    for (int tries = 0; tries < 30000 && threads_now() > before + kPerContext; ++tries) usleep(1000);
    EXPECT_LE(threads_now(), before + kPerContext);
  }
}

// A program's pool, whose first call stays until it may go.
class HeldPool {
 public:
  HeldPool() {
    options.parallel_for = come;
    options.parallel_for_user = this;
  }
  bool wait_until_held() {
    std::unique_lock<std::mutex> lock(mutex_);
    return changed_.wait_for(lock, kPatience, [this] { return calls_ > 0; });
  }
  bool wait_for_another() {
    std::unique_lock<std::mutex> lock(mutex_);
    return changed_.wait_for(lock, kPatience, [this] { return calls_ > 1; });
  }
  void let_go() {
    const std::lock_guard<std::mutex> lock(mutex_);
    may_go_ = true;
    changed_.notify_all();
  }

  gpumem_ctx_options options = options_for(On::host, 1);

 private:
  static constexpr std::chrono::seconds kPatience{60};

  static void come(void* user, int64_t tasks, gpumem_task_fn task, void* task_state) {
    HeldPool& pool = *static_cast<HeldPool*>(user);
    {
      std::unique_lock<std::mutex> lock(pool.mutex_);
      const bool first = pool.calls_++ == 0;
      pool.changed_.notify_all();
      if (first) pool.changed_.wait_for(lock, kPatience, [&pool] { return pool.may_go_; });
    }
    for (int64_t i = 0; i < tasks; ++i) task(task_state, i);
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  int calls_ = 0;
  bool may_go_ = false;
};

constexpr int64_t kLarge = int64_t{1} << 22;  // elements for which the pool is called

TEST(StreamWorkers, WaitForABlockingCallWithoutHoldingUpOtherStreams) {
  HeldPool pool;
  const Context ctx(pool.options);
  const Stream other(ctx);
  std::vector<float> a(kLarge);
  std::vector<float> b(16);
  std::vector<float> c(kLarge);
  const float one = 1;
  std::thread blocking([&] { EXPECT_TRUE(ok(gpumem_fill(ctx, a.data(), &one, 4, kLarge))); });
  EXPECT_TRUE(pool.wait_until_held());
  EXPECT_TRUE(ok(gpumem_fill_async(ctx, b.data(), &one, 4, 16, nullptr)));  // the one worker comes to wait
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_TRUE(ok(gpumem_fill_async(ctx, c.data(), &one, 4, kLarge, other)));
  EXPECT_TRUE(pool.wait_for_another());
  pool.let_go();
  blocking.join();
  EXPECT_TRUE(ok(gpumem_ctx_synchronize(ctx)));
  EXPECT_EQ(b[15] + c[kLarge - 1], 2);
}

TEST(StreamWorkers, ABlockingCallOfAnotherThreadIsWorkOfTheStream) {
  HeldPool pool;
  const Context ctx(pool.options);
  const Event event(ctx);
  std::vector<float> a(kLarge);
  const float one = 1;
  std::thread blocking([&] { EXPECT_TRUE(ok(gpumem_fill(ctx, a.data(), &one, 4, kLarge))); });
  EXPECT_TRUE(pool.wait_until_held());
  EXPECT_TRUE(ok(gpumem_event_record(ctx, event, nullptr)));
  EXPECT_TRUE(gives(GPUMEM_NOT_READY, gpumem_stream_query(ctx, nullptr)));
  std::thread waiting([&] {
    EXPECT_TRUE(ok(gpumem_event_synchronize(event)));
    EXPECT_TRUE(ok(gpumem_ctx_synchronize(ctx)));
    EXPECT_EQ(a[kLarge - 1], 1);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  pool.let_go();
  waiting.join();
  blocking.join();
  EXPECT_TRUE(ok(gpumem_stream_query(ctx, nullptr)));
}

}  // namespace
}  // namespace gpumem_test
