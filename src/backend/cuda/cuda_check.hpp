// CUDA errors as the library's own, and the scope of its CUDA calls.
#pragma once

#include <cuda_runtime_api.h>

#include "backend/backend.hpp"
#include "backend/cuda/driver_api.hpp"
#include "gpumem.h"

namespace gpumem {

gpumem_status status_of(cudaError_t error) noexcept;

// Throws for every error. The runtime is the library's own copy, so its last error is private.
void check_cuda(cudaError_t error, const char* what);
inline void check_cuda(int error, const char* what) { check_cuda(static_cast<cudaError_t>(error), what); }

// Why the runtime can't use the driver. version 0: no driver, for the loader's reason if it gave one.
CudaDevices unusable_driver(int version, int runtime_version, const char* loader_reason);

// The only CUDA check. The error message contains the call as written.
#define GPUMEM_CUDA(call) ::gpumem::check_cuda((call), #call)

// Makes a primary context current and restores the caller's. Relaxed mode keeps other threads' captures valid.
class DeviceScope {
 public:
  explicit DeviceScope(CUcontext context);
  ~DeviceScope();
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  bool pushed_ = false;
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
};

}  // namespace gpumem
