// Every allocation of the library in this process, by address, with recently freed ones ("tombstones"). So pointers are
// classified without a driver call. Blocks change the words of their region; the structure here changes per region.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "memory/page_map.hpp"
#include "memory/region.hpp"
#include "memory/sharded_lock.hpp"

namespace gpumem {

// A block being freed by its owner. It excludes other frees, and keeps the region until the free completes.
struct Claim {
  Region* region = nullptr;
  uint32_t slot = 0;
  uint64_t word = 0;  // the value while live

  uintptr_t base() const noexcept { return region->address(slot); }
  size_t bytes() const noexcept { return slot::bytes(word); }
};

struct RegistryEntry {
  bool ours = false;
  bool freed = false;
  std::optional<Allocation> live;
};

// Library memory overlapping a range that begins elsewhere.
struct Overlap {
  uintptr_t base = 0;
  bool live = false;  // begins with a live allocation
};

class Registry {
 public:
  // Makes the region visible to lookups. Throws bad_alloc.
  Region& add(std::unique_ptr<Region> region);
  // Program memory as one live block. Throws INVALID_ARGUMENT if it overlaps a region.
  void add_registered(const Allocation& allocation);
  // Removes a region without live blocks. Leaves a tombstone unless the memory is the program's.
  std::unique_ptr<Region> remove(Region& region) noexcept;
  // Removes one remaining single-block region of an owner: registered memory, or memory of one kind.
  std::unique_ptr<Region> remove_registered(const void* owner) noexcept;
  std::unique_ptr<Region> remove_alone(const void* owner, gpumem_memory_kind kind) noexcept;

  // Excludes regions of owners that satisfy is_lost(owner) from lookups: other memory may have their addresses now.
  template <class F>
  void forget_places_of(const F& is_lost) {
    const std::lock_guard lock(lock_);
    for (const auto& region : regions_) {
      if (is_lost(region->owner)) map_.erase(*region);
    }
  }

  RegistryEntry sight(uintptr_t p) const;
  std::optional<Allocation> find(uintptr_t p) const { return sight(p).live; }
  // The library's own memory that shares more than `gap` bytes with a range beginning outside it.
  std::optional<Overlap> encounter(uintptr_t p, size_t bytes, size_t gap) const;
  // Whether p is in a remembered freed allocation with no newer memory at its place.
  bool find_freed(uintptr_t p) const;

  // Claims the owner's block, or registered memory, that starts at p. Throws INVALID_POINTER with the kind of mistake.
  Claim claim(uintptr_t p, const void* owner);
  Claim claim_registered(uintptr_t p, const void* owner);
  static void unclaim(const Claim& claim) noexcept {
    claim.region->word(claim.slot).store(claim.word, std::memory_order_release);
  }
  // Calls f(region, slot) for the owner's block that starts at p. The region stays meanwhile, and the block stays live
  // unless another thread frees it. f must not call the registry. Throws as claim().
  template <class F>
  void with_live(uintptr_t p, const void* owner, const F& f) const {
    const std::lock_guard lock(lock_.of_thread());
    Region& region = region_of_block(p, owner);
    f(region, region.slot_at(p));
  }
  std::vector<Allocation> live_of(const void* owner) const;

 private:
  static constexpr size_t kTombstones = 4096;

  static Allocation allocation_of(const Region& region, uint32_t slot, uint64_t word) noexcept;
  Region& enter(std::unique_ptr<Region> region);  // with the lock held; throws bad_alloc
  std::unique_ptr<Region> take_out(Region& region) noexcept;
  template <class Which>
  std::unique_ptr<Region> remove_any(const Which& which) noexcept;
  Region& region_of_block(uintptr_t p, const void* owner) const;
  static std::optional<Claim> try_claim(Region& region, uint32_t slot) noexcept;
  void forget_freed(uintptr_t base, size_t bytes) noexcept;
  void bury(Region& region) noexcept;
  bool buried(uintptr_t p) const noexcept;
  [[noreturn]] void fail_unfreeable(uintptr_t p, Region* region, const void* owner) const;
  [[noreturn]] static void fail_unregistered(uintptr_t p, const Region* region, const void* owner);

  mutable ShardedLock lock_;
  PageMap map_;
  std::vector<std::unique_ptr<Region>> regions_;
  Tombstones freed_;
  std::deque<std::pair<uintptr_t, uint64_t>> freed_order_;  // start and number, oldest first; some are already removed
  uint64_t buried_ = 0;
};

}  // namespace gpumem
