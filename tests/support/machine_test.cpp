// Shows in every test program whether its tests ran on CUDA contexts too, and if not, why.
#include "support/contexts.hpp"

namespace gpumem_test {
namespace {

TEST(Machine, HasCudaContexts) {
  if (cuda_devices() == 0) GTEST_SKIP() << "only host contexts are tested: " << no_cuda_reason();
  const Context ctx(On::cuda);
  EXPECT_TRUE(ok(gpumem_ctx_status(ctx)));
}

}  // namespace
}  // namespace gpumem_test
