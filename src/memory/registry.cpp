#include "memory/registry.hpp"

#include <algorithm>
#include <mutex>
#include <new>
#include <utility>

#include "base/error.hpp"

namespace gpumem {
namespace {

Tombstones::node_type make_tombstone(uintptr_t base, size_t bytes) {
  Tombstones one;
  one.emplace(base, Tombstone{bytes, 0});
  return one.extract(one.begin());
}

}  // namespace

Allocation Registry::allocation_of(const Region& region, uint32_t slot, uint64_t word) noexcept {
  Allocation block = region;
  block.base = region.address(slot);
  block.bytes = slot::bytes(word);
  return block;
}

Region& Registry::add(std::unique_ptr<Region> region) {
  region->tombstone = make_tombstone(region->base, region->bytes);
  const std::lock_guard lock(lock_);
  return enter(std::move(region));
}

Region& Registry::enter(std::unique_ptr<Region> region) {
  Region& added = *region;
  if (regions_.size() == regions_.capacity()) regions_.reserve(2 * regions_.size() + 16);
  map_.insert(added);
  added.index = regions_.size();
  regions_.push_back(std::move(region));
  forget_freed(added.base, added.bytes);
  return added;
}

void Registry::add_registered(const Allocation& allocation) {
  auto region = std::make_unique<Region>();
  static_cast<Allocation&>(*region) = allocation;
  region->slot_bytes = region->taken_bytes = allocation.bytes;
  region->taken = reinterpret_cast<void*>(allocation.base);
  region->only.store(slot::live(allocation.bytes), std::memory_order_release);
  region->tombstone = make_tombstone(region->base, region->bytes);
  const std::lock_guard lock(lock_);
  if (const Region* other = map_.first_in(region->base, region->bytes, [](const Region&) { return true; })) {
    fail(GPUMEM_INVALID_ARGUMENT,
         "p (0x%llx) and the %zu bytes from it on overlap memory that gpumem %s at 0x%llx; expected memory apart from "
         "it",
         static_cast<unsigned long long>(region->base), region->bytes, other->registered ? "registered" : "allocated",
         static_cast<unsigned long long>(other->base));
  }
  enter(std::move(region));
}

// New memory at these addresses makes their tombstones void.
void Registry::forget_freed(uintptr_t base, size_t bytes) noexcept {
  const uintptr_t end = base + bytes;
  auto first = freed_.lower_bound(base);
  if (first != freed_.begin()) {
    auto before = std::prev(first);
    if (before->first + before->second.bytes > base) first = before;
  }
  while (first != freed_.end() && first->first < end) first = freed_.erase(first);
}

// The node was made with the region. Only the order of tombstones allocates, and failure there is harmless.
void Registry::bury(Region& region) noexcept {
  region.tombstone.mapped().number = ++buried_;
  freed_.erase(region.base);
  freed_.insert(std::move(region.tombstone));
  try {
    freed_order_.emplace_back(region.base, buried_);
  } catch (const std::bad_alloc&) {
    freed_.erase(region.base);
  }
  while (freed_order_.size() > kTombstones) {
    const auto [base, number] = freed_order_.front();
    freed_order_.pop_front();
    const auto oldest = freed_.find(base);
    if (oldest != freed_.end() && oldest->second.number == number) freed_.erase(oldest);  // and not a later one there
  }
}

std::unique_ptr<Region> Registry::take_out(Region& region) noexcept {
  map_.erase(region);
  std::unique_ptr<Region> owned = std::move(regions_[region.index]);
  if (region.index + 1 != regions_.size()) {
    regions_[region.index] = std::move(regions_.back());
    regions_[region.index]->index = region.index;
  }
  regions_.pop_back();
  if (!region.registered) bury(region);
  return owned;
}

std::unique_ptr<Region> Registry::remove(Region& region) noexcept {
  const std::lock_guard lock(lock_);
  return take_out(region);
}

template <class Which>
std::unique_ptr<Region> Registry::remove_any(const Which& which) noexcept {
  const std::lock_guard lock(lock_);
  for (size_t i = regions_.size(); i-- > 0;) {
    if (which(*regions_[i])) return take_out(*regions_[i]);
  }
  return nullptr;
}

std::unique_ptr<Region> Registry::remove_registered(const void* owner) noexcept {
  return remove_any([owner](const Region& region) { return region.owner == owner && region.registered; });
}

std::unique_ptr<Region> Registry::remove_alone(const void* owner, gpumem_memory_kind kind) noexcept {
  return remove_any([owner, kind](const Region& region) {
    return region.owner == owner && region.kind == kind && !region.registered && region.size_class == kAlone;
  });
}

std::vector<Allocation> Registry::live_of(const void* owner) const {
  const std::lock_guard lock(lock_.of_thread());
  std::vector<Allocation> live;
  for (const auto& region : regions_) {
    for (uint32_t i = 0; region->owner == owner && i < region->slots; ++i) {
      const uint64_t word = region->word(i).load(std::memory_order_acquire);
      if (slot::is_live(word)) live.push_back(allocation_of(*region, i, word));
    }
  }
  return live;
}

bool Registry::buried(uintptr_t p) const noexcept {
  const auto after = freed_.upper_bound(p);
  if (after == freed_.begin()) return false;
  const auto& [base, gone] = *std::prev(after);
  return p - base < gone.bytes;
}

RegistryEntry Registry::sight(uintptr_t p) const {
  const std::lock_guard lock(lock_.of_thread());
  Region* region = map_.find(p);
  if (region == nullptr) return {};
  const uint32_t slot = region->slot_at(p);
  RegistryEntry seen{true, false, std::nullopt};
  if (slot >= region->slots) return seen;  // the remainder after the last slot
  const uint64_t word = region->word(slot).load(std::memory_order_acquire);
  seen.freed = slot::is_freed(word);
  if (slot::is_live(word) && p - region->address(slot) < slot::bytes(word)) {
    seen.live = allocation_of(*region, slot, word);
  }
  return seen;
}

std::optional<Overlap> Registry::encounter(uintptr_t p, size_t bytes, size_t gap) const {
  const uintptr_t last = p + (bytes - 1);
  const auto runs_through = [&](const Region& region) {
    const uintptr_t first_inside = std::max(p, region.base);
    const uintptr_t last_inside = std::min(last, region.base + (region.bytes - 1));
    return !region.registered && last_inside - first_inside >= gap;
  };
  const std::lock_guard lock(lock_.of_thread());
  Region* region = map_.first_in(p, bytes, runs_through);
  if (region == nullptr) return std::nullopt;
  return Overlap{region->base, slot::is_live(region->word(0).load(std::memory_order_acquire))};
}

bool Registry::find_freed(uintptr_t p) const {
  const std::lock_guard lock(lock_.of_thread());
  Region* region = map_.find(p);
  if (region == nullptr) return buried(p);
  const uint32_t slot = region->slot_at(p);
  return slot < region->slots && slot::is_freed(region->word(slot).load(std::memory_order_acquire));
}

void Registry::fail_unfreeable(uintptr_t p, Region* region, const void* owner) const {
  const auto address = static_cast<unsigned long long>(p);
  const uint32_t slot = region == nullptr ? 0 : region->slot_at(p);
  const bool in_slot = region != nullptr && slot < region->slots;
  const uint64_t word = in_slot ? region->word(slot).load(std::memory_order_acquire) : slot::kNever;
  if (slot::is_freed(word) || (region == nullptr && buried(p))) {
    fail(GPUMEM_INVALID_POINTER, "p (0x%llx) was freed before; expected a live allocation", address);
  }
  if (!slot::is_live(word) || p - region->address(slot) >= slot::bytes(word)) {
    fail(GPUMEM_INVALID_POINTER, "p (0x%llx) was not allocated by gpumem; expected a pointer from gpumem_alloc_*",
         address);
  }
  if (p != region->address(slot)) {
    fail(GPUMEM_INVALID_POINTER, "p (0x%llx) is %llu bytes inside an allocation; expected its start, 0x%llx", address,
         static_cast<unsigned long long>(p - region->address(slot)),
         static_cast<unsigned long long>(region->address(slot)));
  }
  if (region->registered) {
    fail(GPUMEM_INVALID_POINTER,
         "p (0x%llx) is memory of the program, registered with gpumem_host_register(); expected memory from "
         "gpumem_alloc_*",
         address);
  }
  if (region->owner != owner) {
    fail(GPUMEM_INVALID_POINTER, "p (0x%llx) belongs to another context; expected the one that allocated it", address);
  }
  fail(GPUMEM_INVALID_POINTER, "p (0x%llx) was freed by another thread at this moment; expected a live allocation",
       address);
}

Region& Registry::region_of_block(uintptr_t p, const void* owner) const {
  Region* region = map_.find(p);
  const uint32_t slot = region == nullptr ? 0 : region->slot_at(p);
  if (region == nullptr || slot >= region->slots || p != region->address(slot) || region->owner != owner ||
      !slot::is_live(region->word(slot).load(std::memory_order_acquire))) {
    fail_unfreeable(p, region, owner);
  }
  return *region;
}

void Registry::fail_unregistered(uintptr_t p, const Region* region, const void* owner) {
  const auto address = static_cast<unsigned long long>(p);
  if (region == nullptr) {
    fail(GPUMEM_INVALID_POINTER,
         "p (0x%llx) is not registered; expected the start of memory that gpumem_host_register() took", address);
  }
  if (!region->registered) {
    fail(GPUMEM_INVALID_POINTER,
         "p (0x%llx) is memory that gpumem allocated; expected memory of the program that gpumem_host_register() took",
         address);
  }
  if (p != region->base) {
    fail(GPUMEM_INVALID_POINTER, "p (0x%llx) is %llu bytes inside registered memory; expected its start, 0x%llx",
         address, static_cast<unsigned long long>(p - region->base), static_cast<unsigned long long>(region->base));
  }
  if (region->owner != owner) {
    fail(GPUMEM_INVALID_POINTER, "p (0x%llx) was registered by another context; expected the one that registered it",
         address);
  }
  fail(GPUMEM_INVALID_POINTER,
       "p (0x%llx) is unregistered by another thread at this moment; expected it to be "
       "registered",
       address);
}

std::optional<Claim> Registry::try_claim(Region& region, uint32_t slot) noexcept {
  std::atomic<uint64_t>& word = region.word(slot);
  uint64_t seen = word.load(std::memory_order_acquire);
  while (slot::is_live(seen)) {
    if (word.compare_exchange_weak(seen, slot::freed(seen), std::memory_order_acq_rel)) {
      return Claim{&region, slot, seen};
    }
  }
  return std::nullopt;
}

Claim Registry::claim(uintptr_t p, const void* owner) {
  const std::lock_guard lock(lock_.of_thread());
  Region& region = region_of_block(p, owner);
  const uint32_t slot = region.slot_at(p);
  if (!region.registered) {
    if (const auto claim = try_claim(region, slot)) return *claim;
  }
  fail_unfreeable(p, &region, owner);
}

Claim Registry::claim_registered(uintptr_t p, const void* owner) {
  const std::lock_guard lock(lock_.of_thread());
  Region* region = map_.find(p);
  if (region != nullptr && region->registered && p == region->base && region->owner == owner) {
    if (const auto claim = try_claim(*region, 0)) return *claim;
  }
  fail_unregistered(p, region, owner);
}

}  // namespace gpumem
