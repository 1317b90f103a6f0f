// Pools on a device that only gives memory: where blocks come from, what is counted, and what goes back.
#include "memory/block_pool.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/fake_backend.hpp"

namespace gpumem {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;

enum class Supply { mapped, cached, direct };

// A pool with two streams. The backend outlives the others.
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding)
struct Pool {
  explicit Pool(Supply supply, PoolPolicy policy = {GPUMEM_MEMORY_DEVICE, 0})
      : backend(supply == Supply::mapped ? FakeBackend::kGranule : 0), owner(backend) {
    policy.pooled = supply != Supply::direct;
    pool = owner.pool(policy);
    a = &pool->open(backend.stream(1));
    b = &pool->open(backend.stream(2));
  }

  void* allocate(StreamCache& cache, int64_t bytes, size_t alignment = 256) {
    return pool->allocate(cache, static_cast<size_t>(bytes), alignment);
  }
  std::string failure(StreamCache& cache, int64_t bytes) {
    try {
      allocate(cache, bytes);
      return "";
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), GPUMEM_OUT_OF_MEMORY);
      return error.what();
    }
  }
  void free_on(StreamCache& cache, void* p) { owner.free(*pool, p, cache); }
  BlockCounts counts() const { return pool->state().counts; }
  int64_t reserved() const { return pool->state().reserved_bytes; }

  FakeBackend backend;
  FakeOwner owner;
  std::unique_ptr<BlockPool> pool;
  StreamCache* a = nullptr;
  StreamCache* b = nullptr;
};

class Pooled : public testing::TestWithParam<Supply> {};
INSTANTIATE_TEST_SUITE_P(Supplies, Pooled, testing::Values(Supply::mapped, Supply::cached),
                         [](const auto& tested) { return tested.param == Supply::mapped ? "mapped" : "cached"; });

TEST_P(Pooled, AStreamHasItsBlockAgainAtOnce) {
  Pool pool(GetParam());
  void* const p = pool.allocate(*pool.a, kMiB);
  EXPECT_EQ(pool.counts().misses, 1);
  const int64_t taken = pool.reserved();
  EXPECT_GE(taken, kMiB);
  pool.free_on(*pool.a, p);
  EXPECT_EQ(pool.counts().live_bytes, 0);
  EXPECT_EQ(pool.allocate(*pool.a, kMiB), p);
  EXPECT_EQ(pool.counts().hits, 1);
  EXPECT_EQ(pool.counts().live_blocks, 1);
  EXPECT_EQ(pool.reserved(), taken);
  EXPECT_TRUE(pool.backend.waits.empty());
}

TEST_P(Pooled, AnotherStreamGetsMemoryOfItsOwn) {
  Pool pool(GetParam());
  void* const p = pool.allocate(*pool.a, kMiB);
  pool.free_on(*pool.a, p);
  EXPECT_NE(pool.allocate(*pool.b, kMiB), p);
  EXPECT_EQ(pool.counts().misses, 2);
  EXPECT_TRUE(pool.backend.waits.empty());
}

TEST_P(Pooled, SmallBlocksShareARegion) {
  Pool pool(GetParam());
  const auto first = reinterpret_cast<uintptr_t>(pool.allocate(*pool.a, 300));
  const auto second = reinterpret_cast<uintptr_t>(pool.allocate(*pool.a, 300));
  EXPECT_EQ(second, first + 512);
  EXPECT_EQ(pool.counts().misses, 1);
  EXPECT_EQ(pool.counts().hits, 1);
}

TEST_P(Pooled, BlocksHaveTheirAlignment) {
  Pool pool(GetParam());
  for (const size_t alignment : {size_t{256}, size_t{4096}, size_t{1} << 16, size_t{2} << 20}) {
    for (const int64_t bytes : {int64_t{1}, int64_t{70000}, 3 * kMiB}) {
      const auto p = reinterpret_cast<uintptr_t>(pool.allocate(*pool.a, bytes, alignment));
      EXPECT_EQ(p % alignment, 0u) << bytes << " at " << alignment;
      EXPECT_TRUE(pool.backend.has(p, static_cast<size_t>(bytes))) << bytes << " at " << alignment;
    }
  }
}

