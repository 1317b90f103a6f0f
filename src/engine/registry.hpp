// Every allocation of the library in this process, by address, and the most recent ones that were freed ("tombstones"), so
// that a pointer can be told apart without asking the driver and a freed one can be named as such.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <shared_mutex>

#include "engine/device_props.hpp"
#include "gpumem.h"

namespace gpumem {

struct Allocation {
  uintptr_t base = 0;
  size_t bytes = 0;
  gpumem_memory_kind kind = GPUMEM_MEMORY_PAGEABLE;
  Runs backend = Runs::host;  // whose allocator it came from
  int32_t device = GPUMEM_DEVICE_HOST;
  const void* owner = nullptr;  // the context, compared and never dereferenced
};

class Registry {
 public:
  void add(const Allocation& allocation);
  // The allocation that p lies in.
  std::optional<Allocation> find(uintptr_t p) const;
  // The freed allocation that p lay in, as long as it is remembered and nothing of ours took its place.
  std::optional<Allocation> find_freed(uintptr_t p) const;
  // Takes the owner's allocation that starts at p out. Throws INVALID_POINTER and says which mistake it was.
  Allocation remove(uintptr_t p, const void* owner);
  // Takes out one of the allocations that an owner still has.
  std::optional<Allocation> remove_any(const void* owner) noexcept;

 private:
  static constexpr size_t kTombstones = 4096;

  void bury(uintptr_t base) noexcept;
  static std::optional<Allocation> containing(const std::map<uintptr_t, Allocation>& map, uintptr_t p);

  mutable std::shared_mutex mutex_;
  std::map<uintptr_t, Allocation> live_;
  std::map<uintptr_t, Allocation> freed_;
  std::deque<uintptr_t> freed_order_;  // oldest first; may name tombstones that are gone already
};

}  // namespace gpumem
