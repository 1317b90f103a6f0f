// The cuda::mr resource, on the host: a null stream is the only one there.
#include <gtest/gtest.h>
#include <gpumem/cuda_memory_resource.hpp>

namespace {

TEST(CudaMemoryResource, AllocatesInTheSharedContext) {
  gpumem::cuda_memory_resource resource(gpumem::device_host);
  cuda::mr::resource_ref<cuda::mr::device_accessible> any(resource);
  const auto live = [] {
    return gpumem::memory_stats(gpumem::shared_context(gpumem::device_host).memory_stats()).device_blocks;
  };
  const auto before = live();
  const cuda::stream_ref stream{cudaStream_t{}};
  void* ordered = any.allocate(stream, 1000, 256);
  void* anywhere = any.allocate_sync(0, 256);
  EXPECT_NE(anywhere, nullptr);
  EXPECT_EQ(live(), before + 2);
  any.deallocate(stream, ordered, 1000, 256);
  any.deallocate_sync(anywhere, 0, 256);
  EXPECT_EQ(live(), before);
  EXPECT_TRUE(resource == gpumem::cuda_memory_resource(gpumem::device_host));
  EXPECT_TRUE(resource != gpumem::cuda_memory_resource(0));
}

TEST(CudaMemoryResource, RefusesInWords) {
  const gpumem::cuda_memory_resource resource(gpumem::device_host);
  const cuda::stream_ref stream{cudaStream_t{}};
  try {
    (void)resource.allocate(stream, 1, 4096);
    FAIL() << "an alignment of 4096 was not refused";
  } catch (const gpumem::bad_alloc& e) {
    EXPECT_STREQ(e.what(), "alignment is 4096, expected 256 or less");
  }
  EXPECT_THROW((void)resource.allocate_sync(std::size_t{1} << 60), std::bad_alloc);
}

}  // namespace
