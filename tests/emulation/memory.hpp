// The memory of the emulated devices, and what is known of every address. Device memory lies in one range of addresses that can be
// accessed only while a device works, and freed memory not even then: a host that dereferences a device pointer gets a signal.
// (The window is the process's: what a host thread does to live memory while a kernel or copy runs goes unseen, and what a device does
// to memory of another one that it may not access.)
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
  int device = 0;
  void* pool = nullptr;        // that it was allocated from
  bool mapped = false;         // granules
  uintptr_t mapping_base = 0;  // of the one that the address lies in
  size_t mapping_bytes = 0;
  unsigned opened = 0;  // a bit for each device that may access it
};

// GPUMEM_EMULATION_DEVICES=N: so many devices.
constexpr int kMostDevices = 4;
int device_count();
int current_device();  // the calling thread's
bool has_peers();      // that a device may access memory of another one; GPUMEM_EMULATION_PEERS=0: none may

// What all devices have, as the model has it. Pages that nobody writes to cost nothing.
constexpr size_t kDeviceBytes = size_t{141} << 30;

// nullptr when there is no room.
void* allocate(Kind kind, size_t bytes, int device = 0, void* pool = nullptr);
// False when no such allocation begins at p.
bool release(Kind kind, void* p);
// False when a part of the range is registered or allocated already.
bool register_pinned(void* p, size_t bytes);
bool unregister_pinned(void* p);

std::optional<Range> range_of(const void* p);
size_t ranges_held();
size_t bytes_held();
// cudaDeviceReset(): all that was allocated, registered or mapped for the device is gone.
void reset_memory(int device);

// Granules of device memory, and addresses to map them to (CUDA Driver API, "Virtual Memory Management"). Mapped memory can be
// accessed by a device once that was asked for, by others than its own as whole mappings; what is mapped side by side is one range. Each call says whether it could be done.
constexpr size_t kGranule = size_t{2} << 20;
bool has_memory_pools();
uintptr_t reserve_addresses(size_t bytes);  // 0: there is no room
bool release_addresses(uintptr_t base, size_t bytes);
uint64_t create_granules(size_t bytes, int device);  // a handle; 0: there is no room
bool release_granules(uint64_t handle);
bool map_granules(uintptr_t p, size_t bytes, uint64_t handle);
bool allow_access(uintptr_t p, size_t bytes, int device);
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
