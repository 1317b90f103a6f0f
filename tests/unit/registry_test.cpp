#include "memory/registry.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "base/error.hpp"

namespace gpumem {
namespace {

Allocation block(uintptr_t base, size_t bytes, const void* owner) {
  return {base, bytes, GPUMEM_MEMORY_DEVICE, ExecutionSpace::cuda, 0, owner};
}

// A region that is one live block.
void add(Registry& registry, const Allocation& allocation) {
  auto region = std::make_unique<Region>();
  region->base = allocation.base;
  region->bytes = allocation.bytes;
  region->slot_bytes = allocation.bytes;
  region->kind = allocation.kind;
  region->backend = allocation.backend;
  region->device = allocation.device;
  region->owner = allocation.owner;
  region->only.store(slot::live(allocation.bytes), std::memory_order_release);
  registry.add(std::move(region));
}

void remove(Registry& registry, uintptr_t p, const void* owner) { registry.remove(*registry.claim(p, owner).region); }

std::string mistake(Registry& registry, uintptr_t p, const void* owner) {
  try {
    remove(registry, p, owner);
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), GPUMEM_INVALID_POINTER);
    return error.what();
  }
}

const int kA = 0;
const int kB = 0;

TEST(Registry, FindsByAnyAddressInside) {
  Registry registry;
  add(registry, block(1000, 100, &kA));
  add(registry, block(1100, 1, &kA));
  EXPECT_FALSE(registry.find(999));
  EXPECT_EQ(registry.find(1000)->base, 1000u);
  EXPECT_EQ(registry.find(1099)->base, 1000u);
  EXPECT_EQ(registry.find(1100)->base, 1100u);
  EXPECT_FALSE(registry.find(1101));
}

TEST(Registry, NamesEachMistake) {
  Registry registry;
  add(registry, block(1000, 100, &kA));
  EXPECT_NE(mistake(registry, 1001, &kA).find("1 bytes inside"), std::string::npos);
  EXPECT_NE(mistake(registry, 1000, &kB).find("another context"), std::string::npos);
  EXPECT_NE(mistake(registry, 5000, &kA).find("not allocated by gpumem"), std::string::npos);
  EXPECT_EQ(mistake(registry, 1000, &kA), "");
  EXPECT_NE(mistake(registry, 1000, &kA).find("freed before"), std::string::npos);
  EXPECT_TRUE(registry.find_freed(1050));
  EXPECT_FALSE(registry.find(1050));
}

// Thousands of regions after its first end, when that would be forgotten.
TEST(Registry, ALaterEndAtOnePlaceIsRememberedAsLongAsAnyOther) {
  Registry registry;
  const auto come_and_go = [&](uintptr_t p) {
    add(registry, block(p, 100, &kA));
    remove(registry, p, &kA);
  };
  come_and_go(1000);
  for (uintptr_t i = 1; i < 4090; ++i) come_and_go(1000 + i * 1000);
  come_and_go(1000);
  for (uintptr_t i = 5000; i < 5020; ++i) come_and_go(i * 1000);
  EXPECT_TRUE(registry.find_freed(1000));
}

TEST(Registry, ATombstoneGoesWhenItsPlaceIsTaken) {
  Registry registry;
  add(registry, block(1000, 100, &kA));
  remove(registry, 1000, &kA);
  add(registry, block(1090, 20, &kA));
  EXPECT_FALSE(registry.find_freed(1000));
  remove(registry, 1090, &kA);
  add(registry, block(1000, 200, &kA));
  EXPECT_FALSE(registry.find_freed(1095));
}

TEST(Registry, RemoveAloneEmptiesAnOwner) {
  Registry registry;
  add(registry, block(1000, 10, &kA));
  add(registry, block(2000, 10, &kB));
  add(registry, block(3000, 10, &kA));
  EXPECT_FALSE(registry.remove_alone(&kA, GPUMEM_MEMORY_PINNED));
  EXPECT_FALSE(registry.remove_registered(&kA));
  EXPECT_TRUE(registry.remove_alone(&kA, GPUMEM_MEMORY_DEVICE));
  EXPECT_TRUE(registry.remove_alone(&kA, GPUMEM_MEMORY_DEVICE));
  EXPECT_FALSE(registry.remove_alone(&kA, GPUMEM_MEMORY_DEVICE));
  EXPECT_TRUE(registry.find(2000));
}

