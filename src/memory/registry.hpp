// Every allocation of the library in this process, by address, and the most recent ones that were freed ("tombstones"), so
// that a pointer can be told apart without asking the driver and a freed one can be named as such.
// Blocks come and go in the words of their region; the structure here changes when a region does.
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

// A block that its owner has begun to free: nobody else can, and its region stays until the free is complete.
struct Claim {
  Region* region = nullptr;
  uint32_t slot = 0;
  uint64_t word = 0;  // as it was while the block was live

  uintptr_t base() const noexcept { return region->address(slot); }
  size_t bytes() const noexcept { return slot::bytes(word); }
};

// What is known of an address.
struct RegistryEntry {
  bool ours = false;               // it lies in a region
  bool freed = false;              // where a block of ours was
  std::optional<Allocation> live;  // the allocation that it lies in
};

// Where a range that begins elsewhere runs into memory of ours.
struct Overlap {
  uintptr_t base = 0;  // of that memory
  bool live = false;   // it begins with a live allocation
};

class Registry {
 public:
  // From now on addresses are looked up in the region. Throws bad_alloc.
  Region& add(std::unique_ptr<Region> region);
  // Memory of the program, which is one live block. Throws INVALID_ARGUMENT where a part of it is in a region already.
  void add_registered(const Allocation& allocation);
  // Takes out a region in which nothing is live, and remembers where it was, unless it was the program's.
  std::unique_ptr<Region> remove(Region& region) noexcept;
  // Takes out one of the regions of one block that an owner still has: of what the program registered, or of a kind.
  std::unique_ptr<Region> remove_registered(const void* owner) noexcept;
  std::unique_ptr<Region> remove_alone(const void* owner, gpumem_memory_kind kind) noexcept;

  // Addresses are no longer looked up in the regions of owners for which is_lost(owner) holds: other memory may lie there now.
  template <class F>
  void forget_places_of(const F& is_lost) {
    const std::lock_guard lock(lock_);
    for (const auto& region : regions_) {
      if (is_lost(region->owner)) map_.erase(*region);
    }
  }

  RegistryEntry sight(uintptr_t p) const;
  // The allocation that p lies in.
  std::optional<Allocation> find(uintptr_t p) const { return sight(p).live; }
  // The memory of ours, not the program's, that has more than `gap` bytes in common with a range beginning outside of it.
  std::optional<Overlap> encounter(uintptr_t p, size_t bytes, size_t gap) const;
  // Whether p lay in a freed allocation, as long as it is remembered and nothing of ours took its place.
  bool find_freed(uintptr_t p) const;

  // Claims the owner's block that starts at p, or its registered memory. Throws INVALID_POINTER and says which mistake it was.
  Claim claim(uintptr_t p, const void* owner);
  Claim claim_registered(uintptr_t p, const void* owner);
  // The block is live again.
  static void unclaim(const Claim& claim) noexcept {
    claim.region->word(claim.slot).store(claim.word, std::memory_order_release);
  }
  // Calls f(region, slot) for the owner's block that starts at p, which stays live meanwhile unless another thread frees it, and
  // whose region stays in any case. f must not call the registry. Throws as claim().
  template <class F>
  void with_live(uintptr_t p, const void* owner, const F& f) const {
    const std::lock_guard lock(lock_.of_thread());
    Region& region = region_of_block(p, owner);
    f(region, region.slot_at(p));
  }
  // The live blocks of an owner, by region. Throws bad_alloc.
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
  std::deque<std::pair<uintptr_t, uint64_t>> freed_order_;  // start and number, oldest first; some are gone already
  uint64_t buried_ = 0;
};

}  // namespace gpumem
