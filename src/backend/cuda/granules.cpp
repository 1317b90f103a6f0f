#include "backend/cuda/granules.hpp"

#include "backend/cuda/cuda_check.hpp"
#include "backend/cuda/driver_api.hpp"
#include "base/error.hpp"
#include "base/scope_exit.hpp"

namespace gpumem {
namespace {

// Driver and runtime share the numbers of their common errors.
void check(CUresult result, const char* what) { check_cuda(static_cast<cudaError_t>(result), what); }

}  // namespace

void Granules::open(int ordinal) {
  try {
    const MappingApi& driver = mapping_api();
    const auto has = [&](CUdevice_attribute what) {
      int value = 0;
      return driver.device_attribute(&value, what, ordinal) == CUDA_SUCCESS && value != 0;
    };
    if (!has(CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED)) return;
    properties_.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties_.location = {CU_MEM_LOCATION_TYPE_DEVICE, {ordinal}};
    // Network cards reach it, as they do other device memory.
    if (has(CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED))
      properties_.allocFlags.gpuDirectRDMACapable = 1;
    check(driver.granularity(&bytes_, &properties_, CU_MEM_ALLOC_GRANULARITY_MINIMUM), "cuMemGetAllocationGranularity");
  } catch (const Error&) {
    bytes_ = 0;
  }
}

uintptr_t Granules::reserve(size_t bytes) const noexcept {
  CUdeviceptr base = 0;
  return mapping_api().reserve(&base, bytes, 0, 0, 0) == CUDA_SUCCESS ? static_cast<uintptr_t>(base) : 0;
}

void Granules::release(uintptr_t base, size_t bytes) const noexcept {
  static_cast<void>(mapping_api().free_addresses(base, bytes));
}

// The memory is the mapping's alone: with it it goes.
void Granules::map(uintptr_t p, size_t bytes) const {
  const MappingApi& driver = mapping_api();
  CUmemGenericAllocationHandle memory{};
  check(driver.create(&memory, bytes, &properties_, 0), "cuMemCreate");
  const CUresult mapped = driver.map(p, bytes, 0, memory, 0);
  static_cast<void>(driver.release(memory));
  check(mapped, "cuMemMap");
  ScopeExit undo([&] { unmap(p, bytes); });
  const CUmemAccessDesc access{properties_.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  check(driver.set_access(p, bytes, &access, 1), "cuMemSetAccess");
  undo.release();
}

void Granules::unmap(uintptr_t p, size_t bytes) const noexcept { static_cast<void>(mapping_api().unmap(p, bytes)); }

}  // namespace gpumem
