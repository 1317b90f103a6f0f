#include <vector>

#include "tests/gpu/gpu_fixture.hpp"

namespace gpumem::gpu_tests {
namespace {

TEST_F(Gpu, ManagedMemoryGoesWhereItIsSentAndKeepsItsContents) {
  gpumem_device_info info;
  gpumem_device_info_init(&info, sizeof info);
  ASSERT_EQ(gpumem_ctx_device(ctx, &info), GPUMEM_OK);
  if (info.concurrent_managed == 0) GTEST_SKIP() << "the device has no concurrent managed access";
  constexpr int64_t kCount = 4 << 20;
  void* p = nullptr;
  ASSERT_EQ(gpumem_alloc_managed(ctx, kCount * 4, &p), GPUMEM_OK);
  auto* x = static_cast<int32_t*>(p);
  for (int64_t i = 0; i < kCount; ++i) x[i] = static_cast<int32_t>(i % 1000);
  for (const auto advice :
       {GPUMEM_ADVISE_READ_MOSTLY, GPUMEM_ADVISE_UNSET_READ_MOSTLY, GPUMEM_ADVISE_PREFERRED_LOCATION,
        GPUMEM_ADVISE_UNSET_PREFERRED_LOCATION, GPUMEM_ADVISE_ACCESSED_BY, GPUMEM_ADVISE_UNSET_ACCESSED_BY}) {
    EXPECT_EQ(gpumem_managed_advise(ctx, p, kCount * 4, advice, info.device), GPUMEM_OK)
        << advice << ": " << last_error();
  }
  gpumem_managed_info managed;
  gpumem_managed_info_init(&managed, sizeof managed);
  const auto host_bytes = [&] {
    EXPECT_EQ(gpumem_managed_query(ctx, p, kCount * 4, &managed), GPUMEM_OK) << last_error();
    return managed.host_bytes;
  };
  EXPECT_EQ(host_bytes(), kCount * 4);
  EXPECT_EQ(gpumem_managed_prefetch(ctx, p, kCount * 4, info.device), GPUMEM_OK) << last_error();
  EXPECT_EQ(host_bytes(), 0);
  int64_t on_device = 0;
  EXPECT_EQ(gpumem_reduce_i32(ctx, GPUMEM_SUM, x, kCount, 1, &on_device), GPUMEM_OK);
  EXPECT_EQ(gpumem_managed_prefetch(ctx, p, kCount * 4, GPUMEM_DEVICE_HOST), GPUMEM_OK) << last_error();
  EXPECT_EQ(host_bytes(), kCount * 4);
  EXPECT_EQ(gpumem_reduce_i32(ctx, GPUMEM_SUM, x, kCount, 1, &on_device), GPUMEM_OK);
  EXPECT_EQ(host_bytes(), 0) << "the work brought its operand";
  int64_t on_host = 0;
  for (int64_t i = 0; i < kCount; ++i) on_host += x[i];
  EXPECT_EQ(on_device, on_host);

  int plain = 0;
  EXPECT_EQ(gpumem_managed_prefetch(ctx, &plain, 4, info.device), GPUMEM_INVALID_POINTER);
  EXPECT_EQ(gpumem_managed_prefetch(ctx, p, kCount * 4 + 1, info.device), GPUMEM_OUT_OF_RANGE);
  EXPECT_EQ(gpumem_managed_prefetch(ctx, p, kCount * 4, 77), GPUMEM_NOT_FOUND);
  EXPECT_EQ(gpumem_free(ctx, p), GPUMEM_OK);
}

}  // namespace
}  // namespace gpumem::gpu_tests