TEST_P(Pooled, ALimitIsKeptAndNamed) {
  Pool pool(GetParam(), {.kind = GPUMEM_MEMORY_DEVICE, .device = 0, .limit = 64 * kMiB});
  void* const p = pool.allocate(*pool.a, 60 * kMiB);
  const std::string sentence = pool.failure(*pool.b, 10 * kMiB);
  EXPECT_NE(sentence.find("the context's limit is 67108864"), std::string::npos) << sentence;
  EXPECT_EQ(pool.owner.waits, 0) << "nothing is idle, so waiting frees nothing";
  pool.free_on(*pool.a, p);
  EXPECT_NE(pool.allocate(*pool.b, 60 * kMiB), nullptr);
  EXPECT_LE(pool.reserved(), 64 * kMiB);
}

TEST_P(Pooled, MemoryThatHasRunOutIsWaitedFor) {
  Pool pool(GetParam());
  pool.backend.room = 64 * kMiB;
  pool.backend.work_is_done = false;
  pool.free_on(*pool.a, pool.allocate(*pool.a, 64 * kMiB));
  EXPECT_NE(pool.allocate(*pool.b, 48 * kMiB), nullptr);
  EXPECT_EQ(pool.owner.waits, 1);
  const std::string sentence = pool.failure(*pool.a, 32 * kMiB);
  EXPECT_NE(sentence.find("33554432 bytes of device memory are not available"), std::string::npos) << sentence;
  EXPECT_EQ(pool.counts().live_blocks, 1);
}

TEST_P(Pooled, AFreeWaitsForTheStreamsThatWereDeclared) {
  Pool pool(GetParam());
  void* const p = pool.allocate(*pool.a, 2 * kMiB);
  pool.pool->use_on(reinterpret_cast<uintptr_t>(p), pool.b->stream);
  pool.backend.work_is_done = false;
  pool.free_on(*pool.a, p);
  EXPECT_EQ(pool.allocate(*pool.a, 2 * kMiB), p) << "behind the other stream's work";
  EXPECT_EQ(pool.backend.waits, std::vector<NativeStream>{pool.a->stream});
  EXPECT_EQ(pool.counts().hits, 1);
}

TEST_P(Pooled, WhatAStreamLeavesBelongsToAllOnceItsEndIsPassed) {
  Pool pool(GetParam());
  void* const p = pool.allocate(*pool.a, 2 * kMiB);
  pool.free_on(*pool.a, p);
  pool.backend.work_is_done = false;
  pool.pool->close(*pool.a, false);
  EXPECT_NE(pool.allocate(*pool.b, 2 * kMiB), p);
  pool.backend.finish();
  EXPECT_EQ(pool.allocate(*pool.b, 2 * kMiB), p);
  EXPECT_TRUE(pool.backend.waits.empty());
}

TEST_P(Pooled, WhatAStreamLeavesUnderCaptureIsNotUsedAgain) {
  Pool pool(GetParam());
  void* const p = pool.allocate(*pool.a, 2 * kMiB);
  pool.free_on(*pool.a, p);
  pool.backend.captured.insert(pool.a->stream);
  pool.pool->close(*pool.a, false);
  pool.backend.captured.clear();
  EXPECT_NE(pool.allocate(*pool.b, 2 * kMiB), p);
  pool.pool->trim(0);
  EXPECT_EQ(pool.reserved(), 4 * kMiB) << "that block and the live one";
}

