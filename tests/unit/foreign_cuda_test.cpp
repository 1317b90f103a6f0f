// A host context in a program that has a CUDA driver loaded: the driver's pointers are told apart, never touched. The driver
// here is a stand-in with three known addresses, loaded under the driver's name.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include "backend/host/foreign_cuda.hpp"
#include "gpumem.h"
#include "tests/unit/stand_in_driver.h"

namespace gpumem {
namespace {

TEST(ForeignCuda, BeforeADriverIsLoadedNothingIsKnown) {
  if (dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_LAZY) != nullptr)
    GTEST_SKIP() << "this process has a real CUDA driver loaded";
  EXPECT_FALSE(ask_loaded_cuda(reinterpret_cast<void*>(STAND_IN_DEVICE_POINTER)).known);
}

TEST(ForeignCuda, ADevicePointerOnAHostContextIsUnsupported) {
  if (dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_LAZY) != nullptr)
    GTEST_SKIP() << "this process has a real CUDA driver loaded";
  ASSERT_NE(dlopen(GPUMEM_STAND_IN_DRIVER, RTLD_NOW | RTLD_GLOBAL), nullptr) << dlerror();
  EXPECT_EQ(ask_loaded_cuda(reinterpret_cast<void*>(STAND_IN_PINNED_POINTER)).kind, GPUMEM_MEMORY_PINNED);
  EXPECT_EQ(ask_loaded_cuda(reinterpret_cast<void*>(STAND_IN_MANAGED_POINTER)).kind, GPUMEM_MEMORY_MANAGED);
  const Location device = ask_loaded_cuda(reinterpret_cast<void*>(STAND_IN_DEVICE_POINTER));
  EXPECT_EQ(device.kind, GPUMEM_MEMORY_DEVICE);
  EXPECT_EQ(device.device, 3);

  gpumem_ctx_options options;
  gpumem_ctx_options_init(&options, sizeof options);
  options.device = GPUMEM_DEVICE_HOST;
  gpumem_ctx* ctx = nullptr;
  ASSERT_EQ(gpumem_ctx_create(&options, &ctx), GPUMEM_OK);
  int64_t sum = 17;
  EXPECT_EQ(gpumem_reduce_i32(ctx, GPUMEM_SUM, reinterpret_cast<const int32_t*>(STAND_IN_DEVICE_POINTER), 8, 1, &sum),
            GPUMEM_UNSUPPORTED);
  EXPECT_EQ(sum, 17);
  char sentence[512];
  gpumem_last_error(sentence, sizeof sentence, nullptr);
  EXPECT_NE(std::string(sentence).find("device 3"), std::string::npos) << sentence;
  EXPECT_EQ(gpumem_ctx_destroy(ctx), GPUMEM_OK);
}

}  // namespace
}  // namespace gpumem
