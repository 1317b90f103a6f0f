// A device fault, made by the program's own kernel: it sticks to the context, every call says so, and the end is orderly.
// A lost context is lost for the whole process, so this is an executable of its own.
#include "tests/gpu/device_memory.hpp"
#include "tests/gpu/gpu_fixture.hpp"

namespace gpumem::gpu_tests {
namespace {

class DeviceFault : public Gpu {};

TEST_F(DeviceFault, SticksAndEveryCallSaysSo) {
  void* p = nullptr;
  ASSERT_EQ(gpumem_alloc_device(ctx, 4096, &p), GPUMEM_OK);
  gpumem_stream* stream = nullptr;
  ASSERT_EQ(gpumem_stream_create(ctx, &stream), GPUMEM_OK);
  ASSERT_EQ(gpumem_ctx_status(ctx), GPUMEM_OK);
  gpumem_ctx* other = make_context(GPUMEM_DEVICE_CUDA);

  fault(nullptr);
  int64_t sum = 17;
  EXPECT_EQ(gpumem_reduce_i32(ctx, GPUMEM_SUM, static_cast<int32_t*>(p), 8, 1, &sum), GPUMEM_DEVICE_FAULT)
      << last_error();
  EXPECT_EQ(gpumem_ctx_status(ctx), GPUMEM_DEVICE_FAULT);
  EXPECT_NE(last_error().find("cudaError"), std::string::npos) << last_error();
  EXPECT_EQ(gpumem_ctx_status(other), GPUMEM_DEVICE_FAULT) << "it is the device's context that is lost";

  EXPECT_EQ(gpumem_fill(ctx, p, "a", 1, 4096), GPUMEM_DEVICE_FAULT);
  EXPECT_EQ(gpumem_copy(ctx, &sum, p, 8), GPUMEM_DEVICE_FAULT);
  EXPECT_EQ(gpumem_ctx_synchronize(ctx), GPUMEM_DEVICE_FAULT);
  void* more = &sum;
  EXPECT_EQ(gpumem_alloc_device(ctx, 4096, &more), GPUMEM_DEVICE_FAULT);
  EXPECT_EQ(more, nullptr);
  EXPECT_EQ(sum, 17);

  EXPECT_EQ(gpumem_ctx_destroy(ctx), GPUMEM_BUSY);
  EXPECT_EQ(gpumem_stream_destroy(stream), GPUMEM_OK);
  EXPECT_EQ(gpumem_ctx_destroy(other), GPUMEM_OK);
  EXPECT_EQ(gpumem_ctx_destroy(ctx), GPUMEM_OK) << "with an allocation alive and the device lost";
  ctx = nullptr;

  // A new context can't have the lost device; asked for the best, the host stands in.
  gpumem_ctx* best = nullptr;
  ASSERT_EQ(gpumem_ctx_create(nullptr, &best), GPUMEM_OK) << last_error();
  gpumem_device_info info;
  gpumem_device_info_init(&info, sizeof info);
  ASSERT_EQ(gpumem_ctx_device(best, &info), GPUMEM_OK);
  EXPECT_EQ(info.backend, GPUMEM_BACKEND_HOST);
  EXPECT_EQ(info.reason_code, GPUMEM_DEVICE_FAULT) << info.reason;
  EXPECT_EQ(gpumem_ctx_destroy(best), GPUMEM_OK);
}

}  // namespace
}  // namespace gpumem::gpu_tests
