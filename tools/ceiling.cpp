// gpumem ceiling: measures the bandwidth of a device's memory.
#include <cstdio>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "device.hpp"
#include "failure.hpp"
#include "resources.hpp"

namespace tool {

int run_ceiling(const CeilingOptions& options) {
  const Context ctx = create_context(options.device);
  const gpumem_device_info device = device_of(ctx.get());
  const measure::Ceilings info = ceilings_of(ctx.get());
  const std::pair<const char*, double> kinds[] = {{"read", info.read},
                                                  {"write", info.write},
                                                  {"copy", info.copy},
                                                  {"to_device", info.to_device},
                                                  {"from_device", info.from_device},
                                                  {"theoretical", info.theoretical}};
  nlohmann::ordered_json json = {{"device", device_json(device)}};
  if (!options.json) std::printf("%s\n", device_title(device).c_str());
  for (const auto& [name, bytes_per_s] : kinds) {
    json["bytes_per_s"][name] = bytes_per_s > 0 ? nlohmann::json(static_cast<int64_t>(bytes_per_s)) : nlohmann::json();
    if (options.json || bytes_per_s <= 0) continue;
    std::printf("  %-12s %8.1f GB/s", name, bytes_per_s * 1e-9);
    const bool of_memory = name == kinds[0].first || name == kinds[1].first || name == kinds[2].first;
    if (info.theoretical > 0 && of_memory) {
      std::printf("  %3.0f %% of theoretical", 100.0 * bytes_per_s / info.theoretical);
    }
    std::printf("\n");
  }
  if (options.json) print_json("ceiling", json);
  return 0;
}

}  // namespace tool
