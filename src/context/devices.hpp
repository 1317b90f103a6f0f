// Chooses the device of a context, with a reason.
#pragma once

#include <cstdint>
#include <string>

#include "backend/backend.hpp"
#include "gpumem.h"

namespace gpumem {

struct DeviceChoice {
  ExecutionSpace backend = ExecutionSpace::host;
  int32_t ordinal = GPUMEM_DEVICE_HOST;
  gpumem_status code = GPUMEM_OK;  // why the device can't be used, else OK
  std::string reason;
  bool may_fall_back = false;  // the host may replace a device that fails at creation
};

// wanted is an ordinal or GPUMEM_DEVICE_*. environment is the value of GPUMEM_DEVICE or nullptr, and counts only for
// BEST. A pure function of its arguments. Throws if a named device does not exist.
DeviceChoice choose_device(int32_t wanted, const char* environment, const CudaDevices& cuda);

// For this process; asks CUDA only if the answer depends on it.
DeviceChoice choose_device(int32_t wanted);

void fill_device_info(const DeviceProps& props, const DeviceChoice& choice, gpumem_device_info& info);

}  // namespace gpumem
