// Lists the CUDA devices and their properties.
#include <dlfcn.h>

#include <atomic>
#include <cstring>
#include <string>

#include "backend/backend.hpp"
#include "backend/cuda/cuda_check.hpp"
#include "base/error.hpp"
#include "base/made_once.hpp"
#include "base/printable.hpp"

namespace gpumem {
namespace {

// The loader's reason for a missing driver; empty if it is present. Asked only once, as the runtime does. A child that
// is forked during another thread's search can crash in one of its own.
const std::string& loader_reason() {
  static constinit std::atomic<const std::string*> reason{nullptr};
  return made_once(reason, []() -> std::string {
    void* const library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (library == nullptr) return dlerror();
    dlclose(library);
    return {};
  });
}

// cudaErrorInsufficientDriver also means that no driver was found. The version is then 0.
CudaDevices unusable(cudaError_t error) {
  int driver = 0;
  if (cudaDriverGetVersion(&driver) != cudaSuccess) driver = 0;
  static_cast<void>(cudaGetLastError());
  const gpumem_status status = status_of(error);
  if (status == GPUMEM_DRIVER_TOO_OLD) {
    const std::string reason = driver == 0 ? loader_reason() : std::string();
    return unusable_driver(driver, CUDART_VERSION, reason.empty() ? nullptr : reason.c_str());
  }
  return {status, 0, 0, std::string(cudaGetErrorName(error)) + ": " + cudaGetErrorString(error)};
}

int32_t current_device() {
  const DriverApi& driver = driver_api();
  CUcontext context = nullptr;
  CUdevice device = 0;
  if (driver.ctx_get(&context) != CUDA_SUCCESS || context == nullptr) return 0;
  return driver.ctx_device(&device) == CUDA_SUCCESS ? device : 0;
}

int64_t attribute(cudaDeviceAttr which, int32_t ordinal) {
  int value = 0;
  GPUMEM_CUDA(cudaDeviceGetAttribute(&value, which, ordinal));
  return value;
}

}  // namespace

// A driver that lacks a function is reported as a reason, not thrown.
CudaDevices cuda_devices() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess) return unusable(error);
  if (count == 0) return {GPUMEM_NO_DEVICE, 0, 0, "the CUDA driver shows no device"};
  try {
    return {GPUMEM_OK, count, current_device(), {}};
  } catch (const Error& lacking) {
    return {lacking.status(), 0, 0, lacking.what()};
  }
}

DeviceProps cuda_props(int32_t ordinal) {
  cudaDeviceProp p{};
  GPUMEM_CUDA(cudaGetDeviceProperties(&p, ordinal));
  DeviceProps props;
  props.backend = ExecutionSpace::cuda;
  props.ordinal = ordinal;
  copy_printable(props.name, sizeof props.name, {p.name, strnlen(p.name, sizeof p.name)});
  props.compute_major = p.major;
  props.compute_minor = p.minor;
  props.multiprocessors = p.multiProcessorCount;
  props.threads_per_multiprocessor = p.maxThreadsPerMultiProcessor;
  props.shared_bytes_per_block = static_cast<int64_t>(p.sharedMemPerBlockOptin);
  props.l2_bytes = p.l2CacheSize;
  props.memory_bytes = static_cast<int64_t>(p.totalGlobalMem);
  props.memory_clock_khz = attribute(cudaDevAttrMemoryClockRate, ordinal);  // no longer in cudaDeviceProp
  props.bus_bits = p.memoryBusWidth;
  GPUMEM_CUDA(cudaDriverGetVersion(&props.driver_version));
  props.texture_alignment = static_cast<int32_t>(p.textureAlignment);
  props.texture_pitch_alignment = static_cast<int32_t>(p.texturePitchAlignment);
  props.texture_max_cols = p.maxTexture2DLinear[0];
  props.texture_max_rows = p.maxTexture2DLinear[1];
  props.texture_max_pitch = p.maxTexture2DLinear[2];
  props.managed_memory = p.managedMemory != 0;
  props.concurrent_managed = p.concurrentManagedAccess != 0;
  props.pageable_access = p.pageableMemoryAccess != 0;
  props.memory_pools = attribute(cudaDevAttrMemoryPoolsSupported, ordinal) != 0;
  return props;
}

}  // namespace gpumem
