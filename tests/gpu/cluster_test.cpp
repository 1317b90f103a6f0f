// Clusters of blocks are used where the device has them. Whether they can be had is asked once a context; an answer that is wrongly "no"
// would show in nothing but speed.
#include <vector>

#include "tests/gpu/gpu_fixture.hpp"

namespace gpumem::gpu_tests {
namespace {

TEST_F(Gpu, HasClustersFromHopperOn) {
  gpumem_device_info info;
  ASSERT_EQ(gpumem_device_info_init(&info, sizeof info), GPUMEM_OK);
  ASSERT_EQ(gpumem_ctx_device(ctx, &info), GPUMEM_OK);
  if (info.compute_major < 9) GTEST_SKIP() << "it needs compute capability 9.0";
  const std::vector<int32_t> numbers(int64_t{1} << 15, 3);
  const auto bytes = static_cast<int64_t>(numbers.size() * sizeof(int32_t));
  void* x = nullptr;
  ASSERT_EQ(gpumem_alloc_device(ctx, bytes, &x), GPUMEM_OK) << last_error();
  EXPECT_EQ(gpumem_copy(ctx, x, numbers.data(), bytes), GPUMEM_OK) << last_error();
  EXPECT_EQ(gpumem_variant_force(ctx, GPUMEM_FAMILY_REDUCE, "single_tile_cluster"), GPUMEM_OK) << last_error();
  int64_t sum = 0;
  EXPECT_EQ(gpumem_reduce_i32(ctx, GPUMEM_SUM, static_cast<const int32_t*>(x), int64_t{1} << 15, 1, &sum), GPUMEM_OK)
      << last_error();
  EXPECT_EQ(sum, int64_t{3} << 15);
  EXPECT_EQ(gpumem_free(ctx, x), GPUMEM_OK) << last_error();
}

}  // namespace
}  // namespace gpumem::gpu_tests