TEST_P(Pooled, ATrimGivesBackWhatIsIdle) {
  Pool pool(GetParam());
  void* const live = pool.allocate(*pool.a, 4 * kMiB);
  pool.free_on(*pool.a, pool.allocate(*pool.a, 8 * kMiB));
  pool.free_on(*pool.b, pool.allocate(*pool.b, 8 * kMiB));
  pool.backend.work_is_done = false;
  pool.pool->trim(0);
  EXPECT_EQ(pool.reserved(), 4 * kMiB);
  pool.free_on(*pool.a, live);
  pool.pool->trim(0);
  EXPECT_EQ(pool.reserved(), 0);
  EXPECT_EQ(pool.backend.mapped_bytes(), 0);
  EXPECT_TRUE(pool.backend.allocated.empty());
  EXPECT_GE(pool.pool->state().reserved_peak_bytes, 20 * kMiB);
}

TEST_P(Pooled, IdleMemoryGoesBeforeMoreIsTaken) {
  Pool pool(GetParam(), {.kind = GPUMEM_MEMORY_DEVICE, .device = 0, .follows_live = true});
  pool.free_on(*pool.a, pool.allocate(*pool.a, 64 * kMiB));
  EXPECT_NE(pool.allocate(*pool.b, 63 * kMiB), nullptr);
  EXPECT_LE(pool.reserved(), 77 * kMiB) << "the peak of live bytes and a fifth";
}

TEST_P(Pooled, EndsWithAllThatItHas) {
  Pool pool(GetParam());
  pool.allocate(*pool.a, kMiB);
  pool.free_on(*pool.a, pool.allocate(*pool.a, 300));
  pool.pool.reset();
  EXPECT_TRUE(pool.backend.allocated.empty());
  EXPECT_TRUE(pool.backend.mapped.empty());
  EXPECT_TRUE(pool.owner.registry.live_of(&pool.owner).empty());
}

TEST(MappedPool, GrowsByWhatIsMissingBehindWhatIsFree) {
  Pool pool(Supply::mapped);
  void* const p = pool.allocate(*pool.a, 3 * kMiB);
  EXPECT_EQ(pool.backend.mapped_bytes(), 4 * kMiB);
  void* const next = pool.allocate(*pool.a, 5 * kMiB);
  EXPECT_EQ(next, static_cast<char*>(p) + 3 * kMiB);
  EXPECT_EQ(pool.backend.mapped_bytes(), 8 * kMiB) << "one MiB was free";
  EXPECT_EQ(pool.reserved(), 8 * kMiB);
}

TEST(MappedPool, FreeBlocksJoinToALargerOne) {
  Pool pool(Supply::mapped);
  void* const p = pool.allocate(*pool.a, 2 * kMiB);
  void* const q = pool.allocate(*pool.a, 2 * kMiB);
  pool.free_on(*pool.a, p);
  pool.free_on(*pool.a, q);
  EXPECT_EQ(pool.allocate(*pool.a, 4 * kMiB), p);
  EXPECT_EQ(pool.backend.mapped_bytes(), 4 * kMiB);
  EXPECT_EQ(pool.counts().hits, 1);
}

TEST(MappedPool, AStreamThatHasNotPassedItsMemoryKeepsItMapped) {
  Pool pool(Supply::mapped, {.kind = GPUMEM_MEMORY_DEVICE, .device = 0, .follows_live = true});
  pool.backend.work_is_done = false;
  pool.free_on(*pool.a, pool.allocate(*pool.a, 64 * kMiB));
  EXPECT_NE(pool.allocate(*pool.b, 64 * kMiB), nullptr);
  EXPECT_EQ(pool.reserved(), 128 * kMiB);
}

TEST(MappedPool, AStreamTakesAnothersMemoryBehindItsWork) {
  Pool pool(Supply::mapped, {.kind = GPUMEM_MEMORY_DEVICE, .device = 0, .limit = 64 * kMiB});
  pool.backend.work_is_done = false;
  void* const p = pool.allocate(*pool.a, 60 * kMiB);
  pool.free_on(*pool.a, p);
  EXPECT_EQ(pool.allocate(*pool.b, 60 * kMiB), p);
  EXPECT_EQ(pool.backend.waits, std::vector<NativeStream>{pool.b->stream}) << "it waits for the other stream";
}

