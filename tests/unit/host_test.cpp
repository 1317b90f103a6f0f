// The host backend's parts: every instruction set computes the same, the probes tell the truth, queues keep order.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>

#include "backend/host/elements.hpp"
#include "backend/host/host_queue.hpp"
#include "backend/host/loops.hpp"
#include "backend/host/worker_pool.hpp"

namespace gpumem {
namespace {

std::vector<const Loops*> all_loops() {
  std::vector<const Loops*> loops;
  for (const char* limit : {"base", "avx2", "avx512"}) {
    const Loops* found = &host_loops(limit);
    if (loops.empty() || loops.back() != found) loops.push_back(found);
  }
  return loops;
}

TEST(Loops, FillKeepsThePatternsPhaseAtEveryAddress) {
  unsigned char word[16];
  for (int i = 0; i < 16; ++i) word[i] = static_cast<unsigned char>(i + 1);
  for (const Loops* loops : all_loops()) {
    for (const bool stream : {false, true}) {
      for (int offset = 0; offset < 70; ++offset) {
        for (const int64_t bytes : {1, 15, 16, 63, 129, 200, 1000}) {
          std::vector<char> buffer(1200, 'x');
          loops->moves.fill(buffer.data() + offset, bytes, word, stream);
          for (int64_t i = 0; i < bytes; ++i) ASSERT_EQ(buffer[static_cast<size_t>(offset + i)], word[i % 16]);
          ASSERT_EQ(buffer[static_cast<size_t>(offset + bytes)], 'x');
        }
      }
    }
  }
}

TEST(Probe, TellsMappedFromUnmappedAndReadOnly) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* map = mmap(nullptr, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(map, MAP_FAILED);
  char* p = static_cast<char*>(map);
  p[10] = 42;
  EXPECT_TRUE(host_readable(p));
  EXPECT_TRUE(host_writable(p + 10));
  EXPECT_EQ(p[10], 42) << "asking must not write";
  mprotect(p + page, page, PROT_READ);
  EXPECT_TRUE(host_readable(p + page + 5));
  EXPECT_FALSE(host_writable(p + page + 5));
  mprotect(p + page, page, PROT_NONE);
  EXPECT_FALSE(host_readable(p + page));
  munmap(p + 2 * page, page);
  EXPECT_TRUE(host_readable(p + page - 1));
  EXPECT_FALSE(host_readable(p + 2 * page));
  EXPECT_FALSE(host_writable(p + 2 * page));
  EXPECT_FALSE(host_readable(nullptr));
  EXPECT_FALSE(host_readable(reinterpret_cast<void*>(0x10)));
  EXPECT_FALSE(host_readable(reinterpret_cast<void*>(0x8000000000000000u)));
  munmap(p, 2 * page);
}

TEST(WorkerPool, RunsEachTaskOnceFromManyCallers) {
  WorkerPool pool;
  const auto caller = [&] {
    for (int round = 0; round < 200; ++round) {
      std::vector<std::atomic<int>> hits(37);
      pool.parallel_for(
          37, 4,
          [](void* state, int64_t i) {
            ++(*static_cast<std::vector<std::atomic<int>>*>(state))[static_cast<size_t>(i)];
          },
          &hits);
      for (auto& hit : hits) ASSERT_EQ(hit, 1);
    }
  };
  std::thread other(caller);
  caller();
  other.join();
}

TEST(HostQueue, KeepsOrderBetweenBlockingAndEnqueuedWork) {
  HostQueue queue;
  std::vector<int> order;
  for (int i = 0; i < 100; ++i) {
    queue.enqueue([&order, i] { order.push_back(2 * i); });
    if (i % 7 == 0) queue.run([&] { order.push_back(-1); });
  }
  queue.drain();
  EXPECT_TRUE(queue.idle());
  int next = 0;
  for (const int v : order) {
    if (v < 0) continue;
    EXPECT_EQ(v, next);
    next += 2;
  }
  EXPECT_EQ(next, 200);
}

// Waiting is for what was handed in so far: a producer that never stops starves nobody.
TEST(HostQueue, WaitingEndsWhileOthersGoOn) {
  HostQueue queue;
  std::atomic<bool> stop{false};
  std::atomic<int> pending{0};
  std::thread feeder([&] {
    while (!stop) {
      if (pending < 64) {
        ++pending;
        queue.enqueue([&] {
          std::this_thread::sleep_for(std::chrono::microseconds(20));
          --pending;
        });
      }
    }
  });
  while (queue.idle()) std::this_thread::yield();
  bool ran = false;
  queue.drain();
  queue.run([&] { ran = true; });
  EXPECT_TRUE(ran);
  EXPECT_FALSE(stop);
  stop = true;
  feeder.join();
  queue.drain();
}

TEST(HostQueue, DestructionRunsWhatWasEnqueued) {
  int done = 0;
  {
    HostQueue queue;
    for (int i = 0; i < 10; ++i) queue.enqueue([&] { ++done; });
  }
  EXPECT_EQ(done, 10);
}

}  // namespace
}  // namespace gpumem
