// Measured peak bandwidths, one set per device and process.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

namespace gpumem {

// Bytes per second. On the host, nothing crosses PCIe.
struct Ceilings {
  int64_t read = 0;
  int64_t write = 0;
  int64_t copy = 0;
  int64_t to_device = 0;
  int64_t from_device = 0;
};

struct MeasuredCeilings {
  struct Of {
    int32_t device;
    int32_t multiprocessors;  // thread count on the host, which differs between contexts
    Ceilings ceilings;
  };
  std::mutex mutex;  // held during a measurement, so that no other one disturbs it
  std::vector<Of> all;

  const Ceilings* find(int32_t device, int32_t multiprocessors) const noexcept {
    for (const Of& of : all) {
      if (of.device == device && of.multiprocessors == multiprocessors) return &of.ceilings;
    }
    return nullptr;
  }
};

}  // namespace gpumem
