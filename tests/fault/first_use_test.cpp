// A context on the emulated device from its first call to its end, with a copy through a ring of pinned memory. From each call of CUDA
// on that makes something, all of them are refused: what the context had made by then goes again. It is so short that every one is
// tried in each run, where the scenario leaves most of its own out.
#include <gtest/gtest.h>

#include <vector>

#include "emulation/gates.hpp"
#include "support/contexts.hpp"

namespace gpumem_test {
namespace {

using namespace gpumem_emulation;

constexpr int64_t kBytes = 1 << 20;  // enough for a ring
constexpr int kOutOfMemory = 2;

void use_a_context() {
  const gpumem_ctx_options options = options_for(On::cuda, 2);
  gpumem_ctx* ctx = nullptr;
  if (gpumem_ctx_create(&options, &ctx) != GPUMEM_OK) return;
  const std::vector<char> heap(kBytes, 1);
  void* device = nullptr;
  if (gpumem_alloc_device(ctx, kBytes, &device) == GPUMEM_OK) {
    gpumem_copy(ctx, device, heap.data(), kBytes);
    EXPECT_TRUE(ok(gpumem_free(ctx, device)));
  }
  EXPECT_TRUE(ok(gpumem_ctx_destroy(ctx)));
}

TEST(FirstUse, KeepsNothingWhateverIsRefused) {
  use_a_context();  // what the process keeps for good
  const HeldOfDevice before = held_of_device();
  int64_t number = -1;
  do {
    fail_call(++number, Calls::allocations_after_it, kOutOfMemory);
    use_a_context();
    const HeldOfDevice after = held_of_device();
    ASSERT_EQ(after.ranges, before.ranges) << first_failed() << ", call " << number;
    ASSERT_EQ(after.streams_and_events, before.streams_and_events) << first_failed() << ", call " << number;
  } while (fail_nothing() > 0);
  EXPECT_GT(number, 5) << "the calls do not come through the gates";
}

}  // namespace
}  // namespace gpumem_test
