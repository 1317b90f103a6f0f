// Many threads on one context, the host's threads, and the program's own pool.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "support/contexts.hpp"
#include "support/explain.hpp"
#include "support/memory.hpp"
#include "support/random.hpp"
#include "support/reductions.hpp"

namespace gpumem_test {
namespace {

constexpr int kThreads = 8;

template <class F>
void on_threads(int count, F f) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back([&f, i] { f(i); });
  for (std::thread& thread : threads) thread.join();
}

// One thread's round on a shared context: every value is its own, and is checked.
void round_trip(gpumem_ctx* ctx, int thread, int round) {
  constexpr int64_t kRows = 67, kCols = 129;
  const int64_t n = kRows * kCols + round;
  gpumem_stream* stream = nullptr;
  gpumem_event* event = nullptr;
  ASSERT_TRUE(ok(gpumem_stream_create(ctx, &stream)));
  ASSERT_TRUE(ok(gpumem_event_create(ctx, &event)));
  {
    const gpumem_memory_kind kind = kAllKinds[(thread + round) % 4];
    const Memory x(ctx, kind, n * 4);
    const Memory y(ctx, kind, n * 4);
    const int32_t value = thread * 1000 + round;
    ASSERT_TRUE(ok(gpumem_fill_async(ctx, x.get(), &value, 4, n, stream)));
    ASSERT_TRUE(ok(gpumem_event_record(ctx, event, stream)));
    ASSERT_TRUE(ok(gpumem_event_synchronize(event)));
    int64_t sum = 0;
    ASSERT_TRUE(ok(gpumem_reduce_i32(ctx, GPUMEM_SUM, static_cast<int32_t*>(x.get()), n, 1, &sum)));
    EXPECT_EQ(sum, value * n);
    ASSERT_TRUE(ok(gpumem_transpose(ctx, 4, kRows, kCols, x.get(), kCols, y.get(), kRows)));
    std::vector<int32_t> back(static_cast<size_t>(kRows * kCols));
    ASSERT_TRUE(ok(gpumem_copy_async(ctx, back.data(), y.get(), kRows * kCols * 4, stream)));
    ASSERT_TRUE(ok(gpumem_stream_synchronize(ctx, stream)));
    EXPECT_EQ(back, std::vector<int32_t>(back.size(), value));
    Explained explained;
    ASSERT_TRUE(ok(explain(ctx, last_problem(), explained)));
    EXPECT_NE(explained.variant, "");
    const std::string given = std::to_string(-1000 - thread);
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_copy(ctx, x.get(), y.get(), -1000 - thread), {"bytes", given}));
  }
  EXPECT_TRUE(ok(gpumem_event_destroy(event)));
  EXPECT_TRUE(ok(gpumem_stream_destroy(stream)));
}

class Threads : public OnEachContext {};

TEST_P(Threads, ShareOneContext) {
  const int rounds = quick_run() ? 2 : 12;
  on_threads(kThreads, [&](int thread) {
    for (int round = 0; round < rounds; ++round) round_trip(ctx, thread, round);
  });
  EXPECT_TRUE(ok(gpumem_ctx_status(ctx)));
}

TEST_P(Threads, EachMakeContextsOfTheirOwn) {
  on_threads(4, [&](int thread) {
    for (int round = 0; round < 3; ++round) {
      const Context own(GetParam(), 2);
      round_trip(own, thread, round);
    }
  });
}

// A stream that another thread is destroying still counts: the block is freed after the stream's work.
TEST_P(Threads, FreeWaitsForAStreamThatIsBeingDestroyed) {
  constexpr int64_t kBytes = 16 << 20;
  const Bytes src(kBytes, 7);
  for (int round = 0; round < (quick_run() ? 4 : 20); ++round) {
    void* p = nullptr;
    ASSERT_TRUE(ok(gpumem_alloc_pinned(ctx, kBytes, &p)));
    gpumem_stream* stream = nullptr;
    ASSERT_TRUE(ok(gpumem_stream_create(ctx, &stream)));
    for (int i = 0; i < 4; ++i) ASSERT_TRUE(ok(gpumem_copy_async(ctx, p, src.data(), kBytes, stream)));
    std::thread destroying([&] { EXPECT_TRUE(ok(gpumem_stream_destroy(stream))); });
    EXPECT_TRUE(ok(gpumem_free(ctx, p)));
    destroying.join();
  }
}

