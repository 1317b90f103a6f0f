// gpumem devices: lists every CUDA device and the host, and marks the default.
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "commands.hpp"
#include "device.hpp"
#include "failure.hpp"
#include "resources.hpp"
#include "text.hpp"

namespace tool {
namespace {

std::string known(int64_t value, const std::string& text) { return value > 0 ? text : "-"; }

void print_table(const std::vector<gpumem_device_info>& devices) {
  std::printf("%-6s %-44s %-7s %8s %9s %9s %11s  %s\n", "device", "name", "compute", "SMs/thr.", "memory", "cache",
              "bandwidth", "managed");
  for (const gpumem_device_info& d : devices) {
    std::printf("%-6s %-44.44s %-7s %8d %9s %9s %11s  %s\n", device_id(d).c_str(), d.name,
                known(d.compute_major, format("%d.%d", d.compute_major, d.compute_minor)).c_str(), d.multiprocessors,
                known(d.memory_bytes, format_bytes(d.memory_bytes)).c_str(),
                known(d.l2_bytes, format_bytes(d.l2_bytes)).c_str(),
                known(d.bandwidth_bytes_per_s, format_bytes(d.bandwidth_bytes_per_s) + "/s").c_str(),
                d.concurrent_managed != 0 ? "yes, prefetch" : (d.managed_memory != 0 ? "yes" : "no"));
  }
}

}  // namespace

// Devices are listed even if no context can be made.
int run_devices(const ListOptions& options) {
  std::vector<gpumem_device_info> devices = cuda_devices();
  devices.push_back(query_device(GPUMEM_DEVICE_HOST));
  nlohmann::ordered_json json;
  for (const gpumem_device_info& device : devices) {
    json["devices"].push_back(device_json(device));
    json["devices"].back().update({{"reason_code", nullptr}, {"reason", nullptr}});
  }
  if (!options.json) print_table(devices);
  try {
    const gpumem_device_info chosen = device_of(create_context(GPUMEM_DEVICE_BEST).get());
    json["default"] = device_json(chosen);
    if (!options.json) std::printf("\na context takes %s: %s\n", device_title(chosen).c_str(), chosen.reason);
  } catch (const CallFailure&) {
    json["default"] = nullptr;
    if (options.json) print_json("devices", json);
    throw;
  }
  if (options.json) print_json("devices", json);
  return 0;
}

}  // namespace tool
