// A context on a GPU with room for operands beyond 2^32 bytes, or a skip that says why there is none.
#pragma once

#include <cstdlib>
#include <string>
#include <vector>

#include "tests/gpu/gpu_fixture.hpp"

namespace gpumem::gpu_tests {

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

  // Calls run(name) with no variant of the family forced ("") and with each; it gives the call's status.
  template <class Run>
  void for_each_variant(gpumem_family family, const Run& run) {
    int32_t count = 0;
    ASSERT_EQ(gpumem_variant_count(family, &count), GPUMEM_OK);
    EXPECT_EQ(run(""), GPUMEM_OK) << last_error();
    int fitted = 0;
    for (int32_t i = 0; i < count; ++i) {
      const char* name = nullptr;
      ASSERT_EQ(gpumem_variant_name(family, i, &name), GPUMEM_OK);
      ASSERT_EQ(gpumem_variant_force(ctx, family, name), GPUMEM_OK);
      const gpumem_status status = run(name);
      EXPECT_TRUE(status == GPUMEM_OK || status == GPUMEM_UNSUPPORTED) << name << ": " << last_error();
      fitted += status == GPUMEM_OK ? 1 : 0;
    }
    ASSERT_EQ(gpumem_variant_force(ctx, family, nullptr), GPUMEM_OK);
    EXPECT_GE(fitted, 1);
  }
};

}  // namespace gpumem::gpu_tests
