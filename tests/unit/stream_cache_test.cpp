// Caches of streams: which block is taken next, what counts as idle, and what moves from cache to cache.
#include "memory/stream_cache.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "tests/unit/fake_backend.hpp"

namespace gpumem {
namespace {

class StreamCacheOfFake : public testing::Test {
 protected:
  Region& region(size_t block_bytes, uint32_t slots, uintptr_t base) {
    Region& made = *regions_.emplace_back(std::make_unique<Region>());
    made.base = base;
    made.slot_bytes = block_bytes;
    made.slots = slots;
    made.bytes = made.taken_bytes = slots * block_bytes;
    made.size_class = size_class_of(block_bytes);
    return made;
  }
  void attach(StreamCache& cache, Region& region) {
    cache.make_room(region.size_class, region.slots);
    cache.attach(region);
  }
  static std::optional<Block> take(StreamCache& cache, size_t bytes, size_t alignment = 256) {
    return cache.take(size_class_of(bytes), bytes, alignment);
  }

  FakeBackend backend_;
  Fences fences_{backend_};
  StreamCache cache_;

 private:
  std::vector<std::unique_ptr<Region>> regions_;
};

TEST_F(StreamCacheOfFake, TakesWhatWasPutLast) {
  Region& slab = region(512, 3, 0x10000);
  attach(cache_, slab);
  const Block first = *take(cache_, 512);
  const Block second = *take(cache_, 512);
  EXPECT_EQ(first.address(), 0x10000u);
  EXPECT_EQ(second.address(), 0x10200u);
  cache_.put(first);
  EXPECT_EQ(take(cache_, 512)->address(), first.address());
  EXPECT_TRUE(take(cache_, 512));
  EXPECT_FALSE(take(cache_, 512));
}

TEST_F(StreamCacheOfFake, TakesOnlyWhatIsAlignedAndAsLarge) {
  Region& slab = region(4096, 2, 0x11000);
  attach(cache_, slab);
  EXPECT_EQ(take(cache_, 4096, 0x2000)->address(), 0x12000u);
  EXPECT_FALSE(take(cache_, 4096, 0x2000));
  EXPECT_FALSE(cache_.take(slab.size_class, 4096 - 512, 256)) << "cut to another size";
}

TEST_F(StreamCacheOfFake, CountsRegionsOfWhichNothingIsLive) {
  constexpr size_t kLarge = size_t{1} << 20;
  Region& slab = region(512, 2, 0x10000);
  Region& large = region(kLarge, 1, 0x100000);
  attach(cache_, slab);
  attach(cache_, large);
  EXPECT_EQ(cache_.idle_bytes(), static_cast<int64_t>(1024 + kLarge));
  EXPECT_EQ(cache_.idle_large(), 1u);
  EXPECT_EQ(cache_.largest_idle_region(), &large);
  const Block block = *take(cache_, 512);
  EXPECT_EQ(cache_.idle_bytes(), static_cast<int64_t>(kLarge));
  EXPECT_EQ(cache_.idle_region(slab.size_class), nullptr) << "one of its blocks is live";
  EXPECT_TRUE(take(cache_, kLarge));
  EXPECT_EQ(cache_.idle_bytes(), 0);
  EXPECT_EQ(cache_.largest_idle_region(), nullptr);
  cache_.put(block);
  EXPECT_EQ(cache_.largest_idle_region(), &slab);
}

TEST_F(StreamCacheOfFake, DetachesIdleRegionsFromAClassOn) {
  Region& small = region(512, 2, 0x10000);
  Region& medium = region(4096, 2, 0x20000);
  attach(cache_, small);
  attach(cache_, medium);
  int size_class = small.size_class + 1;
  EXPECT_EQ(cache_.detach_idle(size_class), &medium);
  EXPECT_EQ(size_class, medium.size_class);
  EXPECT_EQ(cache_.detach_idle(size_class), nullptr);
  size_class = 0;
  EXPECT_EQ(cache_.detach_idle(size_class), &small);
  EXPECT_EQ(cache_.idle_bytes(), 0);
  EXPECT_EQ(cache_.slots_of(small.size_class), 0u);
  EXPECT_TRUE(cache_.regions.empty());
}

TEST_F(StreamCacheOfFake, WhatIsPendingIsFreeOnceItsFencesArePassed) {
  Region& slab = region(512, 2, 0x10000);
  attach(cache_, slab);
  const Block block = *take(cache_, 512);
  EXPECT_TRUE(take(cache_, 512));
  backend_.work_is_done = false;
  cache_.pending.push_back({block, {fences_.record(backend_.stream(1))}});
  cache_.settle();
  EXPECT_FALSE(take(cache_, 512));
  backend_.finish();
  cache_.settle();
  EXPECT_EQ(take(cache_, 512)->address(), block.address());
  EXPECT_TRUE(cache_.pending.empty());
}

TEST_F(StreamCacheOfFake, APendingBlockIsTakenByItsSize) {
  Region& slab = region(512, 1, 0x10000);
  attach(cache_, slab);
  backend_.work_is_done = false;
  cache_.pending.push_back({*take(cache_, 512), {fences_.record(backend_.stream(1))}});
  EXPECT_FALSE(cache_.take_pending(size_class_of(1024), 1024, 256));
  const auto pending = cache_.take_pending(slab.size_class, 512, 256);
  ASSERT_TRUE(pending);
  EXPECT_FALSE(pending->passed());
  EXPECT_TRUE(cache_.pending.empty());
}

TEST_F(StreamCacheOfFake, AbsorbsBlocksUsesAndCounts) {
  StreamCache other;
  Region& slab = region(512, 2, 0x10000);
  attach(other, slab);
  const Block live = *take(other, 512);
  other.add_use(live.address(), backend_.stream(2));
  other.add_use(live.address(), backend_.stream(2));
  cache_.absorb(other);
  EXPECT_EQ(slab.cache.load(), &cache_);
  EXPECT_EQ(cache_.uses[live.address()].streams.size(), 1u);
  EXPECT_EQ(cache_.slots_of(slab.size_class), 2u);
  EXPECT_EQ(other.slots_of(slab.size_class), 0u);
  EXPECT_TRUE(other.regions.empty());
  EXPECT_TRUE(take(cache_, 512));
  EXPECT_FALSE(take(other, 512));
  cache_.put(live);
  StreamCache* home = nullptr;
  const auto lock = lock_home(slab, home);
  EXPECT_EQ(home, &cache_);
}

TEST_F(StreamCacheOfFake, PassesItsFenceWithItsMark) {
  EXPECT_TRUE(cache_.passed_fence());
  backend_.work_is_done = false;
  cache_.fence = fences_.record(backend_.stream(1));
  cache_.fenced = 5;
  EXPECT_FALSE(cache_.passed_fence());
  EXPECT_EQ(cache_.passed, 0u);
  backend_.finish();
  EXPECT_TRUE(cache_.passed_fence());
  EXPECT_EQ(cache_.passed, 5u);
}

}  // namespace
}  // namespace gpumem
