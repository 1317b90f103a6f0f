#include "context/devices.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/error.hpp"
#include "base/numbers.hpp"
#include "base/printable.hpp"

namespace gpumem {
namespace {

int32_t parse_device(const char* text) {
  if (std::strcmp(text, "host") == 0) return GPUMEM_DEVICE_HOST;
  if (std::strcmp(text, "cuda") == 0) return GPUMEM_DEVICE_CUDA;
  int32_t ordinal = 0;
  if (!parse_number(text, ordinal) || ordinal < 0) {
    fail(GPUMEM_INVALID_ARGUMENT, "the environment's GPUMEM_DEVICE is '%s'; expected host, cuda or an ordinal", text);
  }
  return ordinal;
}

DeviceChoice on_host(gpumem_status code, std::string reason) {
  return {ExecutionSpace::host, GPUMEM_DEVICE_HOST, code, std::move(reason), false};
}

}  // namespace

DeviceChoice choose_device(int32_t wanted, const char* environment, const CudaDevices& cuda) {
  const char* by = "the program";
  if (wanted == GPUMEM_DEVICE_BEST && environment != nullptr && environment[0] != '\0') {
    wanted = parse_device(environment);
    by = "the environment (GPUMEM_DEVICE)";
  }
  if (wanted < GPUMEM_DEVICE_CUDA) {
    fail(GPUMEM_INVALID_ARGUMENT, "device is %d; expected an ordinal or a GPUMEM_DEVICE_* value", wanted);
  }
  if (wanted == GPUMEM_DEVICE_HOST) return on_host(GPUMEM_OK, std::string("the host was asked for by ") + by);
  if (wanted == GPUMEM_DEVICE_BEST) {
    if (cuda.status != GPUMEM_OK) return on_host(cuda.status, "work runs on the host instead: " + cuda.reason);
    return {ExecutionSpace::cuda, cuda.current, GPUMEM_OK, "it is the caller's current CUDA device", true};
  }
  if (cuda.status != GPUMEM_OK) {
    fail(cuda.status, "%s asks for a CUDA device, but none is usable: %s", by, cuda.reason.c_str());
  }
  if (wanted == GPUMEM_DEVICE_CUDA) {
    return {ExecutionSpace::cuda, cuda.current, GPUMEM_OK, std::string("a CUDA device was asked for by ") + by, false};
  }
  if (wanted >= cuda.count) {
    fail(GPUMEM_NOT_FOUND, "device is %d; expected an ordinal below %d, the number of visible CUDA devices", wanted,
         cuda.count);
  }
  return {ExecutionSpace::cuda, wanted, GPUMEM_OK, "it was asked for by " + std::string(by), false};
}

DeviceChoice choose_device(int32_t wanted) {
  const char* environment = ::secure_getenv("GPUMEM_DEVICE");
  const bool from_environment = wanted == GPUMEM_DEVICE_BEST && environment != nullptr && environment[0] != '\0';
  const int32_t effective = from_environment ? parse_device(environment) : wanted;
  return choose_device(wanted, environment, effective != GPUMEM_DEVICE_HOST ? cuda_devices() : CudaDevices{});
}

void fill_device_info(const DeviceProps& props, const DeviceChoice& choice, gpumem_device_info& info) {
  info.backend = props.backend == ExecutionSpace::cuda ? GPUMEM_BACKEND_CUDA : GPUMEM_BACKEND_HOST;
  info.device = props.ordinal;
  info.reason_code = choice.code;
  info.compute_major = props.compute_major;
  info.compute_minor = props.compute_minor;
  info.multiprocessors = props.multiprocessors;
  info.driver_version = props.driver_version;
  info.managed_memory = props.managed_memory ? 1 : 0;
  info.concurrent_managed = props.concurrent_managed ? 1 : 0;
  info.pageable_access = props.pageable_access ? 1 : 0;
  info.memory_bytes = props.memory_bytes;
  info.l2_bytes = props.l2_bytes;
  info.bandwidth_bytes_per_s = props.bandwidth_bytes_per_s();
  std::snprintf(info.name, sizeof info.name, "%s", props.name);
  copy_printable(info.reason, sizeof info.reason, choice.reason);
}

}  // namespace gpumem
