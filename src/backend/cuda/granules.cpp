// Device memory in pages of the least mapping size (CUDA C++ Programming Guide, "Virtual Memory Management").
#include "backend/cuda/cuda_backend.hpp"
#include "base/error.hpp"
#include "base/scope_exit.hpp"

namespace gpumem {
namespace {

void check(CUresult result, const char* what) { check_cuda(static_cast<cudaError_t>(result), what); }

}  // namespace

// granule_bytes_ stays 0 if the device or the driver lacks support.
void CudaBackend::open_granules() {
  try {
    const MappingApi& driver = mapping_api();
    const auto has = [&](CUdevice_attribute what) {
      int value = 0;
      return driver.device_attribute(&value, what, props_.ordinal) == CUDA_SUCCESS && value != 0;
    };
    if (!has(CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED)) return;
    granules_.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    granules_.location = {CU_MEM_LOCATION_TYPE_DEVICE, {props_.ordinal}};
    // Lets network cards reach it, as they reach other device memory.
    if (has(CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED)) granules_.allocFlags.gpuDirectRDMACapable = 1;
    check(driver.granularity(&granule_bytes_, &granules_, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
          "cuMemGetAllocationGranularity");
  } catch (const Error&) {
    granule_bytes_ = 0;
  }
}

uintptr_t CudaBackend::reserve_addresses(size_t bytes) {
  const DeviceScope scope = enter();
  CUdeviceptr base = 0;
  return mapping_api().reserve(&base, bytes, 0, 0, 0) == CUDA_SUCCESS ? static_cast<uintptr_t>(base) : 0;
}

void CudaBackend::release_addresses(uintptr_t base, size_t bytes) noexcept {
  enter_to_end([&] { static_cast<void>(mapping_api().free_addresses(base, bytes)); });
}

// Only the mapping owns the memory, so unmapping frees it.
void CudaBackend::map(uintptr_t p, size_t bytes) {
  const DeviceScope scope = enter();
  const MappingApi& driver = mapping_api();
  CUmemGenericAllocationHandle memory{};
  check(driver.create(&memory, bytes, &granules_, 0), "cuMemCreate");
  const CUresult mapped = driver.map(p, bytes, 0, memory, 0);
  static_cast<void>(driver.release(memory));
  check(mapped, "cuMemMap");
  ScopeExit undo([&] { static_cast<void>(driver.unmap(p, bytes)); });
  const CUmemAccessDesc access{granules_.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  check(driver.set_access(p, bytes, &access, 1), "cuMemSetAccess");
  undo.release();
}

void CudaBackend::unmap(uintptr_t p, size_t bytes) noexcept {
  enter_to_end([&] { static_cast<void>(mapping_api().unmap(p, bytes)); });
}

}  // namespace gpumem
