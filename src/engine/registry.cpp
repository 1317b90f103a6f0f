#include "engine/registry.hpp"

#include <mutex>
#include <new>

#include "engine/error.hpp"

namespace gpumem {

std::optional<Allocation> Registry::containing(const std::map<uintptr_t, Allocation>& map, uintptr_t p) {
  auto after = map.upper_bound(p);
  if (after == map.begin()) return std::nullopt;
  const Allocation& candidate = std::prev(after)->second;
  if (p - candidate.base >= candidate.bytes) return std::nullopt;
  return candidate;
}

void Registry::add(const Allocation& allocation) {
  const std::unique_lock lock(mutex_);
  live_.insert_or_assign(allocation.base, allocation);
  const uintptr_t end = allocation.base + allocation.bytes;
  auto first = freed_.lower_bound(allocation.base);
  if (first != freed_.begin()) {
    auto before = std::prev(first);
    if (before->first + before->second.bytes > allocation.base) first = before;
  }
  while (first != freed_.end() && first->first < end) first = freed_.erase(first);
}

std::optional<Allocation> Registry::find(uintptr_t p) const {
  const std::shared_lock lock(mutex_);
  return containing(live_, p);
}

std::optional<Allocation> Registry::find_freed(uintptr_t p) const {
  const std::shared_lock lock(mutex_);
  return containing(freed_, p);
}

// Moves the node from one map to the other: only the order of the tombstones asks for memory, and goes without it.
void Registry::bury(uintptr_t base) noexcept {
  auto node = live_.extract(base);
  freed_.erase(base);
  freed_.insert(std::move(node));
  try {
    freed_order_.push_back(base);
  } catch (const std::bad_alloc&) {
    freed_.erase(base);
  }
  while (freed_order_.size() > kTombstones) {
    freed_.erase(freed_order_.front());
    freed_order_.pop_front();
  }
}

Allocation Registry::remove(uintptr_t p, const void* owner) {
  const std::unique_lock lock(mutex_);
  const auto address = static_cast<unsigned long long>(p);
  const auto found = live_.find(p);
  if (found == live_.end()) {
    if (const auto inside = containing(live_, p)) {
      fail(GPUMEM_INVALID_POINTER, "p (0x%llx) lies %llu bytes inside an allocation; expected its start, 0x%llx",
           address, static_cast<unsigned long long>(p - inside->base), static_cast<unsigned long long>(inside->base));
    }
    if (containing(freed_, p)) {
      fail(GPUMEM_INVALID_POINTER, "p (0x%llx) was freed before; expected a live allocation", address);
    }
    fail(GPUMEM_INVALID_POINTER, "p (0x%llx) was not allocated by gpumem; expected a pointer from gpumem_alloc_*",
         address);
  }
  const Allocation allocation = found->second;
  if (allocation.owner != owner) {
    fail(GPUMEM_INVALID_POINTER, "p (0x%llx) belongs to another context; expected the one that allocated it", address);
  }
  bury(allocation.base);
  return allocation;
}

std::optional<Allocation> Registry::remove_any(const void* owner) noexcept {
  const std::unique_lock lock(mutex_);
  for (const auto& [base, allocation] : live_) {
    if (allocation.owner != owner) continue;
    const Allocation removed = allocation;
    bury(removed.base);
    return removed;
  }
  return std::nullopt;
}

}  // namespace gpumem
