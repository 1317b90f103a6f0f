// A host context in a program that has a CUDA driver loaded: the driver's pointers are told apart, never touched. The driver
// here is a stand-in with three known addresses, loaded under the driver's name.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include "backend/host/foreign_cuda.hpp"
#include "gpumem.h"
#include "tests/unit/stand_in_driver.h"

namespace gpumem {
namespace {

class Host {
 public:
  Host() {
    gpumem_ctx_options options;
    gpumem_ctx_options_init(&options, sizeof options);
    options.device = GPUMEM_DEVICE_HOST;
    EXPECT_EQ(gpumem_ctx_create(&options, &ctx_), GPUMEM_OK);
  }
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;
  ~Host() { EXPECT_EQ(gpumem_ctx_destroy(ctx_), GPUMEM_OK); }

  void expect_device_pointer_is_refused() {
    const auto* const x = reinterpret_cast<const int32_t*>(STAND_IN_DEVICE_POINTER);
    int64_t sum = 17;
    EXPECT_EQ(gpumem_reduce_i32(ctx_, GPUMEM_SUM, x, 8, 1, &sum), GPUMEM_UNSUPPORTED);
    EXPECT_EQ(sum, 17);
    char sentence[512];
    gpumem_last_error(sentence, sizeof sentence, nullptr);
    EXPECT_NE(std::string(sentence).find("device 3"), std::string::npos) << sentence;
    EXPECT_EQ(kind_of(x), GPUMEM_MEMORY_DEVICE);
  }
  gpumem_memory_kind kind_of(const void* p) {
    gpumem_pointer_info info;
    gpumem_pointer_info_init(&info, sizeof info);
    EXPECT_EQ(gpumem_pointer_query(ctx_, p, &info), GPUMEM_OK);
    return info.kind;
  }

 private:
  gpumem_ctx* ctx_ = nullptr;
};

// In one test, since a driver that is loaded stays.
TEST(ForeignCuda, ADriversMemoryIsToldApartWheneverItWasLoaded) {
  if (dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_LAZY) != nullptr)
    GTEST_SKIP() << "this process has a real CUDA driver loaded";
  Host before;
  look_for_cuda();
  EXPECT_FALSE(ask_found_cuda(reinterpret_cast<void*>(STAND_IN_DEVICE_POINTER)).known);
  ASSERT_NE(dlopen(GPUMEM_STAND_IN_DRIVER, RTLD_NOW | RTLD_GLOBAL), nullptr) << dlerror();
  EXPECT_FALSE(ask_found_cuda(reinterpret_cast<void*>(STAND_IN_DEVICE_POINTER)).known)
      << "a call took the loader's lock";
  before.expect_device_pointer_is_refused();

  Host after;
  after.expect_device_pointer_is_refused();
  EXPECT_EQ(after.kind_of(reinterpret_cast<void*>(STAND_IN_PINNED_POINTER)), GPUMEM_MEMORY_PINNED);
  EXPECT_EQ(after.kind_of(reinterpret_cast<void*>(STAND_IN_MANAGED_POINTER)), GPUMEM_MEMORY_MANAGED);
  EXPECT_EQ(ask_found_cuda(reinterpret_cast<void*>(STAND_IN_DEVICE_POINTER)).device, 3);
}

}  // namespace
}  // namespace gpumem
