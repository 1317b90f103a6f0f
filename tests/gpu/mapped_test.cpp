// Memory of an allocator that puts several mappings side by side (CUDA's virtual memory management, as PyTorch's expandable
// segments do): one range to the program, several to the driver.
#include <cudaTypedefs.h>

#include "tests/gpu/device_memory.hpp"
#include "tests/gpu/gpu_fixture.hpp"

namespace gpumem::gpu_tests {
namespace {

template <class Function>
Function find(const char* name, unsigned version) {
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found{};
  EXPECT_EQ(cudaGetDriverEntryPointByVersion(name, &entry, version, cudaEnableDefault, &found), cudaSuccess);
  EXPECT_NE(entry, nullptr) << name;
  return reinterpret_cast<Function>(entry);
}

// Two allocations of `bytes` each, mapped one after the other.
class SideBySide {
 public:
  explicit SideBySide(size_t bytes) : bytes_(bytes) {
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    CUmemAccessDesc access{};
    access.location = properties.location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    EXPECT_EQ(find<PFN_cuMemAddressReserve_v10020>("cuMemAddressReserve", 10020)(&base_, 2 * bytes, 0, 0, 0),
              CUDA_SUCCESS);
    for (size_t i = 0; i < 2; ++i) {
      EXPECT_EQ(find<PFN_cuMemCreate_v10020>("cuMemCreate", 10020)(&parts_[i], bytes, &properties, 0), CUDA_SUCCESS);
      EXPECT_EQ(find<PFN_cuMemMap_v10020>("cuMemMap", 10020)(base_ + i * bytes, bytes, 0, parts_[i], 0), CUDA_SUCCESS);
    }
    EXPECT_EQ(find<PFN_cuMemSetAccess_v10020>("cuMemSetAccess", 10020)(base_, 2 * bytes, &access, 1), CUDA_SUCCESS);
  }
  ~SideBySide() {
    find<PFN_cuMemUnmap_v10020>("cuMemUnmap", 10020)(base_, 2 * bytes_);
    for (const auto part : parts_) find<PFN_cuMemRelease_v10020>("cuMemRelease", 10020)(part);
    find<PFN_cuMemAddressFree_v10020>("cuMemAddressFree", 10020)(base_, 2 * bytes_);
  }
  SideBySide(const SideBySide&) = delete;
  SideBySide& operator=(const SideBySide&) = delete;

  int32_t* get() const { return reinterpret_cast<int32_t*>(base_); }

 private:
  size_t bytes_;
  CUdeviceptr base_ = 0;
  CUmemGenericAllocationHandle parts_[2] = {};
};

TEST_F(Gpu, MappingsSideBySideAreOneRange) {
  constexpr int64_t kPart = 2 << 20;  // the granularity of mappings
  constexpr int64_t kCount = 2 * kPart / 4;
  const SideBySide memory(kPart);
  fill_value(memory.get(), kCount, 3);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  int64_t sum = 0;
  EXPECT_EQ(gpumem_reduce_i32(ctx, GPUMEM_SUM, memory.get(), kCount, 1, &sum), GPUMEM_OK) << last_error();
  EXPECT_EQ(sum, 3 * kCount);
  EXPECT_EQ(gpumem_reduce_i32(ctx, GPUMEM_SUM, memory.get() + 5, kCount - 5, 1, &sum), GPUMEM_OK) << last_error();
  EXPECT_EQ(sum, 3 * (kCount - 5));
  // Something else may be mapped right behind them, but nothing of a tebibyte.
  EXPECT_EQ(gpumem_reduce_i32(ctx, GPUMEM_SUM, memory.get() + 5, kCount + (int64_t{1} << 38), 1, &sum),
            GPUMEM_OUT_OF_RANGE);
}

}  // namespace
}  // namespace gpumem::gpu_tests
