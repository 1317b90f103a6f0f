#include "backend/cuda/driver_api.hpp"

#include <cuda_runtime_api.h>

#include <atomic>

#include "backend/cuda/cuda_check.hpp"
#include "base/error.hpp"
#include "base/made_once.hpp"

namespace gpumem {
namespace {

template <class Function>
void find(Function& function, const char* name, unsigned version) {
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found{};
  const cudaError_t error = cudaGetDriverEntryPointByVersion(name, &entry, version, cudaEnableDefault, &found);
  const bool is_lacking = error == cudaErrorInvalidValue || error == cudaErrorNotSupported;
  if (!is_lacking) check_cuda(error, "cudaGetDriverEntryPointByVersion()");
  if (is_lacking || found != cudaDriverEntryPointSuccess || entry == nullptr) {
    fail(GPUMEM_DRIVER_TOO_OLD, "the CUDA driver has no %s of version %u; expected a newer driver", name, version);
  }
  function = reinterpret_cast<Function>(entry);
}

DriverApi load() {
  DriverApi api{};
  find(api.ctx_push, "cuCtxPushCurrent", 4000);
  find(api.ctx_pop, "cuCtxPopCurrent", 4000);
  find(api.ctx_get, "cuCtxGetCurrent", 4000);
  find(api.ctx_device, "cuCtxGetDevice", 2000);
  find(api.ctx_id, "cuCtxGetId", 12000);
  find(api.primary_retain, "cuDevicePrimaryCtxRetain", 7000);
  find(api.primary_release, "cuDevicePrimaryCtxRelease", 11000);
  find(api.pointer_attributes, "cuPointerGetAttributes", 7000);
  find(api.stream_ctx, "cuStreamGetCtx", 9020);
  find(api.stream_capturing, "cuStreamIsCapturing", 10000);
  find(api.stream_write_value, "cuStreamWriteValue32", 11070);
  find(api.exchange_capture_mode, "cuThreadExchangeStreamCaptureMode", 10010);
  return api;
}

MappingApi load_mapping() {
  MappingApi api{};
  find(api.device_attribute, "cuDeviceGetAttribute", 2000);
  find(api.granularity, "cuMemGetAllocationGranularity", 10020);
  find(api.reserve, "cuMemAddressReserve", 10020);
  find(api.free_addresses, "cuMemAddressFree", 10020);
  find(api.create, "cuMemCreate", 10020);
  find(api.release, "cuMemRelease", 10020);
  find(api.map, "cuMemMap", 10020);
  find(api.unmap, "cuMemUnmap", 10020);
  find(api.set_access, "cuMemSetAccess", 10020);
  return api;
}

}  // namespace

const DriverApi& driver_api() {
  static constinit std::atomic<const DriverApi*> api{nullptr};
  return made_once(api, load);
}

const MappingApi& mapping_api() {
  static constinit std::atomic<const MappingApi*> api{nullptr};
  return made_once(api, load_mapping);
}

}  // namespace gpumem
