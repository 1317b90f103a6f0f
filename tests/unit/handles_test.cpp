#include "context/handles.hpp"

#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "base/error.hpp"

namespace gpumem {
namespace {

gpumem_status status_of_get(const HandleTable& table, uint64_t handle, HandleType type) {
  try {
    table.get(handle, type, "it");
    return GPUMEM_OK;
  } catch (const Error& error) {
    return error.status();
  }
}

TEST(HandleTable, GivesBackWhatWasPutIn) {
  auto table = std::make_unique<HandleTable>(1);
  int a = 0;
  int b = 0;
  const uint64_t ha = table->insert(HandleType::stream, &a);
  const uint64_t hb = table->insert(HandleType::event, &b);
  EXPECT_NE(ha, hb);
  EXPECT_EQ(table->get(ha, HandleType::stream, "it"), &a);
  EXPECT_EQ(table->get(hb, HandleType::event, "it"), &b);
  EXPECT_EQ(status_of_get(*table, ha, HandleType::event), GPUMEM_INVALID_HANDLE);
  EXPECT_EQ(status_of_get(*table, 0, HandleType::event), GPUMEM_INVALID_ARGUMENT);
}

TEST(HandleTable, ErasedHandlesStayDeadWhenTheirSlotIsReused) {
  auto table = std::make_unique<HandleTable>(1);
  int object = 0;
  std::vector<uint64_t> dead;
  for (int i = 0; i < 5000; ++i) {
    const uint64_t handle = table->insert(HandleType::context, &object);
    table->erase(handle);
    dead.push_back(handle);
  }
  const uint64_t live = table->insert(HandleType::context, &object);
  for (const uint64_t handle : dead)
    EXPECT_EQ(status_of_get(*table, handle, HandleType::context), GPUMEM_INVALID_HANDLE);
  EXPECT_EQ(status_of_get(*table, live, HandleType::context), GPUMEM_OK);
}

TEST(HandleTable, GarbageIsNeverAHandle) {
  auto table = std::make_unique<HandleTable>(3);
  int object = 0;
  const uint64_t live = table->insert(HandleType::context, &object);
  std::mt19937_64 random(5);
  for (int i = 0; i < 100000; ++i) {
    const uint64_t garbage = i % 2 == 0 ? random() : random() >> 16;
    if (garbage == live) continue;
    EXPECT_NE(status_of_get(*table, garbage, HandleType::context), GPUMEM_OK) << garbage;
  }
  EXPECT_EQ(status_of_get(*table, reinterpret_cast<uintptr_t>(&object), HandleType::context), GPUMEM_INVALID_HANDLE);
}

TEST(HandleTable, HandlesOfAnEarlierEpochAreForked) {
  auto parent = std::make_unique<HandleTable>(1);
  auto child = std::make_unique<HandleTable>(2);
  int object = 0;
  const uint64_t inherited = parent->insert(HandleType::context, &object);
  EXPECT_EQ(status_of_get(*child, inherited, HandleType::context), GPUMEM_FORKED);
}

TEST(HandleTable, ManyThreads) {
  auto table = std::make_unique<HandleTable>(1);
  const auto work = [&](int seed) {
    std::mt19937 random(static_cast<unsigned>(seed));
    std::vector<uint64_t> mine;
    for (int i = 0; i < 5000; ++i) {
      if (mine.empty() || random() % 2 == 0) {
        mine.push_back(table->insert(HandleType::event, &table));
      } else {
        EXPECT_EQ(table->get(mine.back(), HandleType::event, "it"), &table);
        table->erase(mine.back());
        mine.pop_back();
      }
    }
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) threads.emplace_back(work, t);
  for (auto& thread : threads) thread.join();
}

}  // namespace
}  // namespace gpumem
