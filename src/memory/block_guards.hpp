// Debug mode: bytes of one value round every block, and of another in those that were freed, so that a write past a block's ends or
// after its free shows. To that end, freed blocks are kept aside for a while.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "memory/pool_owner.hpp"

namespace gpumem {

// What checks have found: in how many places, and a sentence on the first.
struct Damage {
  int64_t places = 0;
  std::string first;

  void add(const std::string& sentence);
  void add(const Damage& other);
};

// Every region has one block. What is found is kept as sentences for the log, which is called without a lock.
class BlockGuards {
 public:
  static constexpr size_t kBytes = 256;  // at each end, at least
  static constexpr size_t kMostAside = size_t{64} << 20;
  static constexpr size_t kMostBlocksAside = 4096;  // each is memory of its own to the driver

  BlockGuards(const PoolOwner& owner, gpumem_memory_kind kind);
  ~BlockGuards();

  // Puts guards around the `bytes` bytes of the region's block.
  void surround(Region& region, size_t bytes);
  // Checks a block that nothing uses any more; check_all() all blocks that are live or were put aside, and reports those that were
  // damaged when they were let go.
  void check(const Region& region, size_t bytes, Damage& found);
  void check_all(Damage& found);
  // The block is freed. false: its region can't be kept.
  bool put_aside(Region& region) noexcept;
  // The region that was put aside first, while those put aside are more than keep_bytes or kMostBlocksAside; else nullptr.
  Region* take_oldest(size_t keep_bytes) noexcept;
  size_t bytes_aside() const noexcept;

  std::vector<std::string> take_sentences() noexcept;

 private:
  // Bytes that do not have the value that was written there, from the first to the last of them.
  struct Changed {
    uintptr_t first;
    uintptr_t last;
  };

  bool reached() const noexcept;  // the host reads and writes the memory itself
  NativeStream link();
  void paint(uintptr_t p, size_t bytes, unsigned char value);
  std::optional<Changed> changed(unsigned char value, uintptr_t p, size_t bytes);
  void check_ends(const Region& region, size_t bytes, Damage& found);
  void check_freed(Region& region, Damage& found);
  void note(const Region& region, const Changed& changed, const char* when, Damage& found);

  const PoolOwner& owner_;
  const gpumem_memory_kind kind_;
  mutable std::mutex mutex_;
  NativeStream link_ = nullptr;
  std::vector<unsigned char> buffer_;
  std::unordered_set<Region*> live_;
  std::deque<Region*> aside_;  // the oldest first
  size_t bytes_aside_ = 0;     // as taken from the source
  Damage let_go_;
  std::vector<std::string> sentences_;
};

}  // namespace gpumem
