// The host backend's parts: every instruction set computes the same, the probes tell the truth, queues keep order.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <thread>

#include "backend/host/host_queue.hpp"
#include "backend/host/lent_threads.hpp"
#include "backend/host/loops/loops.hpp"
#include "backend/host/mappings.hpp"
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

// What is sure to be there is not asked for: the thread's own stack, from this frame up, and the heap of brk(). The rest is, also
// where the stack is not the thread's own.
TEST(Probe, KnowsTheStackAndTheHeapOfTheProgram) {
  int local = 42;
  EXPECT_TRUE(host_readable(&local));
  EXPECT_TRUE(host_writable(&local));
  EXPECT_EQ(local, 42);
  void* const end = sbrk(0);
  EXPECT_FALSE(host_writable(static_cast<char*>(end) + (1 << 20))) << "past the heap's end";
  ASSERT_NE(sbrk(4096), reinterpret_cast<void*>(-1));
  EXPECT_TRUE(host_writable(end));
  std::thread([&local] {
    pthread_attr_t attributes;
    ASSERT_EQ(pthread_getattr_np(pthread_self(), &attributes), 0);
    size_t bytes = 0;
    void* begin = nullptr;
    ASSERT_EQ(pthread_attr_getstack(&attributes, &begin, &bytes), 0);
    pthread_attr_destroy(&attributes);
    char own = 1;
    EXPECT_TRUE(host_writable(&own));
    EXPECT_FALSE(host_writable(static_cast<char*>(begin) - 1)) << "the guard page";
    EXPECT_TRUE(host_writable(&local)) << "another thread's stack";
  }).join();
}

// Both ways of reading the list of mappings, and the probes of short ranges, against pages that are as they were made.
TEST(Probe, FindsTheFirstHoleThatIsTooLong) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  constexpr size_t kPages = 200;
  void* map = mmap(nullptr, kPages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(map, MAP_FAILED);
  char* const p = static_cast<char*>(map);
  const auto base = reinterpret_cast<uintptr_t>(p);
  mprotect(p + 20 * page, page, PROT_NONE);
  mprotect(p + 100 * page, 3 * page, PROT_NONE);
  mprotect(p + 150 * page, 2 * page, PROT_READ);
  munmap(p + 152 * page, page);
  struct Expected {
    size_t first, last;  // pages
    size_t gap;
    bool writable;
    size_t hole;  // 0: none
  };
  const MappingsFile mappings;
  for (const Expected& e :
       {Expected{0, 19, 0, false, 0}, Expected{21, 30, 0, true, 0}, Expected{0, 21, 0, false, 20},
        Expected{0, 21, page - 1, false, 20}, Expected{0, 21, page, false, 0}, Expected{0, 199, 0, false, 20},
        Expected{0, 199, page, false, 100}, Expected{0, 199, 3 * page - 1, true, 100},
        Expected{0, 199, 3 * page, true, 0}, Expected{110, 149, 0, true, 0}, Expected{110, 199, 0, false, 152},
        Expected{110, 199, 0, true, 150}, Expected{110, 199, 2 * page, true, 150}, Expected{110, 199, page, false, 0},
        Expected{149, 153, 0, true, 150}}) {
    const char* const hole = e.hole == 0 ? nullptr : p + e.hole * page;
    EXPECT_EQ(host_hole(mappings, p + e.first * page + 5, (e.last - e.first) * page, e.gap, e.writable), hole)
        << e.first << " to " << e.last << ", gaps of " << e.gap;
    const AddressRange range{base + e.first * page, base + e.last * page};
    for (const MappingList by : {MappingList::asked, MappingList::text}) {
      const HoleSearch search = find_hole(range, e.gap, e.writable, by);
      if (by == MappingList::asked && !search.known) continue;  // an older system
      ASSERT_TRUE(search.known);
      EXPECT_EQ(search.hole ? search.hole->begin : 0, reinterpret_cast<uintptr_t>(hole))
          << e.first << " to " << e.last << ", gaps of " << e.gap << (by == MappingList::text ? ", text" : ", asked");
    }
  }
  munmap(p, kPages * page);
}

TEST(Probe, AProgramMayCloseTheListAndUseItsNumber) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* map = mmap(nullptr, 8 * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(map, MAP_FAILED);
  auto* const p = static_cast<char*>(map);
  mprotect(p + 5 * page, page, PROT_NONE);
  const int number = open("/dev/null", O_RDONLY);  // the number that is free next
  close(number);
  {
    const MappingsFile mappings;
    EXPECT_EQ(host_hole(mappings, p, 8 * page, 0, false), p + 5 * page);
    ASSERT_EQ(close(number), 0) << "the list is open under that number";
    EXPECT_EQ(host_hole(mappings, p, 8 * page, 0, false), p + 5 * page) << "closed";
    ASSERT_EQ(open("/dev/null", O_RDONLY), number);
    EXPECT_EQ(host_hole(mappings, p, 8 * page, 0, false), p + 5 * page) << "another file";
  }
  EXPECT_EQ(close(number), 0) << "the program's own file is left open";
  munmap(map, 8 * page);
}

