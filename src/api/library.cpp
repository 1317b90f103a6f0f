// Version, statuses, the last error, devices.
#include "api/guard.hpp"
#include "context/devices.hpp"

using namespace gpumem;
using namespace gpumem::api;

gpumem_status gpumem_version(int32_t* major, int32_t* minor, int32_t* patch) {
  if (major != nullptr) *major = GPUMEM_VERSION_MAJOR;
  if (minor != nullptr) *minor = GPUMEM_VERSION_MINOR;
  if (patch != nullptr) *patch = GPUMEM_VERSION_PATCH;
  return GPUMEM_OK;
}

const char* gpumem_status_name(gpumem_status status) {
  switch (status) {
    case GPUMEM_OK:
      return "GPUMEM_OK";
    case GPUMEM_INVALID_ARGUMENT:
      return "GPUMEM_INVALID_ARGUMENT";
    case GPUMEM_INVALID_HANDLE:
      return "GPUMEM_INVALID_HANDLE";
    case GPUMEM_INVALID_POINTER:
      return "GPUMEM_INVALID_POINTER";
    case GPUMEM_OUT_OF_RANGE:
      return "GPUMEM_OUT_OF_RANGE";
    case GPUMEM_EMPTY:
      return "GPUMEM_EMPTY";
    case GPUMEM_OVERFLOW:
      return "GPUMEM_OVERFLOW";
    case GPUMEM_UNSUPPORTED:
      return "GPUMEM_UNSUPPORTED";
    case GPUMEM_BUSY:
      return "GPUMEM_BUSY";
    case GPUMEM_NOT_READY:
      return "GPUMEM_NOT_READY";
    case GPUMEM_NOT_FOUND:
      return "GPUMEM_NOT_FOUND";
    case GPUMEM_CAPTURING:
      return "GPUMEM_CAPTURING";
    case GPUMEM_FORKED:
      return "GPUMEM_FORKED";
    case GPUMEM_CORRUPTED:
      return "GPUMEM_CORRUPTED";
    case GPUMEM_OUT_OF_MEMORY:
      return "GPUMEM_OUT_OF_MEMORY";
    case GPUMEM_OUT_OF_RESOURCES:
      return "GPUMEM_OUT_OF_RESOURCES";
    case GPUMEM_FILE_ERROR:
      return "GPUMEM_FILE_ERROR";
    case GPUMEM_NO_DEVICE:
      return "GPUMEM_NO_DEVICE";
    case GPUMEM_NO_DRIVER:
      return "GPUMEM_NO_DRIVER";
    case GPUMEM_DRIVER_TOO_OLD:
      return "GPUMEM_DRIVER_TOO_OLD";
    case GPUMEM_DEVICE_FAULT:
      return "GPUMEM_DEVICE_FAULT";
    case GPUMEM_DRIVER_ERROR:
      return "GPUMEM_DRIVER_ERROR";
    case GPUMEM_NOT_BUILT:
      return "GPUMEM_NOT_BUILT";
    case GPUMEM_INTERNAL:
      return "GPUMEM_INTERNAL";
    default:
      return "GPUMEM_UNKNOWN_STATUS";
  }
}

gpumem_status gpumem_last_error(char* buf, int64_t cap, int64_t* needed) {
  // A misuse of this function must not replace the sentence that was asked for.
  if (cap < 0 || (buf == nullptr && cap > 0)) return GPUMEM_INVALID_ARGUMENT;
  return guard([&] { write_text(last_error(), buf, cap, needed); });
}

gpumem_status gpumem_device_count(int32_t* count) {
  return guard([&] {
    require(count, "count");
    const CudaDevices devices = cuda_devices();
    *count = devices.status == GPUMEM_OK ? devices.count : 0;
  });
}

gpumem_status gpumem_device_info_init(gpumem_device_info* info, int64_t size) {
  return guard([&] { init_struct(info, size, {}, "info"); });
}

gpumem_status gpumem_device_query(int32_t device, gpumem_device_info* info) {
  return guard([&] {
    static_cast<void>(struct_size_of(info, "info"));
    const DeviceChoice choice = choose_device(device);
    const DeviceProps props = choice.backend == Runs::cuda ? cuda_props(choice.ordinal) : host_props({});
    gpumem_device_info filled{};
    fill_device_info(props, choice, filled);
    write_struct(info, filled, "info");
  });
}