TEST(MappedPool, AStreamTakesWhatAnotherHasPassedBeforeMoreIsMapped) {
  Pool pool(Supply::mapped, {.kind = GPUMEM_MEMORY_DEVICE, .device = 0, .follows_live = true});
  void* const kept = pool.allocate(*pool.a, 64 * kMiB);
  void* const p = pool.allocate(*pool.a, 64 * kMiB);
  pool.free_on(*pool.a, p);
  const int64_t maps = pool.backend.maps;
  EXPECT_EQ(pool.allocate(*pool.b, 40 * kMiB), p);
  EXPECT_EQ(pool.backend.maps, maps);
  EXPECT_TRUE(pool.backend.waits.empty()) << "the memory is out of use";
  pool.free_on(*pool.a, kept);
}

TEST(MappedPool, ARequestNeedsNoMemoryForOthersAfterIt) {
  Pool pool(Supply::mapped);
  pool.allocate(*pool.a, 128 * kMiB);
  pool.backend.room = 2 * kMiB;
  EXPECT_NE(pool.allocate(*pool.a, 1000), nullptr);
  EXPECT_NE(pool.failure(*pool.a, 4 * kMiB), "");
  EXPECT_EQ(pool.reserved(), 130 * kMiB);
}

// Threads that allocate and free at the same time, each on its stream. A block has the thread's number at both ends.
void take_and_free(Pool& pool, StreamCache& cache, unsigned char number, int& failures) {
  struct Held {
    unsigned char* p;
    size_t bytes;
  };
  std::vector<Held> held;
  const auto release = [&](size_t i) {
    const auto [p, bytes] = held[i];
    EXPECT_TRUE(p[0] == number && p[bytes - 1] == number) << bytes;
    held[i] = held.back();
    held.pop_back();
    pool.free_on(cache, p);
  };
  uint64_t state = number;
  for (int i = 0; i < 2000; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    if (held.size() > state >> 60) {
      release((state >> 33) % held.size());
      continue;
    }
    const size_t bytes = 1000 + (size_t{1} << (state >> 40) % 24) + (state >> 50);
    try {
      auto* const p = static_cast<unsigned char*>(pool.pool->allocate(cache, bytes, 256));
      p[0] = p[bytes - 1] = number;
      held.push_back({p, bytes});
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), GPUMEM_OUT_OF_MEMORY);
      ++failures;
    }
  }
  while (!held.empty()) release(0);
}

// One thread alone has up to 28 MiB live. kept: a block that is live meanwhile.
int failures_of_two_threads(Pool& pool, void* kept = nullptr) {
  int failures[2] = {};
  std::thread other([&] { take_and_free(pool, *pool.a, 1, failures[0]); });
  take_and_free(pool, *pool.b, 2, failures[1]);
  other.join();
  if (kept != nullptr) pool.free_on(*pool.a, kept);
  EXPECT_EQ(pool.counts().live_blocks, 0);
  EXPECT_EQ(pool.reserved(), pool.backend.mapped_bytes());
  pool.pool->trim(0);
  EXPECT_EQ(pool.backend.mapped_bytes(), 0);
  return failures[0] + failures[1];
}

TEST(MappedPool, ThreadsThatGrowAtOnceGetBlocksOfTheirOwn) {
  Pool pool(Supply::mapped, {.kind = GPUMEM_MEMORY_DEVICE, .device = 0, .follows_live = true});
  EXPECT_EQ(failures_of_two_threads(pool), 0);
}

