// The memory of the emulated device, and what is known of every address. Device memory lies in one range of addresses that can be
// accessed only while the device works, and freed memory not even then: a host that dereferences a device pointer gets a signal.
// (The window is the process's: what a host thread does to live memory while a kernel or copy runs goes unseen.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace gpumem_emulation {

enum class Kind { device, managed, pinned };

struct Range {
  Kind kind;
  uintptr_t base;
  size_t bytes;
};

// What the device has, as the model has it. Pages that nobody writes to cost nothing.
constexpr size_t kDeviceBytes = size_t{141} << 30;

// nullptr when there is no room.
void* allocate(Kind kind, size_t bytes);
// False when no such allocation begins at p.
bool release(Kind kind, void* p);
// False when a part of the range is registered or allocated already.
bool register_pinned(void* p, size_t bytes);
bool unregister_pinned(void* p);

std::optional<Range> range_of(const void* p);
size_t ranges_held();
size_t bytes_held();

// Granules of device memory, and addresses to map them to (CUDA Driver API, "Virtual Memory Management"). Mapped memory can be
// accessed once that was asked for; what is mapped side by side is one range. Each call says whether it could be done.
constexpr size_t kGranule = size_t{2} << 20;
bool has_memory_pools();
uintptr_t reserve_addresses(size_t bytes);  // 0: there is no room
bool release_addresses(uintptr_t base, size_t bytes);
uint64_t create_granules(size_t bytes);  // a handle; 0: there is no room
bool release_granules(uint64_t handle);
bool map_granules(uintptr_t p, size_t bytes, uint64_t handle);
bool allow_access(uintptr_t p, size_t bytes);
bool unmap_granules(uintptr_t p, size_t bytes);
size_t granule_bytes_held();
size_t granule_mappings_made();  // so far

// The device may access its memory while one of these lives.
class DeviceWorks {
 public:
  DeviceWorks();
  DeviceWorks(const DeviceWorks&) = delete;
  DeviceWorks& operator=(const DeviceWorks&) = delete;
  ~DeviceWorks();
};

}  // namespace gpumem_emulation
