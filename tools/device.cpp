#include "device.hpp"

#include <limits>

#include "args.hpp"
#include "failure.hpp"
#include "text.hpp"

namespace tool {

gpumem_device_info device_of(gpumem_ctx* ctx) {
  gpumem_device_info device;
  check(gpumem_device_info_init(&device, sizeof device), "preparing the device's description");
  check(gpumem_ctx_device(ctx, &device), "asking for the context's device");
  return device;
}

std::string device_id(const gpumem_device_info& device) {
  return device.backend == GPUMEM_BACKEND_HOST ? "host" : std::to_string(device.device);
}

std::string device_title(const gpumem_device_info& device) {
  if (device.backend == GPUMEM_BACKEND_HOST) {
    return format("%s (host, %d thread%s)", device.name, device.multiprocessors,
                  device.multiprocessors == 1 ? "" : "s");
  }
  return format("%s (CUDA device %d, sm_%d%d)", device.name, device.device, device.compute_major, device.compute_minor);
}

int32_t parse_device(const std::string& word) {
  if (word == "host") return GPUMEM_DEVICE_HOST;
  if (word == "cuda") return GPUMEM_DEVICE_CUDA;
  return static_cast<int32_t>(parse_integer(word, "--device", 0, std::numeric_limits<int32_t>::max()));
}

void write_device(Json& json, const gpumem_device_info& device) {
  json.string("id", device_id(device))
      .string("backend", device.backend == GPUMEM_BACKEND_HOST ? "host" : "cuda")
      .string("name", device.name)
      .integer("compute_major", device.compute_major)
      .integer("compute_minor", device.compute_minor)
      .integer("multiprocessors", device.multiprocessors)
      .integer("driver_version", device.driver_version)
      .boolean("managed_memory", device.managed_memory != 0)
      .boolean("concurrent_managed", device.concurrent_managed != 0)
      .boolean("pageable_access", device.pageable_access != 0)
      .integer("memory_bytes", device.memory_bytes)
      .integer("l2_bytes", device.l2_bytes)
      .integer("bandwidth_bytes_per_s", device.bandwidth_bytes_per_s)
      .string("reason_code", gpumem_status_name(device.reason_code))
      .string("reason", device.reason);
}

}  // namespace tool