TEST(MappedPool, MemoryRunsOutWhileAnotherThreadGrows) {
  Pool pool(Supply::mapped, {.kind = GPUMEM_MEMORY_DEVICE, .device = 0, .follows_live = true});
  pool.backend.room = 24 * kMiB;
  EXPECT_GT(failures_of_two_threads(pool), 0);
  EXPECT_EQ(pool.backend.room, 24 * kMiB);
}

TEST(MappedPool, ThreadsKeepTheLimitTogether) {
  Pool pool(Supply::mapped, {.kind = GPUMEM_MEMORY_DEVICE, .device = 0, .limit = 32 * kMiB, .follows_live = true});
  EXPECT_GT(failures_of_two_threads(pool, pool.allocate(*pool.a, 8 * kMiB)), 0);
  EXPECT_LE(pool.pool->state().reserved_peak_bytes, 32 * kMiB);
}

TEST(CachedPool, AStreamTakesAnothersMemoryWhereTheLimitIsNear) {
  Pool pool(Supply::cached, {.kind = GPUMEM_MEMORY_DEVICE, .device = 0, .limit = 3 * kMiB});
  void* const p = pool.allocate(*pool.a, 2 * kMiB);
  pool.free_on(*pool.a, p);
  EXPECT_EQ(pool.allocate(*pool.b, 2 * kMiB), p);
  EXPECT_EQ(pool.backend.waits, std::vector<NativeStream>{pool.b->stream}) << "it waits for the other stream";
  EXPECT_EQ(pool.backend.allocations, 1);
}

TEST(CachedPool, AStreamUnderCaptureKeepsItsMemory) {
  Pool pool(Supply::cached, {.kind = GPUMEM_MEMORY_DEVICE, .device = 0, .limit = 3 * kMiB});
  pool.free_on(*pool.a, pool.allocate(*pool.a, 2 * kMiB));
  pool.backend.captured.insert(pool.a->stream);
  EXPECT_NE(pool.failure(*pool.b, 2 * kMiB), "");
  EXPECT_TRUE(pool.backend.waits.empty());
}

TEST(CachedPool, KeepsAtMostWhatThePolicySays) {
  Pool pool(Supply::cached, {.kind = GPUMEM_MEMORY_DEVICE, .device = 0, .most_idle = 3 * kMiB});
  void* const p = pool.allocate(*pool.a, 2 * kMiB);
  void* const q = pool.allocate(*pool.a, 2 * kMiB);
  pool.free_on(*pool.a, p);
  EXPECT_EQ(pool.reserved(), 4 * kMiB);
  pool.free_on(*pool.a, q);
  EXPECT_EQ(pool.reserved(), 2 * kMiB);
}

TEST(DirectPool, EveryBlockComesFromTheDeviceAndGoesBack) {
  Pool pool(Supply::direct);
  void* const p = pool.allocate(*pool.a, 1000);
  void* const aligned = pool.allocate(*pool.a, 1000, size_t{1} << 16);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(aligned) % (size_t{1} << 16), 0u);
  EXPECT_EQ(pool.counts().misses, 2);
  EXPECT_GE(pool.reserved(), 2000);
  pool.owner.free(*pool.pool, p);
  pool.owner.free(*pool.pool, aligned);
  EXPECT_EQ(pool.reserved(), 0);
  EXPECT_TRUE(pool.backend.allocated.empty());
  EXPECT_EQ(pool.counts().live_blocks, 0);
}

TEST(DirectPool, TakesNoNoteOfRegisteredMemory) {
  Pool pool(Supply::direct);
  char memory[64];
  const auto at = reinterpret_cast<uintptr_t>(memory);
  pool.owner.registry.add_registered(
      {at, sizeof memory, GPUMEM_MEMORY_PINNED, ExecutionSpace::cuda, GPUMEM_DEVICE_HOST, &pool.owner, true});
  pool.pool->use_on(at, pool.b->stream);
  EXPECT_TRUE(pool.pool->ready().uses.empty());
}

