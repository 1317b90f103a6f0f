// Which device a context gets, and why.
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
  bool may_fall_back = false;  // the host may stand in when the device fails at creation
};

// wanted is an ordinal or GPUMEM_DEVICE_*; environment is the value of GPUMEM_DEVICE or nullptr, and counts only for BEST.
// A pure function of its arguments. Throws when a named device is not there.
DeviceChoice choose_device(int32_t wanted, const char* environment, const CudaDevices& cuda);

// The same for this process; asks CUDA only when the answer depends on it.
DeviceChoice choose_device(int32_t wanted);

void fill_device_info(const DeviceProps& props, const DeviceChoice& choice, gpumem_device_info& info);

}  // namespace gpumem
