// Sizes beyond 2^32: index arithmetic that 32 bits would break.
#include <cstdlib>

#include "tests/gpu/device_memory.hpp"
#include "tests/gpu/gpu_fixture.hpp"

namespace gpumem::gpu_tests {
namespace {

class Large : public Gpu {
 protected:
  void SetUp() override {
    Gpu::SetUp();
    if (ctx == nullptr) return;
    if (std::getenv("GPUMEM_TEST_QUICK") != nullptr) GTEST_SKIP() << "GPUMEM_TEST_QUICK is set";
    size_t free = 0;
    size_t total = 0;
    ASSERT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
    if (free < (size_t{24} << 30)) GTEST_SKIP() << "needs 24 GiB of free device memory";
  }
};

TEST_F(Large, ReduceBeyond32BitsOfElements) {
  const int64_t n = (int64_t{1} << 32) + 12345;
  void* p = nullptr;
  ASSERT_EQ(gpumem_alloc_device(ctx, n * 4, &p), GPUMEM_OK) << last_error();
  auto* x = static_cast<int32_t*>(p);
  fill_value(x, n, -3);
  fill_value(x + n - 1, 1, -1000);
  for (const char* variant : {static_cast<const char*>(nullptr), "two_pass", "two_pass_elements"}) {
    ASSERT_EQ(gpumem_variant_force(ctx, GPUMEM_FAMILY_REDUCE, variant), GPUMEM_OK);
    int64_t value = 0;
    EXPECT_EQ(gpumem_reduce_i32(ctx, GPUMEM_SUM, x, n, 1, &value), GPUMEM_OK) << last_error();
    EXPECT_EQ(value, -3 * (n - 1) - 1000);
    EXPECT_EQ(gpumem_reduce_i32(ctx, GPUMEM_MIN, x, n, 1, &value), GPUMEM_OK) << last_error();
    EXPECT_EQ(value, -1000);
  }
  EXPECT_EQ(gpumem_free(ctx, p), GPUMEM_OK);
}

TEST_F(Large, TransposeBeyond32BitsOfElements) {
  const int64_t rows = 65536 + 48;
  const int64_t cols = 65536 + 32;
  void* src = nullptr;
  void* dst = nullptr;
  ASSERT_EQ(gpumem_alloc_device(ctx, rows * cols, &src), GPUMEM_OK) << last_error();
  ASSERT_EQ(gpumem_alloc_device(ctx, rows * cols, &dst), GPUMEM_OK) << last_error();
  fill_hash_bytes(static_cast<unsigned char*>(src), rows * cols);
  for (const char* variant : {"tile_vec16", "tile_padded", "tile_bytes"}) {
    ASSERT_EQ(gpumem_variant_force(ctx, GPUMEM_FAMILY_TRANSPOSE, variant), GPUMEM_OK);
    ASSERT_EQ(gpumem_fill(ctx, dst, "\xee", 1, rows * cols), GPUMEM_OK);
    EXPECT_EQ(gpumem_transpose(ctx, 1, rows, cols, src, cols, dst, rows), GPUMEM_OK) << last_error();
    EXPECT_EQ(wrong_transposed_bytes(static_cast<unsigned char*>(dst), rows, cols), 0) << variant;
  }
  EXPECT_EQ(gpumem_free(ctx, src), GPUMEM_OK);
  EXPECT_EQ(gpumem_free(ctx, dst), GPUMEM_OK);
}

}  // namespace
}  // namespace gpumem::gpu_tests
