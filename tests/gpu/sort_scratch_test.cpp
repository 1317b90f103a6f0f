// The plan of a sort bounds the scratch memory of CUB without asking it. CUB's own answer must not be larger.
#include <gtest/gtest.h>

#include "backend/backend.hpp"
#include "kernels/sort/radix_sort.hpp"
#include "select/variants.hpp"

namespace gpumem {
namespace {

TEST(SortScratch, IsEnoughForCub) {
  const CudaDevices devices = cuda_devices();
  if (devices.status != GPUMEM_OK) GTEST_SKIP() << "no CUDA device: " << devices.reason;
  const DeviceProps props = cuda_props(devices.current);
  const auto& radix = implementation<SortFamily>("radix");
  alignas(16) static char memory[3][16];
  for (gpumem_dtype dtype = 0; dtype < kDtypes; ++dtype) {
    for (int outputs = 1; outputs < 4; ++outputs) {
      for (const bool in_place : {false, true}) {
        for (int64_t n = 1; n < int64_t{1} << 36; n += n / 3 + 1) {
          SortParams p{.dtype = dtype, .keys = memory[0], .n = n};
          if ((outputs & 1) != 0) p.sorted = memory[in_place ? 0 : 1];
          if ((outputs & 2) != 0) p.order = memory[2];
          Config config;
          ASSERT_EQ(radix.plan(props, p, config), nullptr);
          int64_t asked = 0;
          ASSERT_EQ(kernels::radix_sort_scratch(p, asked), 0);
          const auto scratch = config.own.get<SortScratch>();
          ASSERT_GE(scratch.cub_bytes, asked) << traits_of(dtype).name << ", " << n << ", outputs " << outputs;
          ASSERT_LE(scratch.cub_bytes, asked + n + (int64_t{64} << 20)) << traits_of(dtype).name << ", " << n;
        }
      }
    }
  }
}

}  // namespace
}  // namespace gpumem
