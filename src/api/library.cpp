// Entry points: version, statuses, last error, devices.
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
  struct Name {
    gpumem_status status;
    const char* name;
  };
  static constexpr Name kNames[] = {
      {GPUMEM_OK, "GPUMEM_OK"},
      {GPUMEM_INVALID_ARGUMENT, "GPUMEM_INVALID_ARGUMENT"},
      {GPUMEM_INVALID_HANDLE, "GPUMEM_INVALID_HANDLE"},
      {GPUMEM_INVALID_POINTER, "GPUMEM_INVALID_POINTER"},
      {GPUMEM_OUT_OF_RANGE, "GPUMEM_OUT_OF_RANGE"},
      {GPUMEM_EMPTY, "GPUMEM_EMPTY"},
      {GPUMEM_OVERFLOW, "GPUMEM_OVERFLOW"},
      {GPUMEM_UNSUPPORTED, "GPUMEM_UNSUPPORTED"},
      {GPUMEM_BUSY, "GPUMEM_BUSY"},
      {GPUMEM_NOT_READY, "GPUMEM_NOT_READY"},
      {GPUMEM_NOT_FOUND, "GPUMEM_NOT_FOUND"},
      {GPUMEM_CAPTURING, "GPUMEM_CAPTURING"},
      {GPUMEM_FORKED, "GPUMEM_FORKED"},
      {GPUMEM_CORRUPTED, "GPUMEM_CORRUPTED"},
      {GPUMEM_OUT_OF_MEMORY, "GPUMEM_OUT_OF_MEMORY"},
      {GPUMEM_OUT_OF_RESOURCES, "GPUMEM_OUT_OF_RESOURCES"},
      {GPUMEM_FILE_ERROR, "GPUMEM_FILE_ERROR"},
      {GPUMEM_NO_DEVICE, "GPUMEM_NO_DEVICE"},
      {GPUMEM_NO_DRIVER, "GPUMEM_NO_DRIVER"},
      {GPUMEM_DRIVER_TOO_OLD, "GPUMEM_DRIVER_TOO_OLD"},
      {GPUMEM_DEVICE_FAULT, "GPUMEM_DEVICE_FAULT"},
      {GPUMEM_DRIVER_ERROR, "GPUMEM_DRIVER_ERROR"},
      {GPUMEM_NOT_BUILT, "GPUMEM_NOT_BUILT"},
      {GPUMEM_PEER_LOST, "GPUMEM_PEER_LOST"},
      {GPUMEM_TIMED_OUT, "GPUMEM_TIMED_OUT"},
      {GPUMEM_INTERNAL, "GPUMEM_INTERNAL"},
  };
  for (const Name& known : kNames) {
    if (known.status == status) return known.name;
  }
  return "GPUMEM_UNKNOWN_STATUS";
}

gpumem_status gpumem_last_error(char* buf, int64_t cap, int64_t* needed) {
  // Misuse of this function must not replace the requested message.
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
    const DeviceProps props = choice.backend == ExecutionSpace::cuda ? cuda_props(choice.ordinal) : host_props({});
    gpumem_device_info filled{};
    fill_device_info(props, choice, filled);
    write_struct(info, filled, "info");
  });
}
