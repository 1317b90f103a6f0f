#include "soak/free_memory.hpp"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstddef>

namespace gpumem_test {

int64_t free_device_memory() {
  std::size_t free = 0;
  std::size_t total = 0;
  EXPECT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
  return static_cast<int64_t>(free);
}

}  // namespace gpumem_test
