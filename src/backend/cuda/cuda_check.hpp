// Errors of the CUDA runtime as the library's own, and the scope in which its calls are made.
#pragma once

#include <cuda_runtime_api.h>

#include "backend/backend.hpp"
#include "backend/cuda/driver_api.hpp"
#include "gpumem.h"

namespace gpumem {

gpumem_status status_of(cudaError_t error) noexcept;

// Throws for everything but cudaSuccess. The runtime is the library's own copy, so its last error is nobody else's.
void check_cuda(cudaError_t error, const char* what);
// The same of a kernels::LaunchResult.
inline void check_cuda(int error, const char* what) { check_cuda(static_cast<cudaError_t>(error), what); }

// What is wrong with a driver that the runtime can't use; versions as CUDA numbers them. version 0: there is none, for the loader's
// reason, if it gave one.
CudaDevices unusable_driver(int version, int runtime_version, const char* loader_reason);

// The one CUDA check: the sentence carries the call as it is written.
#define GPUMEM_CUDA(call) ::gpumem::check_cuda((call), #call)

// Makes a device's primary context current for as long as it lives, and puts the caller's back. Calls inside may be made
// while another thread captures a graph: a relaxed capture mode keeps that capture valid.
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