// A region of equal slots, as the pools have them.
Region& add_slab(Registry& registry, uintptr_t base, size_t slot_bytes, uint32_t slots) {
  auto region = std::make_unique<Region>();
  region->base = base;
  region->slot_bytes = slot_bytes;
  region->slots = slots;
  region->bytes = slot_bytes * slots + 100;  // with a rest behind the last slot
  region->several = std::make_unique<std::atomic<uint64_t>[]>(slots);
  region->owner = &kA;
  return registry.add(std::move(region));
}

TEST(Registry, TellsTheSlotsOfARegionApart) {
  Registry registry;
  Region& slab = add_slab(registry, 4096, 256, 3);
  slab.word(1).store(slot::live(200));
  EXPECT_FALSE(registry.find(4096));
  EXPECT_NE(mistake(registry, 4096, &kA).find("not allocated by gpumem"), std::string::npos) << "never handed out";
  EXPECT_EQ(registry.find(4096 + 256 + 199)->base, 4096u + 256);
  EXPECT_EQ(registry.find(4096 + 256 + 199)->bytes, 200u);
  EXPECT_FALSE(registry.find(4096 + 256 + 200)) << "behind what was asked for";
  EXPECT_TRUE(registry.sight(4096 + 256 + 200).ours);
  EXPECT_TRUE(registry.sight(4096 + 3 * 256 + 99).ours);
  EXPECT_FALSE(registry.sight(4096 + 3 * 256 + 100).ours);
  EXPECT_NE(mistake(registry, 4096 + 256 + 7, &kA).find("7 bytes inside"), std::string::npos);
  EXPECT_NE(mistake(registry, 4096 + 3 * 256, &kA).find("not allocated by gpumem"), std::string::npos);
  const Claim claim = registry.claim(4096 + 256, &kA);
  EXPECT_EQ(claim.bytes(), 200u);
  EXPECT_TRUE(registry.find_freed(4096 + 256));
  EXPECT_FALSE(registry.find_freed(4096 + 512));
  EXPECT_NE(mistake(registry, 4096 + 256, &kA).find("freed before"), std::string::npos);
  Registry::unclaim(claim);
  EXPECT_TRUE(registry.find(4096 + 256));
  slab.word(1).store(slot::kFreed);
  registry.remove(slab);
  EXPECT_FALSE(registry.sight(4096).ours);
  EXPECT_TRUE(registry.find_freed(4096 + 512)) << "the place of a region that is gone";
}

TEST(Registry, FindsAmongManyRegionsInOnePieceAndAcrossPieces) {
  constexpr uintptr_t kPiece = uintptr_t{2} << 20;
  constexpr uintptr_t kStart = 1000 * kPiece;
  Registry registry;
  add(registry, block(kStart - 8 * kPiece - 100, 8 * kPiece + 50, &kA));
  for (uintptr_t i = 100; i-- > 0;) add(registry, block(kStart + i * 512, 512 - i, &kA));
  add(registry, block(kStart + 100 * 512, 3 * kPiece, &kA));
  add(registry, block(UINTPTR_MAX - 99, 100, &kA));
  EXPECT_EQ(registry.find(kStart - 51)->base, kStart - 8 * kPiece - 100);
  EXPECT_EQ(registry.find(kStart - 4 * kPiece)->base, kStart - 8 * kPiece - 100);
  EXPECT_FALSE(registry.find(kStart - 50));
  for (uintptr_t i = 0; i < 100; ++i) {
    EXPECT_EQ(registry.find(kStart + i * 512 + 511 - i)->base, kStart + i * 512);
    EXPECT_EQ(static_cast<bool>(registry.find(kStart + i * 512 + 511)), i == 0);
  }
  EXPECT_EQ(registry.find(kStart + 3 * kPiece)->base, kStart + 100 * 512);
  EXPECT_TRUE(registry.find(UINTPTR_MAX));
  for (uintptr_t i = 0; i < 100; i += 2) remove(registry, kStart + i * 512, &kA);
  for (uintptr_t i = 0; i < 100; ++i) EXPECT_EQ(static_cast<bool>(registry.find(kStart + i * 512)), i % 2 == 1);
}

