// Ceilings.
#include <gtest/gtest.h>

#include <vector>

#include "support/contexts.hpp"

namespace gpumem_test {
namespace {

class Measure : public OnEachContext {};

gpumem_ceiling_info ceiling_of(gpumem_ctx* ctx) {
  gpumem_ceiling_info info;
  EXPECT_TRUE(ok(gpumem_ceiling_info_init(&info, sizeof info)));
  EXPECT_TRUE(ok(gpumem_ceiling(ctx, &info)));
  return info;
}

TEST_P(Measure, CeilingsAreThoseOfMemoryAndStayForTheProcess) {
  const gpumem_ceiling_info first = ceiling_of(ctx);
  for (const int64_t rate : {first.read, first.write, first.copy}) {
    EXPECT_GT(rate, int64_t{10} << 20) << "slower than any memory";
    EXPECT_LT(rate, int64_t{100} << 40) << "faster than any memory";
  }
  EXPECT_GE(first.read, first.copy / 2) << "a copy read half its bytes in its time";
  EXPECT_GE(first.write, first.copy / 2);
  if (on_cuda()) {
    EXPECT_GT(first.to_device, 0);
    EXPECT_GT(first.from_device, 0);
  } else {
    EXPECT_EQ(first.to_device, 0);
    EXPECT_EQ(first.from_device, 0);
  }
  if (on_cuda() && !on_emulated_device(ctx)) {
    EXPECT_LT(first.read, first.theoretical);
  }
  Context other(GetParam());
  const gpumem_ceiling_info again = ceiling_of(other);
  EXPECT_EQ(again.read, first.read) << "measured again";
  EXPECT_EQ(again.copy, first.copy);
}

INSTANTIATE_TEST_SUITE_P(On, Measure, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
