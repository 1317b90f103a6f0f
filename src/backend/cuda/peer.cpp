// Access to other devices' memory (CUDA C++ Programming Guide, "Multi-Device System").
#include "backend/cuda/cuda_backend.hpp"

namespace gpumem {

// Access is never revoked, because the program may rely on it too.
bool CudaBackend::reaches_device(int32_t ordinal) {
  const DeviceScope scope = enter();
  int can = 0;
  cudaError_t error = cudaDeviceCanAccessPeer(&can, props_.ordinal, ordinal);
  if (error == cudaSuccess && can != 0) error = cudaDeviceEnablePeerAccess(ordinal, 0);
  if (error != cudaSuccess) static_cast<void>(cudaGetLastError());
  return can != 0 && (error == cudaSuccess || error == cudaErrorPeerAccessAlreadyEnabled);
}

// reaches_device() covers memory from cudaMalloc(). Pools and mappings are opened one by one, whoever made them.
bool CudaBackend::reaches(const void* p, size_t bytes) {
  const DeviceScope scope = enter();
  auto at = static_cast<CUdeviceptr>(reinterpret_cast<uintptr_t>(p));
  for (const CUdeviceptr end = at + bytes; at < end;) {
    CUmemAccess_flags access{};
    cudaMemPool_t pool = nullptr;
    CUdeviceptr base = 0;
    size_t length = 0;
    CUpointer_attribute wanted[] = {CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE,
                                    CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR, CU_POINTER_ATTRIBUTE_MAPPING_SIZE};
    void* values[] = {&access, &pool, &base, &length};
    if (driver_api().pointer_attributes(4, wanted, values, at) != CUDA_SUCCESS) return false;
    if (pool != nullptr) return opens(pool);
    if (access == CU_MEM_ACCESS_FLAGS_PROT_NONE) {
      const CUmemAccessDesc own{{CU_MEM_LOCATION_TYPE_DEVICE, {props_.ordinal}}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
      if (length == 0 || mapping_api().set_access(base, length, &own, 1) != CUDA_SUCCESS) return false;
    }
    if (length == 0 || base + length <= at) return true;
    at = base + length;
  }
  return true;
}

bool CudaBackend::opens(cudaMemPool_t pool) const {
  cudaMemLocation own{cudaMemLocationTypeDevice, {props_.ordinal}};
  cudaMemAccessFlags access{};
  cudaError_t error = cudaMemPoolGetAccess(&access, pool, &own);
  if (error == cudaSuccess && access == cudaMemAccessFlagsProtNone) {
    const cudaMemAccessDesc wanted{own, cudaMemAccessFlagsProtReadWrite};
    error = cudaMemPoolSetAccess(pool, &wanted, 1);
  }
  if (error != cudaSuccess) static_cast<void>(cudaGetLastError());
  return error == cudaSuccess;
}

}  // namespace gpumem
