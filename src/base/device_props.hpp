// Device properties as plain data, so that choices can be tested without the device.
#pragma once

#include <cstdint>

namespace gpumem {

enum class ExecutionSpace : int32_t { host = 0, cuda = 1 };

struct DeviceProps {
  ExecutionSpace backend = ExecutionSpace::host;
  int32_t ordinal = -1;
  char name[128] = {};
  int32_t compute_major = 0;
  int32_t compute_minor = 0;
  int32_t multiprocessors = 1;  // SMs; on the host, threads
  int32_t threads_per_multiprocessor = 1;
  int64_t shared_bytes_per_block = 0;  // with opt-in
  int64_t l2_bytes = 0;                // on the host, the last-level cache
  int64_t memory_bytes = 0;
  int64_t memory_clock_khz = 0;
  int32_t bus_bits = 0;
  int32_t driver_version = 0;
  // Textures over rows of ordinary memory; 0 on the host, which has no textures.
  int32_t texture_alignment = 0;        // of the first row, bytes
  int32_t texture_pitch_alignment = 0;  // from row to row
  int64_t texture_max_cols = 0;
  int64_t texture_max_rows = 0;
  int64_t texture_max_pitch = 0;
  bool managed_memory = false;
  bool concurrent_managed = false;
  bool pageable_access = false;
  bool clusters = false;      // blocks of a kernel can share their memory: 9.0 and newer, with code built for it
  bool memory_pools = false;  // stream-ordered allocation

  // Double data rate: two transfers per clock (CUDA C++ Best Practices Guide, "Theoretical Bandwidth Calculation").
  constexpr int64_t bandwidth_bytes_per_s() const noexcept { return 2 * memory_clock_khz * 1000 * (bus_bits / 8); }
};

}  // namespace gpumem
