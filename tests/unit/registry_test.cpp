#include "engine/registry.hpp"

#include <gtest/gtest.h>

#include "engine/error.hpp"

namespace gpumem {
namespace {

Allocation block(uintptr_t base, size_t bytes, const void* owner) {
  return {base, bytes, GPUMEM_MEMORY_DEVICE, Runs::cuda, 0, owner};
}

std::string mistake(Registry& registry, uintptr_t p, const void* owner) {
  try {
    registry.remove(p, owner);
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
  registry.add(block(1000, 100, &kA));
  registry.add(block(1100, 1, &kA));
  EXPECT_FALSE(registry.find(999));
  EXPECT_EQ(registry.find(1000)->base, 1000u);
  EXPECT_EQ(registry.find(1099)->base, 1000u);
  EXPECT_EQ(registry.find(1100)->base, 1100u);
  EXPECT_FALSE(registry.find(1101));
}

TEST(Registry, NamesEachMistake) {
  Registry registry;
  registry.add(block(1000, 100, &kA));
  EXPECT_NE(mistake(registry, 1001, &kA).find("1 bytes inside"), std::string::npos);
  EXPECT_NE(mistake(registry, 1000, &kB).find("another context"), std::string::npos);
  EXPECT_NE(mistake(registry, 5000, &kA).find("not allocated by gpumem"), std::string::npos);
  EXPECT_EQ(mistake(registry, 1000, &kA), "");
  EXPECT_NE(mistake(registry, 1000, &kA).find("freed before"), std::string::npos);
  EXPECT_TRUE(registry.find_freed(1050));
  EXPECT_FALSE(registry.find(1050));
}

TEST(Registry, ATombstoneGoesWhenItsPlaceIsTaken) {
  Registry registry;
  registry.add(block(1000, 100, &kA));
  registry.remove(1000, &kA);
  registry.add(block(1090, 20, &kA));
  EXPECT_FALSE(registry.find_freed(1000));
  registry.remove(1090, &kA);
  registry.add(block(1000, 200, &kA));
  EXPECT_FALSE(registry.find_freed(1095));
}

TEST(Registry, RemoveAnyEmptiesAnOwner) {
  Registry registry;
  registry.add(block(1000, 10, &kA));
  registry.add(block(2000, 10, &kB));
  registry.add(block(3000, 10, &kA));
  EXPECT_TRUE(registry.remove_any(&kA));
  EXPECT_TRUE(registry.remove_any(&kA));
  EXPECT_FALSE(registry.remove_any(&kA));
  EXPECT_TRUE(registry.find(2000));
}

TEST(Registry, RemembersABoundedNumberOfFreedBlocks) {
  Registry registry;
  for (uintptr_t i = 1; i <= 10000; ++i) {
    registry.add(block(i * 1000, 10, &kA));
    registry.remove(i * 1000, &kA);
  }
  int remembered = 0;
  for (uintptr_t i = 1; i <= 10000; ++i) remembered += registry.find_freed(i * 1000) ? 1 : 0;
  EXPECT_EQ(remembered, 4096);
  EXPECT_TRUE(registry.find_freed(10000 * 1000)) << "the latest is remembered";
  registry.add(block(500, 10, &kA));  // below all of the others
  registry.remove(500, &kA);
  registry.add(block(99999999, 10, &kA));
  registry.remove(99999999, &kA);
  EXPECT_TRUE(registry.find_freed(500)) << "the oldest goes, not the lowest";
}

}  // namespace
}  // namespace gpumem
