// Arenas: what is mapped where, what joins, and when it goes back.
#include "memory/arena.hpp"

#include <gtest/gtest.h>

#include "memory/stream_cache.hpp"
#include "tests/unit/fake_backend.hpp"

namespace gpumem {
namespace {

constexpr size_t kMiB = size_t{1} << 20;
constexpr size_t kGranule = FakeBackend::kGranule;

class ArenaOfFake : public testing::Test {
 protected:
  static Arena::Request large(size_t bytes, size_t alignment = 256) { return {Arena::Part::large, bytes, alignment}; }
  static Arena::Request slab(size_t bytes) { return {Arena::Part::slabs, bytes, 256}; }
  uintptr_t take(const StreamCache& cache, const Arena::Request& request, size_t chunk = Arena::kChunk) {
    if (!arena->fits(cache, request)) {
      Arena::Growth growth = arena->growth(cache, request, Arena::Of::own);
      growth.chunk = chunk;
      arena->grow(cache, growth);
    }
    return reinterpret_cast<uintptr_t>(arena->take(cache, request));
  }
  void give_back(const StreamCache& cache, uintptr_t p) { arena->give_back(cache, reinterpret_cast<void*>(p)); }

  FakeBackend backend;
  std::unique_ptr<Arena> arena = Arena::open(backend);
  StreamCache a;
  StreamCache b;
};

TEST_F(ArenaOfFake, IsNotThereWithoutGranules) {
  FakeBackend without(0);
  EXPECT_EQ(Arena::open(without), nullptr);
}

TEST_F(ArenaOfFake, MapsWholeGranulesAndUsesWhatIsLeftOfThem) {
  const uintptr_t first = take(a, large(kMiB));
  EXPECT_EQ(arena->mapped_bytes(), static_cast<int64_t>(kGranule));
  EXPECT_EQ(arena->free_bytes(), static_cast<int64_t>(kGranule - kMiB));
  const uintptr_t second = take(a, large(kMiB));
  EXPECT_EQ(second, first + kMiB) << "behind the first, without a gap";
  EXPECT_EQ(backend.mapped_bytes(), static_cast<int64_t>(kGranule));
  EXPECT_EQ(arena->free_bytes(), 0);
}

TEST_F(ArenaOfFake, GrowsBehindWhatIsFreeByWhatIsMissing) {
  const uintptr_t first = take(a, large(kMiB));
  const Arena::Growth growth = arena->growth(a, large(3 * kMiB), Arena::Of::own);
  EXPECT_EQ(growth.missing, kGranule) << "one MiB is free already";
  arena->grow(a, growth);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(arena->take(a, large(3 * kMiB))), first + kMiB);
  EXPECT_EQ(arena->mapped_bytes(), static_cast<int64_t>(2 * kGranule));
}

TEST_F(ArenaOfFake, JoinsFreeNeighboursOfOneCache) {
  const uintptr_t first = take(a, large(kMiB));
  const uintptr_t second = take(a, large(kMiB));
  const uintptr_t third = take(a, large(2 * kMiB));
  EXPECT_EQ(third, second + kMiB);
  give_back(a, first);
  give_back(a, third);
  EXPECT_FALSE(arena->fits(a, large(3 * kMiB)));
  give_back(a, second);
  ASSERT_TRUE(arena->fits(a, large(4 * kMiB)));
  EXPECT_EQ(take(a, large(4 * kMiB)), first);
}

TEST_F(ArenaOfFake, KeepsWhatStreamsFreeApart) {
  const uintptr_t of_a = take(a, large(kMiB));
  give_back(a, of_a);
  EXPECT_TRUE(arena->keeps(a));
  EXPECT_FALSE(arena->keeps(b));
  EXPECT_FALSE(arena->fits(b, large(kMiB)));
  const uintptr_t of_b = take(b, large(kMiB));
  EXPECT_GE(of_b > of_a ? of_b - of_a : of_a - of_b, size_t{64} * kMiB) << "addresses of its own";
  arena->absorb(b, a);
  EXPECT_FALSE(arena->keeps(a));
  EXPECT_EQ(take(b, large(2 * kMiB)), of_a) << "all of it";
}

TEST_F(ArenaOfFake, SlabsLieElsewhere) {
  const uintptr_t block = take(a, large(kMiB));
  const uintptr_t small = take(a, slab(kMiB / 2));
  EXPECT_LT(small, block);
  EXPECT_EQ(arena->mapped_bytes(), static_cast<int64_t>(2 * kGranule));
}

TEST_F(ArenaOfFake, TakesTheSmallestPieceThatFitsAtItsAlignment) {
  const uintptr_t first = take(a, large(512));
  const uintptr_t second = take(a, large(kMiB, kMiB));
  EXPECT_EQ(second % kMiB, 0u);
  EXPECT_EQ(second, first + kMiB);
  // What was left before it serves the next one, since it is the smaller piece.
  EXPECT_EQ(take(a, large(size_t{256} * 1024)), first + 512);
}

TEST_F(ArenaOfFake, UnmapsWhatItsStreamHasPassed) {
  const uintptr_t p = take(a, large(4 * kMiB), kGranule);
  give_back(a, p);
  arena->unmap_down_to(0);
  EXPECT_EQ(arena->mapped_bytes(), static_cast<int64_t>(4 * kMiB)) << "work may still use it";
  a.passed = arena->mark();
  const uintptr_t kept = take(a, large(kMiB));
  const uint64_t before = times_unmapped();
  arena->unmap_down_to(0);
  EXPECT_EQ(arena->mapped_bytes(), static_cast<int64_t>(kGranule)) << "its chunk has a block";
  EXPECT_EQ(backend.mapped_bytes(), arena->mapped_bytes());
  EXPECT_GT(times_unmapped(), before);
  give_back(a, kept);
  a.passed = arena->mark();
  arena->unmap_down_to(0);
  EXPECT_EQ(backend.mapped_bytes(), 0);
  EXPECT_EQ(arena->free_bytes(), 0);
}

TEST_F(ArenaOfFake, UnmapsNoMoreThanItIsAskedTo) {
  give_back(a, take(a, large(16 * kMiB), kGranule));
  a.passed = arena->mark();
  arena->unmap_down_to(8 * kMiB);
  EXPECT_EQ(backend.mapped_bytes(), static_cast<int64_t>(8 * kMiB));
  EXPECT_TRUE(arena->fits(a, large(8 * kMiB)));
}

TEST_F(ArenaOfFake, MapsAChunkAtOnce) {
  take(a, large(5 * kGranule));
  EXPECT_EQ(backend.maps, 1);
  give_back(b, take(b, large(20 * kGranule), 8 * kGranule));
  EXPECT_EQ(backend.maps, 4);
  b.passed = arena->mark();
  take(b, large(kMiB));
  arena->unmap_down_to(0);
  EXPECT_EQ(backend.mapped_bytes(), static_cast<int64_t>(13 * kGranule)) << "a block keeps its whole chunk";
}

TEST_F(ArenaOfFake, GathersWhatOtherStreamsHavePassed) {
  const uintptr_t first = take(a, large(2 * kMiB));
  const uintptr_t second = take(a, large(2 * kMiB));
  const uintptr_t third = take(a, large(4 * kMiB));
  give_back(a, first);
  give_back(b, second);  // as if the other stream had taken it
  EXPECT_FALSE(arena->gather_run(b, large(3 * kMiB))) << "work may still use it";
  a.passed = arena->mark();
  give_back(a, third);
  EXPECT_FALSE(arena->gather_run(b, large(5 * kMiB))) << "the third was freed later";
  EXPECT_FALSE(arena->gather_piece(b, large(3 * kMiB)));
  ASSERT_TRUE(arena->gather_run(b, large(3 * kMiB)));
  EXPECT_EQ(take(b, large(3 * kMiB)), first);
  EXPECT_EQ(take(b, large(kMiB)), first + 3 * kMiB);
  EXPECT_EQ(take(a, large(4 * kMiB)), third);
}

TEST_F(ArenaOfFake, AGatherLeavesTheRest) {
  const uintptr_t p = take(a, large(8 * kMiB));
  give_back(a, p);
  a.passed = arena->mark();
  EXPECT_FALSE(arena->gather_piece(b, large(9 * kMiB)));
  ASSERT_TRUE(arena->gather_piece(b, large(2 * kMiB)));
  EXPECT_EQ(take(b, large(2 * kMiB)), p);
  EXPECT_FALSE(arena->fits(b, large(512)));
  EXPECT_EQ(take(a, large(6 * kMiB)), p + 2 * kMiB);
}

TEST_F(ArenaOfFake, FillsAHoleBetweenFreeMemory) {
  const uintptr_t p = take(a, large(12 * kMiB), 4 * kMiB);
  give_back(a, p);
  const uintptr_t first = take(a, large(4 * kMiB));
  const uintptr_t second = take(a, large(4 * kMiB));
  const uintptr_t third = take(a, large(4 * kMiB));
  give_back(a, second);
  a.passed = arena->mark();
  arena->unmap_down_to(0);
  ASSERT_EQ(backend.mapped_bytes(), 8 * kMiB);
  give_back(a, first);
  give_back(b, third);
  EXPECT_EQ(arena->growth(a, large(12 * kMiB), Arena::Of::own).missing, 12 * kMiB);
  b.passed = arena->mark();
  const Arena::Growth growth = arena->growth(a, large(11 * kMiB), Arena::Of::all);
  EXPECT_EQ(growth.missing, 4 * kMiB);
  backend.room = kMiB;
  EXPECT_THROW(arena->grow(a, growth), Error);
  EXPECT_EQ(arena->mapped_bytes(), static_cast<int64_t>(8 * kMiB));
  backend.room = 4 * kMiB;
  arena->grow(a, arena->growth(a, large(11 * kMiB), Arena::Of::all));
  EXPECT_EQ(take(a, large(11 * kMiB)), first);
  EXPECT_TRUE(arena->fits(b, large(kMiB))) << "the rest";
}

TEST_F(ArenaOfFake, AFailureMapsNothing) {
  backend.room = 5 * kMiB;
  const Arena::Growth growth = arena->growth(a, large(16 * kMiB), Arena::Of::own);
  EXPECT_THROW(arena->grow(a, growth), Error);
  EXPECT_EQ(backend.mapped_bytes(), 0);
  EXPECT_EQ(arena->mapped_bytes(), 0);
  EXPECT_FALSE(arena->fits(a, large(256)));
  EXPECT_NE(take(a, large(4 * kMiB)), 0u) << "as if nothing had been";
}

TEST_F(ArenaOfFake, RunsOutOfAddresses) {
  const Arena::Request more = large(17 * static_cast<size_t>(FakeBackend::kMemory));
  EXPECT_EQ(arena->growth(a, more, Arena::Of::own).missing, SIZE_MAX);
  EXPECT_THROW(arena->grow(a, arena->growth(a, more, Arena::Of::own)), Error);
}

TEST_F(ArenaOfFake, WhatOthersHavePassedBelongsToAll) {
  StreamCache ready;
  ready.passed = UINT64_MAX;
  const uintptr_t block = take(a, large(kMiB));
  const uintptr_t freed = take(a, large(kMiB));
  give_back(a, freed);
  arena->absorb_passed(ready);
  EXPECT_FALSE(arena->fits(ready, large(kMiB)));
  a.passed = arena->mark();
  arena->absorb_passed(ready);
  EXPECT_EQ(take(ready, large(kMiB)), freed);
  EXPECT_TRUE(arena->passed(ready, reinterpret_cast<void*>(freed)));
  give_back(a, block);
}

}  // namespace
}  // namespace gpumem
