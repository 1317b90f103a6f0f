// Random operations of many threads on one context and on streams that they share: each block holds what was put there last, and
// in the end nothing is held. GPUMEM_SOAK_OPERATIONS says how many, over all threads.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <memory>
#include <thread>
#include <vector>

#include "api/queue_handles.hpp"
#include "soak/free_memory.hpp"
#include "soak/soak.hpp"
#include "soak/worker.hpp"
#include "support/contexts.hpp"
#include "support/random.hpp"
#include "support/sanitizers.hpp"

namespace gpumem_test {
namespace {

constexpr int kThreads = 32;
constexpr int kStreams = 16;
constexpr int64_t kMiB = int64_t{1} << 20;
constexpr int64_t kWarmUp = 50000;                       // operations
constexpr int64_t kMostReserved = kThreads * 32 * kMiB;  // a thread's blocks are at most 16 MiB at a time
// What the process may keep: the heap's own, and what the driver keeps for the program's life.
constexpr int64_t kResidentSlack = 4 * kMiB;
constexpr int64_t kDeviceSlack = 8 * kMiB;

int64_t resident_bytes() {
  int64_t mapped = 0;
  int64_t resident = 0;
  std::ifstream("/proc/self/statm") >> mapped >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

bool has_managed_memory(gpumem_ctx* ctx) {
  gpumem_device_info device;
  EXPECT_TRUE(ok(gpumem_device_info_init(&device, sizeof device)));
  EXPECT_TRUE(ok(gpumem_ctx_device(ctx, &device)));
  return device.managed_memory != 0;
}

void run_threads(Shared& shared, int round, int64_t operations) {
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&shared, round, t, operations] {
      Worker worker(shared, round, t);
      worker.run(operations / kThreads + (t < operations % kThreads ? 1 : 0));
      worker.finish();
    });
  }
  for (std::thread& thread : threads) thread.join();
  Worker last(shared, round, kThreads);
  last.collect();
  last.finish();
}

void expect_nothing_held(gpumem_ctx* ctx) {
  gpumem_memory_stats_info stats = stats_of(ctx);
  EXPECT_EQ(live_blocks(stats), 0);
  EXPECT_EQ(stats.device_bytes, 0);
  EXPECT_EQ(stats.pinned_bytes, 0);
  EXPECT_EQ(stats.managed_bytes, 0);
  EXPECT_EQ(stats.registered_ranges, 0);
  EXPECT_EQ(stats.registered_bytes, 0);
  EXPECT_EQ(stats.allocations, stats.frees);
  EXPECT_LE(stats.device_reserved_peak_bytes, kMostReserved);
  EXPECT_TRUE(ok(gpumem_memory_trim(ctx, 0)));
  stats = stats_of(ctx);
  EXPECT_EQ(stats.device_reserved_bytes, 0);
  EXPECT_EQ(stats.pinned_reserved_bytes, 0);
}

void print(const gpumem_memory_stats_info& stats, int64_t operations, double seconds) {
  std::printf(
      "%lld operations in %.1f s; %lld allocations (%lld pinned, %lld managed), device memory at most %.0f MiB "
      "live and %.0f MiB reserved\n",
      static_cast<long long>(operations), seconds, static_cast<long long>(stats.allocations),
      static_cast<long long>(stats.pinned_allocations), static_cast<long long>(stats.managed_allocations),
      static_cast<double>(stats.device_peak_bytes) / kMiB,
      static_cast<double>(stats.device_reserved_peak_bytes) / kMiB);
}

void soak(On on, int round, int64_t operations) {
  const auto begin = std::chrono::steady_clock::now();
  const Context ctx(on);
  std::vector<std::unique_ptr<Stream>> streams;
  Shared shared{ctx, {}, has_managed_memory(ctx)};
  for (int i = 0; i < kStreams; ++i) {
    streams.push_back(std::make_unique<Stream>(ctx));
    shared.streams.push_back(*streams.back());
  }
  run_threads(shared, round, operations);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  print(stats_of(ctx), operations, seconds.count());
  expect_nothing_held(ctx);
}

class Soak : public testing::TestWithParam<On> {};

TEST_P(Soak, BlocksKeepTheirContentsAndAllMemoryGoesBack) {
  const int64_t operations = soak_operations(quick_run() ? 4000 : 300000);
  std::fflush(stdout);  // a crash is to leave the seed behind
  soak(GetParam(), 0, std::min(operations, kWarmUp));
  const int64_t resident = resident_bytes();
  const int64_t device = GetParam() == On::cuda ? free_device_memory() : -1;
  soak(GetParam(), 1, operations);
  if (HasFailure()) return;
  const int64_t resident_after = resident_bytes();
  std::printf("resident before %.1f MiB, after %.1f MiB\n", static_cast<double>(resident) / kMiB,
              static_cast<double>(resident_after) / kMiB);
  if (!kSanitized) {
    EXPECT_LE(resident_after, resident + kResidentSlack);
  }
  if (device >= 0) {
    EXPECT_GE(free_device_memory(), device - kDeviceSlack);
  }
}

INSTANTIATE_TEST_SUITE_P(On, Soak, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
