#include "backend/cuda/cuda_check.hpp"

#include <cstring>
#include <string>

#include "base/error.hpp"

namespace gpumem {

gpumem_status status_of(cudaError_t error) noexcept {
  switch (error) {
    case cudaSuccess:
      return GPUMEM_OK;
    case cudaErrorMemoryAllocation:
      return GPUMEM_OUT_OF_MEMORY;
    case cudaErrorNotReady:
      return GPUMEM_NOT_READY;
    case cudaErrorNoDevice:
      return GPUMEM_NO_DEVICE;
    case cudaErrorStubLibrary:
      return GPUMEM_NO_DRIVER;
    case cudaErrorInsufficientDriver:
    case cudaErrorCallRequiresNewerDriver:
      return GPUMEM_DRIVER_TOO_OLD;
    case cudaErrorNotSupported:
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorUnsupportedPtxVersion:
      return GPUMEM_UNSUPPORTED;
    case cudaErrorStreamCaptureUnsupported:
    case cudaErrorStreamCaptureInvalidated:
    case cudaErrorStreamCaptureMerge:
    case cudaErrorStreamCaptureUnmatched:
    case cudaErrorStreamCaptureUnjoined:
    case cudaErrorStreamCaptureIsolation:
    case cudaErrorStreamCaptureImplicit:
    case cudaErrorStreamCaptureWrongThread:
    case cudaErrorCapturedEvent:
      return GPUMEM_CAPTURING;
    // These errors lose the device's context for the process (CUDA Runtime API, "Data types", enum cudaError).
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorContextIsDestroyed:
    case cudaErrorMpsClientTerminated:
    case cudaErrorExternalDevice:
      return GPUMEM_DEVICE_FAULT;
    default:
      return GPUMEM_DRIVER_ERROR;
  }
}

CudaDevices unusable_driver(int version, int runtime_version, const char* loader_reason) {
  if (version == 0) {
    return {GPUMEM_NO_DRIVER, 0, 0,
            std::string("no CUDA driver can be loaded: ") +
                (loader_reason != nullptr ? loader_reason : "libcuda.so.1 exists but is not a CUDA driver")};
  }
  const int oldest = runtime_version / 1000 * 1000;
  const std::string driver = "the CUDA driver is of version " + std::to_string(version);
  if (version >= oldest) {
    return {GPUMEM_DRIVER_TOO_OLD, 0, 0,
            driver + " and lacks what the runtime, of version " + std::to_string(runtime_version) +
                ", needs: is its installation complete?"};
  }
  return {GPUMEM_DRIVER_TOO_OLD, 0, 0,
          driver + "; expected " + std::to_string(oldest) + " or newer, which is driver 580 or newer"};
}

void check_cuda(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());  // clears a recoverable error, so that the next call does not see it
  const auto length = static_cast<int>(std::strcspn(what, "("));
  fail(status_of(error), "%.*s failed with %s: %s", length, what, cudaGetErrorName(error), cudaGetErrorString(error));
}

DeviceScope::DeviceScope(CUcontext context) {
  const DriverApi& driver = driver_api();
  CUcontext current = nullptr;
  if (driver.ctx_get(&current) != CUDA_SUCCESS || current != context) {
    if (driver.ctx_push(context) != CUDA_SUCCESS) {
      fail(GPUMEM_DRIVER_ERROR, "the device's context can't be made current; the driver may be shutting down");
    }
    pushed_ = true;
  }
  static_cast<void>(driver.exchange_capture_mode(&mode_));
  static_cast<void>(cudaGetLastError());  // drops another device's error
}

DeviceScope::~DeviceScope() {
  const DriverApi& driver = driver_api();
  static_cast<void>(driver.exchange_capture_mode(&mode_));
  CUcontext mine = nullptr;
  if (pushed_) static_cast<void>(driver.ctx_pop(&mine));
}

}  // namespace gpumem
