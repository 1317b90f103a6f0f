// A context on the GPU, or a skip that says why there is none.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <string>

#include "gpumem.h"

namespace gpumem::gpu_tests {

inline std::string last_error() {
  char sentence[512] = "";
  gpumem_last_error(sentence, sizeof sentence, nullptr);
  return sentence;
}

inline gpumem_ctx* make_context(int32_t device) {
  gpumem_ctx_options options;
  gpumem_ctx_options_init(&options, sizeof options);
  options.device = device;
  gpumem_ctx* ctx = nullptr;
  EXPECT_EQ(gpumem_ctx_create(&options, &ctx), GPUMEM_OK) << last_error();
  return ctx;
}

class Gpu : public testing::Test {
 protected:
  void SetUp() override {
    int32_t count = 0;
    ASSERT_EQ(gpumem_device_count(&count), GPUMEM_OK);
    if (count == 0) {
      gpumem_device_info info;
      gpumem_device_info_init(&info, sizeof info);
      gpumem_device_query(GPUMEM_DEVICE_CUDA, &info);
      GTEST_SKIP() << last_error();
    }
    ctx = make_context(GPUMEM_DEVICE_CUDA);
    ASSERT_NE(ctx, nullptr);
  }
  void TearDown() override { EXPECT_EQ(gpumem_ctx_destroy(ctx), GPUMEM_OK) << last_error(); }

  gpumem_ctx* ctx = nullptr;
};

}  // namespace gpumem::gpu_tests
