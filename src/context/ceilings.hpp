// What memory can do at most, as it was measured: once for each device and process.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

namespace gpumem {

// Bytes a second. On the host nothing crosses a link.
struct Ceilings {
  int64_t read = 0;
  int64_t write = 0;
  int64_t copy = 0;  // read and written
  int64_t to_device = 0;
  int64_t from_device = 0;
};

struct MeasuredCeilings {
  struct Of {
    int32_t device;
    int32_t multiprocessors;  // on the host its threads, of which contexts have different numbers
    Ceilings ceilings;
  };
  std::mutex mutex;  // held while one is measured: another measurement would disturb it
  std::vector<Of> all;

  const Ceilings* find(int32_t device, int32_t multiprocessors) const noexcept {
    for (const Of& of : all) {
      if (of.device == device && of.multiprocessors == multiprocessors) return &of.ceilings;
    }
    return nullptr;
  }
};

}  // namespace gpumem
