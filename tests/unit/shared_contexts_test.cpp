// The native streams that a context of the process knows: one wrapper each, so many of them, and memory for all the others.
#include "ops/memory/shared_contexts.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "base/error.hpp"

namespace gpumem {
namespace {

constexpr size_t kMost = 256;

TEST(SharedContexts, EachStreamHasOneWrapperUpToABound) {
  if (cuda_devices().count == 0) GTEST_SKIP() << cuda_devices().reason;
  SharedContext& shared = shared_contexts().of(0);
  Backend& device = shared.context.device();
  std::vector<NativeStream> natives;
  std::vector<Stream*> wrappers;
  for (size_t i = 0; i < kMost; ++i) {
    natives.push_back(device.create_stream());
    wrappers.push_back(shared.streams.of(natives.back()));
    ASSERT_NE(wrappers.back(), nullptr) << i;
    EXPECT_EQ(wrappers.back()->native, natives.back());
  }
  for (size_t i = 0; i < kMost; ++i) EXPECT_EQ(shared.streams.of(natives[i]), wrappers[i]);
  EXPECT_NE(shared.streams.of(nullptr), nullptr) << "the legacy stream does not count";
  EXPECT_EQ(shared.streams.of(nullptr), shared.streams.of(nullptr));
  NativeStream one_more = device.create_stream();
  EXPECT_EQ(shared.streams.of(one_more), nullptr);
  void* const p = shared.allocate(1000, nullptr);
  EXPECT_NE(p, nullptr);
  shared.free(p, nullptr);
  void* const of_a_stream = shared.allocate(1000, wrappers[7]);
  EXPECT_NE(of_a_stream, nullptr);
  shared.free(of_a_stream, wrappers[8]);
  EXPECT_EQ(shared.context.device_memory().state().counts.live_blocks, 0);
}

TEST(SharedContexts, AnOwnerIsFoundByItsContextAlone) {
  SharedContext& host = shared_contexts().of(GPUMEM_DEVICE_HOST);
  EXPECT_EQ(shared_contexts().owner(&host.context), &host);
  EXPECT_EQ(shared_contexts().owner(nullptr), nullptr);
  EXPECT_EQ(shared_contexts().owner(&host), nullptr);
  EXPECT_THROW(host.streams.of(&host), Error);
}

}  // namespace
}  // namespace gpumem