// A range that begins outside, and where it runs into a region.
TEST(Registry, TellsWhereARangeRunsIntoARegion) {
  constexpr uintptr_t kPiece = uintptr_t{2} << 20;
  constexpr uintptr_t kStart = 1000 * kPiece;
  Registry registry;
  Region& slab = add_slab(registry, kStart, 256, 3);
  add(registry, block(kStart + 5000 * kPiece, 4096, &kA));
  Allocation own = block(kStart + 20 * kPiece, kPiece, &kA);
  own.registered = true;
  registry.add_registered(own);
  EXPECT_FALSE(registry.encounter(kStart - 100, 100, 0));
  EXPECT_EQ(registry.encounter(kStart - 100, 101, 0)->base, kStart);
  EXPECT_FALSE(registry.encounter(kStart - 100, 101, 0)->live);
  slab.word(0).store(slot::live(200));
  EXPECT_TRUE(registry.encounter(kStart - 100, 101, 0)->live);
  EXPECT_FALSE(registry.encounter(kStart + 868, kPiece, 0)) << "begins behind it";
  EXPECT_FALSE(registry.encounter(kStart - 100, 110, 10)) << "in a gap";
  EXPECT_EQ(registry.encounter(kStart - 100, 111, 10)->base, kStart);
  EXPECT_EQ(registry.encounter(kStart - 100, 10000 * kPiece, 868)->base, kStart + 5000 * kPiece) << "over the first";
  EXPECT_FALSE(registry.encounter(kStart + 10 * kPiece, 100 * kPiece, 0)) << "the program's own, registered";
  EXPECT_FALSE(registry.encounter(kStart + 5001 * kPiece, UINTPTR_MAX - kStart - 5001 * kPiece, 0));
  slab.word(0).store(slot::kFreed);
  registry.remove(slab);
  EXPECT_FALSE(registry.encounter(kStart - 100, 101, 0));
}

// Of a range over more places than there are regions, the regions are looked at instead, in no order of their own.
TEST(Registry, TellsTheFirstOfFewRegionsInAHugeRange) {
  constexpr uintptr_t kFar = uintptr_t{1} << 40;
  for (const bool upwards : {true, false}) {
    Registry registry;
    for (uintptr_t i = 1; i <= 5; ++i) add(registry, block((upwards ? i : 6 - i) * kFar, 4096, &kA));
    EXPECT_EQ(registry.encounter(kFar / 2, 5 * kFar, 0)->base, kFar);
    EXPECT_EQ(registry.encounter(kFar + 4096, 3 * kFar, 0)->base, 2 * kFar);
    EXPECT_FALSE(registry.encounter(3 * kFar + 4096, kFar - 4096, 0));
  }
}

TEST(Registry, RemembersABoundedNumberOfFreedBlocks) {
  Registry registry;
  for (uintptr_t i = 1; i <= 10000; ++i) {
    add(registry, block(i * 1000, 10, &kA));
    remove(registry, i * 1000, &kA);
  }
  int remembered = 0;
  for (uintptr_t i = 1; i <= 10000; ++i) remembered += registry.find_freed(i * 1000) ? 1 : 0;
  EXPECT_EQ(remembered, 4096);
  EXPECT_TRUE(registry.find_freed(10000 * 1000)) << "the latest is remembered";
  add(registry, block(500, 10, &kA));  // below all of the others
  remove(registry, 500, &kA);
  add(registry, block(99999999, 10, &kA));
  remove(registry, 99999999, &kA);
  EXPECT_TRUE(registry.find_freed(500)) << "the oldest goes, not the lowest";
}

}  // namespace
}  // namespace gpumem