TEST(DirectPool, WaitsForTheStreamsThatWereDeclared) {
  Pool pool(Supply::direct);
  void* const p = pool.allocate(*pool.a, 1000);
  pool.pool->use_on(reinterpret_cast<uintptr_t>(p), pool.b->stream);
  const Claim claim = pool.owner.registry.claim(reinterpret_cast<uintptr_t>(p), &pool.owner);
  pool.backend.captured.insert(pool.b->stream);
  EXPECT_THROW(pool.pool->wait_for_uses(claim), Error);
  pool.backend.captured.clear();
  pool.pool->wait_for_uses(claim);
  pool.pool->free_now(claim);
  EXPECT_TRUE(pool.backend.allocated.empty());
}

class Guarded : public testing::TestWithParam<Supply> {
 protected:
  Guarded() : pool(GetParam(), {.kind = GPUMEM_MEMORY_DEVICE, .device = 0, .guarded = true}) {}
  static unsigned char* bytes(void* p) { return static_cast<unsigned char*>(p); }
  Damage found() {
    Damage damage;
    pool.pool->check(damage);
    return damage;
  }

  Pool pool;
};
INSTANTIATE_TEST_SUITE_P(Supplies, Guarded, testing::Values(Supply::mapped, Supply::cached, Supply::direct),
                         [](const auto& tested) {
                           return tested.param == Supply::mapped   ? "mapped"
                                  : tested.param == Supply::cached ? "cached"
                                                                   : "direct";
                         });

TEST_P(Guarded, WritesPastBothEndsAreFound) {
  void* const p = pool.allocate(*pool.a, 1000);
  void* const q = pool.allocate(*pool.a, 1000);
  std::memset(p, 1, 1000);
  std::memset(q, 2, 1000);
  EXPECT_EQ(found().places, 0);
  bytes(p)[1000] = 7;
  Damage damage = found();
  EXPECT_EQ(damage.places, 1);
  EXPECT_NE(damage.first.find("bytes from offset 1000 to 1000 were written behind the end of its 1000 bytes"),
            std::string::npos)
      << damage.first;
  bytes(q)[-1] = 7;
  EXPECT_EQ(found().places, 2);
  const Claim claim = pool.owner.registry.claim(reinterpret_cast<uintptr_t>(q), &pool.owner);
  EXPECT_THROW(pool.pool->require_intact(claim), Error);
  pool.pool->free_now(claim);
}

TEST_P(Guarded, WritesAfterAFreeAreFoundAndMemoryComesBack) {
  void* const p = pool.allocate(*pool.a, 1000);
  std::memset(p, 1, 1000);
  pool.owner.free(*pool.pool, p);
  EXPECT_EQ(pool.counts().live_blocks, 0);
  EXPECT_EQ(found().places, 0);
  void* const next = pool.allocate(*pool.a, 1000);
  EXPECT_NE(next, p) << "it is kept aside";
  bytes(p)[10] = 7;
  const Damage damage = found();
  EXPECT_EQ(damage.places, 1);
  EXPECT_NE(damage.first.find("offset 10 to 10 were written after it was freed"), std::string::npos) << damage.first;
  EXPECT_EQ(found().places, 0) << "told once";
  pool.owner.free(*pool.pool, next);
  EXPECT_GT(pool.reserved(), 0);
  pool.pool->trim(0);
  EXPECT_EQ(pool.reserved(), 0);
}

TEST_P(Guarded, BlocksHaveTheirAlignment) {
  for (const size_t alignment : {size_t{256}, size_t{4096}, size_t{2} << 20}) {
    void* const p = pool.allocate(*pool.a, 70000, alignment);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(p) % alignment, 0u) << alignment;
    EXPECT_TRUE(pool.backend.has(reinterpret_cast<uintptr_t>(p), 70000)) << alignment;
    std::memset(p, 1, 70000);
  }
  EXPECT_EQ(found().places, 0);
}

}  // namespace
}  // namespace gpumem
