#include "device.hpp"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "failure.hpp"
#include "text.hpp"

namespace tool {

gpumem_device_info device_of(gpumem_ctx* ctx) {
  gpumem_device_info device;
  check(gpumem_device_info_init(&device, sizeof device), "preparing the device's description");
  check(gpumem_ctx_device(ctx, &device), "asking for the context's device");
  return device;
}

gpumem_device_info query_device(int32_t device) {
  gpumem_device_info info;
  check(gpumem_device_info_init(&info, sizeof info), "preparing the device's description");
  check(gpumem_device_query(device, &info), "asking for a device");
  return info;
}

std::vector<gpumem_device_info> cuda_devices() {
  int32_t count = 0;
  check(gpumem_device_count(&count), "counting the devices");
  std::vector<gpumem_device_info> devices;
  devices.reserve(static_cast<size_t>(count));
  for (int32_t ordinal = 0; ordinal < count; ++ordinal) devices.push_back(query_device(ordinal));
  return devices;
}

std::string library_version() {
  int32_t major = 0;
  int32_t minor = 0;
  int32_t patch = 0;
  check(gpumem_version(&major, &minor, &patch), "asking for the version");
  return format("%d.%d.%d", major, minor, patch);
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

// Names from drivers and files may not be UTF-8. The output is ASCII, because a terminal may obey other characters.
void print_json(const char* what, const nlohmann::ordered_json& members) {
  nlohmann::ordered_json json = {{"schema", format("gpumem.%s/1", what)}};
  json.update(members);
  std::printf("%s\n", json.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace).c_str());
}

measure::Ceilings ceilings_of(gpumem_ctx* ctx) {
  gpumem_ceiling_info info;
  check(gpumem_ceiling_info_init(&info, sizeof info), "preparing the ceilings");
  check(gpumem_ceiling(ctx, &info), "measuring the ceilings");
  const auto rate = [](int64_t bytes_per_s) { return static_cast<double>(bytes_per_s); };
  return {rate(info.read),      rate(info.write),       rate(info.copy),
          rate(info.to_device), rate(info.from_device), rate(info.theoretical)};
}

nlohmann::ordered_json device_json(const gpumem_device_info& device) {
  const auto known = [](int64_t value) { return value > 0 ? nlohmann::json(value) : nlohmann::json(); };
  const auto of_cuda = [&](int64_t value) {
    return device.backend == GPUMEM_BACKEND_HOST ? nlohmann::json() : nlohmann::json(value);
  };
  return {{"id", device_id(device)},
          {"backend", device.backend == GPUMEM_BACKEND_HOST ? "host" : "cuda"},
          {"name", device.name},
          {"compute_major", of_cuda(device.compute_major)},
          {"compute_minor", of_cuda(device.compute_minor)},
          {"multiprocessors", device.multiprocessors},
          {"driver_version", known(device.driver_version)},
          {"managed_memory", device.managed_memory != 0},
          {"concurrent_managed", device.concurrent_managed != 0},
          {"pageable_access", device.pageable_access != 0},
          {"memory_bytes", known(device.memory_bytes)},
          {"l2_bytes", known(device.l2_bytes)},
          {"bandwidth_bytes_per_s", known(device.bandwidth_bytes_per_s)},
          {"reason_code", gpumem_status_name(device.reason_code)},
          {"reason", device.reason}};
}

}  // namespace tool