TEST_P(Threads, EachAllocateAndFreeManyBlocks) {
  on_threads(kThreads, [&](int thread) {
    Random random(static_cast<uint64_t>(thread));
    std::vector<void*> blocks;
    for (int i = 0; i < (quick_run() ? 20 : 200); ++i) {
      void* p = nullptr;
      ASSERT_TRUE(ok(gpumem_alloc_device(ctx, random.between(1, 20000), &p)));
      blocks.push_back(p);
      if (random.below(2) == 0) {
        const size_t at = random.below(blocks.size());
        EXPECT_TRUE(ok(gpumem_free(ctx, blocks[at])));
        blocks.erase(blocks.begin() + static_cast<ptrdiff_t>(at));
      }
    }
    for (void* p : blocks) EXPECT_TRUE(ok(gpumem_free(ctx, p)));
  });
  const gpumem_memory_stats_info stats = stats_of(ctx);
  EXPECT_EQ(stats.device_bytes, 0);
  EXPECT_EQ(stats.allocations, stats.frees);
}

TEST_P(Threads, MayForceVariantsWhileOthersWork) {
  const std::vector<int32_t> x(5000, 3);
  std::atomic<bool> stop{false};
  std::thread forcing([&] {
    int32_t count = 0;
    EXPECT_TRUE(ok(gpumem_variant_count(GPUMEM_FAMILY_REDUCE, &count)));
    for (int32_t i = 0; !stop; i = (i + 1) % count) {
      const char* name = nullptr;
      EXPECT_TRUE(ok(gpumem_variant_name(GPUMEM_FAMILY_REDUCE, i, &name)));
      EXPECT_TRUE(ok(gpumem_variant_force(ctx, GPUMEM_FAMILY_REDUCE, name)));
    }
  });
  on_threads(3, [&](int) {
    for (int i = 0; i < 300; ++i) {
      int64_t sum = 15000;
      const gpumem_status status = gpumem_reduce_i32(ctx, GPUMEM_SUM, x.data(), 5000, 1, &sum);
      EXPECT_TRUE(status == GPUMEM_OK || status == GPUMEM_UNSUPPORTED) << gpumem_status_name(status);
      EXPECT_EQ(sum, 15000);
    }
  });
  stop = true;
  forcing.join();
}

INSTANTIATE_TEST_SUITE_P(On, Threads, testing::ValuesIn(contexts_here()), OnEachContext::name);

// The results of every operation over one random input, on a context with some number of threads or some pool.
struct Results {
  std::vector<Outcome> reduced;
  Bytes transposed;
  bool operator==(const Results&) const = default;
};

Results results_of(gpumem_ctx* ctx, const std::vector<int32_t>& x) {
  constexpr int64_t kRows = 1031, kCols = 1021;
  Results results{};
  for (const gpumem_dtype dtype : {GPUMEM_I32, GPUMEM_F32, GPUMEM_BF16, GPUMEM_U8}) {
    for (const gpumem_reduce_op op : kAllOps) {
      if (has(dtype, op)) {
        const Reduction r{dtype, op, x.data(), static_cast<int64_t>(x.size()), 1, x.data(), 1};
        results.reduced.push_back(outcome_of(ctx, r));
      }
    }
  }
  results.transposed.resize(kRows * kCols * 4);
  EXPECT_TRUE(ok(gpumem_transpose(ctx, 4, kRows, kCols, x.data(), kCols, results.transposed.data(), kRows)));
  return results;
}

std::vector<int32_t> small_numbers(size_t n) {
  Random random;
  std::vector<int32_t> x(n);
  for (int32_t& value : x) value = static_cast<int32_t>(random.between(-1000, 1000));
  return x;
}

TEST(HostThreads, AnyNumberGivesTheSameResults) {
  const std::vector<int32_t> x = small_numbers(3000017);
  const Context one(On::host, 1);
  const Results expected = results_of(one, x);
  for (const int32_t threads : {1, 2, 3, 7}) {
    const Context ctx(On::host, threads);
    gpumem_device_info info;
    ASSERT_TRUE(ok(gpumem_device_info_init(&info, sizeof info)));
    ASSERT_TRUE(ok(gpumem_ctx_device(ctx, &info)));
    EXPECT_EQ(info.multiprocessors, threads);
    EXPECT_TRUE(results_of(ctx, x) == expected) << threads << " threads";
  }
}

// A pool that starts a thread for each task, last task first, and counts.
struct CountingPool {
  std::mutex mutex;
  int64_t calls = 0;
  int64_t tasks = 0;
  std::set<std::thread::id> threads;

