// The blocks of one stream that are free to be used again: by that stream at once, since its work comes one after the other.
// The cache of no stream (nullptr) holds blocks that nothing uses any more. Everything here is under the cache's lock.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "memory/fences.hpp"
#include "memory/region.hpp"
#include "memory/size_classes.hpp"

namespace gpumem {

struct Block {
  Region* region;
  uint32_t slot;

  uintptr_t address() const noexcept { return region->address(slot); }
};

// A free block that work on other streams may still use.
struct PendingBlock {
  Block block;
  std::vector<FencePtr> fences;

  bool passed() const;
};

// What else uses a live block: streams that were declared, and the ends of streams that are gone.
struct BlockUses {
  std::vector<NativeStream> streams;
  std::vector<FencePtr> fences;
};

// Bytes as the program asked for them, and counts.
struct BlockCounts {
  int64_t live_bytes = 0;
  int64_t live_blocks = 0;
  int64_t allocations = 0;
  int64_t hits = 0;    // allocations from a cache
  int64_t misses = 0;  // allocations for which new memory was taken
};

struct alignas(128) StreamCache {
  std::mutex mutex;
  NativeStream stream = nullptr;
  int64_t users = 0;  // names of the stream that are alive
  // The stream has no name any more. What is here can be used by all once its end is passed; where it ended under capture
  // (retired), never.
  bool ended = false;
  bool retired = false;
  FencePtr end;
  // Marks of the arena (its lock's): no work uses what was freed before the one that was passed any more. The fence comes after
  // all that was freed before the other.
  uint64_t passed = 0;
  uint64_t fenced = 0;
  FencePtr fence;
  // Whether the stream has passed its fence, or has none.
  bool passed_fence() {
    if (fence == nullptr) return true;
    if (!fence->passed()) return false;
    passed = fenced;
    fence = nullptr;
    return true;
  }
  int64_t needed = 0;  // the most that it had in use, as far as the pool looked (under its lock for growing)
  BlockCounts counts;
  int64_t counted = 0;  // the part of live_bytes that the pool's high-water mark knows of

  // The free block that was put here last of those of the class that are as large and have that alignment.
  std::optional<Block> take(int size_class, size_t bytes, size_t alignment) noexcept;
  void put(Block block) noexcept;  // room was made by attach()

  // Blocks to wait for. settle() makes those free that need no waiting any more.
  std::optional<PendingBlock> take_pending(int size_class, size_t bytes, size_t alignment) noexcept;
  void settle();

  void add_use(uintptr_t p, NativeStream stream_of_use);

  // A region comes with all of its blocks free, and goes so. Room for it is made before; that throws bad_alloc.
  void make_room(int size_class, size_t slots);
  void attach(Region& region) noexcept;
  void detach(Region& region) noexcept;
  // Everything that another cache has, live blocks as well. Throws bad_alloc, and both are then as they were.
  void absorb(StreamCache& other);
  // A region of which nothing is live: of that class, or the largest. nullptr: none.
  Region* idle_region(int size_class) noexcept;
  Region* largest_idle_region() noexcept;
  // Takes one of those out, of that class or the next larger one that has any, which size_class then is; nullptr: none.
  Region* detach_idle(int& size_class) noexcept;
  int64_t idle_bytes() const noexcept { return idle_bytes_; }  // of all of them
  size_t idle_large() const noexcept { return idle_large_; }   // those of a size beyond slabs
  size_t slots_of(int size_class) const noexcept { return slots_[static_cast<size_t>(size_class)]; }

  std::vector<Region*> regions;
  std::vector<PendingBlock> pending;
  std::unordered_map<uintptr_t, BlockUses> uses;

 private:
  std::vector<Block>& free_of(int size_class) noexcept { return free_[static_cast<size_t>(size_class)]; }
  void change_idle(Region& region, int by) noexcept;
  void count_slots(int size_class, int64_t by) noexcept;
  int next_present(int size_class) const noexcept;  // from there on; kSizeClasses: none

  std::array<std::vector<Block>, kSizeClasses> free_;
  std::array<size_t, kSizeClasses> slots_{};               // of all regions
  std::array<uint64_t, kSizeClasses / 64 + 1> present_{};  // a bit for each class that has any
  int64_t idle_bytes_ = 0;
  size_t idle_slabs_ = 0;  // regions of a size for slabs, all of whose slots are free
  size_t idle_large_ = 0;  // and of larger ones
};

// The cache that a region with a live or claimed block belongs to, locked.
std::unique_lock<std::mutex> lock_home(const Region& region, StreamCache*& home);

}  // namespace gpumem
