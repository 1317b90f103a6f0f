// One allocation of a backend, used whole or as equal slots. A lock-free word per slot holds its state.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>

#include "base/device_props.hpp"
#include "gpumem.h"

namespace gpumem {

struct StreamCache;

// A slot's word: state, flags and requested bytes.
namespace slot {
inline constexpr uint64_t kNever = 0;
inline constexpr uint64_t kLive = 1;
inline constexpr uint64_t kFreed = 2;
inline constexpr uint64_t kState = 3;
inline constexpr uint64_t kShared = 4;
inline constexpr uint64_t kLabelled = 8;
inline constexpr int kBytesShift = 8;

constexpr uint64_t live(size_t bytes) noexcept { return (static_cast<uint64_t>(bytes) << kBytesShift) | kLive; }
constexpr bool is_live(uint64_t word) noexcept { return (word & kState) == kLive; }
constexpr bool is_freed(uint64_t word) noexcept { return (word & kState) == kFreed; }
constexpr uint64_t freed(uint64_t word) noexcept { return (word & ~(kState | kShared | kLabelled)) | kFreed; }
constexpr size_t bytes(uint64_t word) noexcept { return static_cast<size_t>(word >> kBytesShift); }
}  // namespace slot

struct Allocation {
  uintptr_t base = 0;
  size_t bytes = 0;
  gpumem_memory_kind kind = GPUMEM_MEMORY_PAGEABLE;
  ExecutionSpace backend = ExecutionSpace::host;
  int32_t device = GPUMEM_DEVICE_HOST;
  const void* owner = nullptr;  // the context, compared and never dereferenced
  bool registered = false;      // pinned by gpumem, owned by the program
};

// Records of removed regions, by start address.
struct Tombstone {
  size_t bytes = 0;
  uint64_t number = 0;  // of the region, in order of removal
};
using Tombstones = std::map<uintptr_t, Tombstone>;

inline constexpr int kAlone = -1;  // not a size class: freed to the backend

struct Region : Allocation {
  size_t front = 0;  // bytes before the first slot
  size_t slot_bytes = 0;
  uint32_t slots = 1;
  std::atomic<uint64_t> only{slot::kNever};  // the only slot's word
  std::unique_ptr<std::atomic<uint64_t>[]> several;

  // Null and unused if the region belongs to no pool.
  std::atomic<StreamCache*> cache{nullptr};
  int size_class = kAlone;
  uint32_t idle = 0;  // slots in the cache's lists; guarded by its lock
  size_t position = 0;
  void* taken = nullptr;  // the backend's pointer; base is aligned within it
  size_t taken_bytes = 0;

  // In the registry.
  size_t index = 0;
  Tombstones::node_type tombstone;  // preallocated, so that a free allocates nothing

  bool contains(uintptr_t p) const noexcept { return p - base < bytes; }
  uint32_t slot_at(uintptr_t p) const noexcept {
    return slots == 1 ? 0
                      : static_cast<uint32_t>(p - base) / static_cast<uint32_t>(slot_bytes);  // below 4 GiB, no front
  }
  uintptr_t address(uint32_t index_of_slot) const noexcept { return base + front + index_of_slot * slot_bytes; }
  std::atomic<uint64_t>& word(uint32_t index_of_slot) noexcept { return slots == 1 ? only : several[index_of_slot]; }
};

}  // namespace gpumem