// Behind the last mapping that a program can have, the list ends.
TEST(Probe, WhatLiesBehindAllMappingsIsAHole) {
  constexpr uintptr_t kEnd = uintptr_t{0x7ffffffff} << 12;
  for (const MappingList by : {MappingList::asked, MappingList::text}) {
    const HoleSearch search = find_hole({kEnd, kEnd + 8192}, 0, false, by);
    if (by == MappingList::asked && !search.known) continue;  // an older system
    ASSERT_TRUE(search.known);
    ASSERT_TRUE(search.hole);
    EXPECT_EQ(search.hole->begin, kEnd);
  }
}

TEST(Probe, TheTextIsReadAnewForWhatItDidNotShow) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* map = mmap(nullptr, 8 * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(map, MAP_FAILED);
  const auto base = reinterpret_cast<uintptr_t>(map);
  const AddressRange range{base, base + 8 * page};
  const auto hole = [&](bool writable) { return find_hole(range, 0, writable, MappingList::text).hole.has_value(); };
  EXPECT_FALSE(hole(false));
  EXPECT_TRUE(hole(true)) << "it was seen to be readable";
  mprotect(map, 8 * page, PROT_READ | PROT_WRITE);
  EXPECT_FALSE(hole(true));
  EXPECT_FALSE(hole(false)) << "what may be written may be read";
  mprotect(static_cast<char*>(map) + 3 * page, page, PROT_NONE);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_TRUE(hole(false)) << "what was seen is forgotten in time";
  munmap(map, 8 * page);
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

// The pool hands all tasks to a thread that runs them twice, and returns when the first is under way.
TEST(LentThreads, EachTaskRunsOnceAndIsWaitedFor) {
  struct Pool {
    std::thread thread;
    std::atomic<bool> begun{false};
    static void run(void* user, int64_t tasks, gpumem_task_fn task, void* state) {
      auto& pool = *static_cast<Pool*>(user);
      pool.thread = std::thread([tasks, task, state] {
        for (int64_t i = 0; i < 2 * tasks; ++i) task(state, i % tasks);
      });
      while (!pool.begun) std::this_thread::yield();
    }
  };
  struct State {
    Pool pool;
    std::vector<int> hits;
  };
  const auto hit = [](void* state, int64_t i) {
    auto& of = *static_cast<State*>(state);
    of.pool.begun = true;
    if (i == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    ++of.hits[static_cast<size_t>(i)];
  };
  for (const int64_t tasks : {1, 2, 37, 64, 1024, 1025, 100003}) {
    State state;
    state.hits.resize(static_cast<size_t>(tasks));
    parallel_for_lent({Pool::run, &state.pool}, tasks, hit, &state);
    EXPECT_EQ(std::count(state.hits.begin(), state.hits.end(), 1), tasks);
    state.pool.thread.join();
    EXPECT_EQ(std::count(state.hits.begin(), state.hits.end(), 1), tasks) << "a task ran later";
  }
}

TEST(HostQueue, KeepsOrderBetweenBlockingAndEnqueuedWork) {
  QueueWorkers workers(1);
  HostQueue queue(workers);
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
  QueueWorkers workers(1);
  HostQueue queue(workers);
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
    QueueWorkers workers(1);
    HostQueue queue(workers);
    for (int i = 0; i < 10; ++i) queue.enqueue([&] { ++done; });
  }
  EXPECT_EQ(done, 10);
}

// Each waits for the next one, and the last has work last of all: one worker is enough, because none waits with a queue.
TEST(HostQueue, AQueueThatWaitsKeepsNoWorker) {
  constexpr int kQueues = 64;
  std::vector<int> order;
  {
    QueueWorkers workers(1);
    std::deque<HostQueue> queues;
    std::vector<std::shared_ptr<Mark>> marks;
    for (int i = 0; i < kQueues; ++i) {
      queues.emplace_back(workers);
      marks.push_back(std::make_shared<Mark>());
    }
    for (size_t i = 0; i < kQueues; ++i) {
      if (i + 1 < kQueues) queues[i].enqueue_wait(marks[i + 1]);
      queues[i].enqueue([&order, i] { order.push_back(static_cast<int>(i)); });
      queues[i].enqueue_mark(marks[i]);
    }
    queues.front().drain();
    for (const auto& mark : marks) EXPECT_TRUE(mark->passed());
  }
  std::vector<int> expected;
  for (int i = kQueues - 1; i >= 0; --i) expected.push_back(i);
  EXPECT_EQ(order, expected);
}

// A queue that is never empty does not keep the one worker from the others.
TEST(HostQueue, TakesTurnsWithOthers) {
  QueueWorkers workers(1);
  HostQueue busy(workers);
  HostQueue other(workers);
  std::atomic<bool> stop{false};
  std::function<void()> again = [&] {
    if (!stop) busy.enqueue(again);
  };
  busy.enqueue(again);
  other.enqueue([] {});
  other.drain();
  EXPECT_FALSE(busy.idle());
  stop = true;
  while (!busy.idle()) std::this_thread::yield();
}

}  // namespace
}  // namespace gpumem