  static void run(void* user, int64_t tasks, gpumem_task_fn task, void* task_state) {
    auto& pool = *static_cast<CountingPool*>(user);
    {
      const std::lock_guard<std::mutex> lock(pool.mutex);
      ++pool.calls;
      pool.tasks += tasks;
    }
    std::vector<std::thread> workers;
    for (int64_t i = tasks - 1; i >= 0; --i) {
      workers.emplace_back([&pool, task, task_state, i] {
        task(task_state, i);
        const std::lock_guard<std::mutex> lock(pool.mutex);
        pool.threads.insert(std::this_thread::get_id());
      });
    }
    for (std::thread& worker : workers) worker.join();
  }
};

TEST(HostThreads, TheProgramsPoolDoesTheWork) {
  const std::vector<int32_t> x = small_numbers(3000017);
  const Context plain(On::host, 1);
  const Results expected = results_of(plain, x);
  CountingPool pool;
  gpumem_ctx_options options = options_for(On::host, 5);
  options.parallel_for = CountingPool::run;
  options.parallel_for_user = &pool;
  const Context ctx(options);
  EXPECT_TRUE(results_of(ctx, x) == expected);
  EXPECT_GT(pool.calls, 0);
  EXPECT_GT(pool.tasks, pool.calls) << "no call had work for more than one thread";
  // The pool's callback must work from several threads at once.
  on_threads(4, [&](int) { EXPECT_TRUE(results_of(ctx, x) == expected); });
}

// Pools that do not keep to the header. Those that return early leave threads that call their task later.
struct CarelessPool {
  enum Fault { leaves_all_out, leaves_half_out, repeats, leaves_the_range, returns_early };
  static constexpr Fault kFaults[] = {leaves_all_out, leaves_half_out, repeats, leaves_the_range, returns_early};

  Fault fault;
  std::mutex mutex;
  std::vector<std::thread> late;

  explicit CarelessPool(Fault kind) : fault(kind) {}
  ~CarelessPool() {
    for (std::thread& thread : late) thread.join();
  }

  static void run(void* user, int64_t tasks, gpumem_task_fn task, void* task_state) {
    auto& pool = *static_cast<CarelessPool*>(user);
    if (pool.fault == returns_early) {
      const std::lock_guard<std::mutex> lock(pool.mutex);
      for (int64_t i = 0; i < 3; ++i) {
        pool.late.emplace_back([tasks, task, task_state, i] {
          for (int64_t at = i; at < tasks; at += 3) task(task_state, at);
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
          for (int64_t at = i; at < tasks; at += 3) task(task_state, at);
        });
      }
      return;
    }
    if (pool.fault == leaves_the_range) {
      for (const int64_t i : {int64_t{-1}, tasks, tasks + 64, INT64_MIN, INT64_MAX}) task(task_state, i);
    }
    const int64_t step = pool.fault == leaves_half_out ? 2 : 1;
    for (int round = pool.fault == leaves_all_out ? 2 : 0; round < 2; ++round) {
      for (int64_t i = 0; i < tasks; i += step) task(task_state, i);
    }
  }
};

TEST(HostThreads, APoolThatIsCarelessGivesTheSameResults) {
  const std::vector<int32_t> x = small_numbers(3000017);
  const Context plain(On::host, 1);
  const Results expected = results_of(plain, x);
  for (const CarelessPool::Fault fault : CarelessPool::kFaults) {
    CarelessPool pool(fault);
    gpumem_ctx_options options = options_for(On::host, 5);
    options.parallel_for = CarelessPool::run;
    options.parallel_for_user = &pool;
    const Context ctx(options);
    EXPECT_TRUE(results_of(ctx, x) == expected) << "fault " << fault;
  }
}

// The program's mistake, of which the other thread learns by a status.
TEST(Threads, AStreamThatIsDestroyedInUseIsAStatus) {
  const Context ctx(On::host);
  std::vector<int32_t> x(64);
  for (int round = 0; round < 200; ++round) {
    gpumem_stream* stream = nullptr;
    ASSERT_TRUE(ok(gpumem_stream_create(ctx, &stream)));
    std::atomic<bool> started{false};
    gpumem_status last = GPUMEM_OK;
    std::thread user([&] {
      const int32_t value = round;
      while (last == GPUMEM_OK) {
        last = gpumem_fill_async(ctx, x.data(), &value, 4, 64, stream);
        started = true;
      }
    });
    while (!started) std::this_thread::yield();
    EXPECT_TRUE(ok(gpumem_stream_destroy(stream)));
    user.join();
    EXPECT_TRUE(gives(GPUMEM_INVALID_HANDLE, last));
  }
}

}  // namespace
}  // namespace gpumem_test
