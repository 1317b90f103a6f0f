// Free blocks of one stream, reusable there at once because its work is in order. The cache of stream nullptr holds
// blocks that are out of use. The cache's lock guards everything here.
#pragma once

#include <array>
#include <atomic>
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

// Further uses of a live block: declared streams, and fences of ended streams.
struct BlockUses {
  std::vector<NativeStream> streams;
  std::vector<FencePtr> fences;
};

// Byte counts are as requested.
struct BlockCounts {
  int64_t live_bytes = 0;
  int64_t live_blocks = 0;
  int64_t allocations = 0;
  int64_t hits = 0;
  int64_t misses = 0;
};

// Whether graphs keep a cache's memory. If so, no other cache takes it, it stays mapped, and nothing waits for the
// stream, which may be under capture. Once released, idle memory is for all streams.
enum class GraphHold : uint8_t { none, kept, released };

struct alignas(128) StreamCache {
  std::mutex mutex;
  NativeStream stream = nullptr;
  std::atomic<GraphHold> hold{GraphHold::none};
  int64_t users = 0;
  // The stream has no name. Its memory is shared once its end is passed; never if it ended under capture (retired).
  bool ended = false;
  bool retired = false;
  FencePtr end;
  // Arena marks, under its lock. Memory freed before `passed` is out of use. The fence follows frees before `fenced`.
  uint64_t passed = 0;
  uint64_t fenced = 0;
  FencePtr fence;
  uint64_t reuses = 0;  // of free memory near the target
  // Whether the stream has passed its fence, or has none.
  bool passed_fence() {
    if (fence == nullptr) return true;
    if (!fence->passed()) return false;
    passed = fenced;
    fence = nullptr;
    return true;
  }
  bool for_graphs() const noexcept { return hold.load(std::memory_order_relaxed) != GraphHold::none; }
  int64_t needed = 0;  // sampled maximum in use, under the pool's lock for growing
  BlockCounts counts;
  int64_t counted = 0;  // the part of live_bytes in the pool's high-water mark

  // The latest free block of the class with at least that size and alignment.
  std::optional<Block> take(int size_class, size_t bytes, size_t alignment) noexcept;
  void put(Block block) noexcept;  // attach() made room

  // Blocks to wait for. settle() frees those that need no more waiting.
  std::optional<PendingBlock> take_pending(int size_class, size_t bytes, size_t alignment) noexcept;
  void settle();

  void add_use(uintptr_t p, NativeStream stream_of_use);

  // Regions come and go with all blocks free. Room for one is made before; that throws bad_alloc.
  void make_room(int size_class, size_t slots);
  void attach(Region& region) noexcept;
  void detach(Region& region) noexcept;
  // Takes everything from another cache, live blocks included. Throws bad_alloc, with both unchanged.
  void absorb(StreamCache& other);
  // A region without live blocks, of that class or the largest; nullptr if none.
  Region* idle_region(int size_class) noexcept;
  Region* largest_idle_region() noexcept;
  // Removes an idle region of that class or the next larger class with one, and sets size_class to it. nullptr if none.
  Region* detach_idle(int& size_class) noexcept;
  int64_t idle_bytes() const noexcept { return idle_bytes_; }
  size_t idle_large() const noexcept { return idle_large_; }
  size_t slots_of(int size_class) const noexcept { return slots_[static_cast<size_t>(size_class)]; }

  std::vector<Region*> regions;
  std::vector<PendingBlock> pending;
  std::unordered_map<uintptr_t, BlockUses> uses;

 private:
  std::vector<Block>& free_of(int size_class) noexcept { return free_[static_cast<size_t>(size_class)]; }
  void change_idle(Region& region, int by) noexcept;
  void count_slots(int size_class, int64_t by) noexcept;
  int next_present(int size_class) const noexcept;  // from size_class up; kSizeClasses: none

  std::array<std::vector<Block>, kSizeClasses> free_;
  std::array<size_t, kSizeClasses> slots_{};
  std::array<uint64_t, kSizeClasses / 64 + 1> present_{};  // one bit per class with regions
  int64_t idle_bytes_ = 0;
  size_t idle_slabs_ = 0;
  size_t idle_large_ = 0;
};

std::unique_lock<std::mutex> lock_home(const Region& region, StreamCache*& home);

}  // namespace gpumem
