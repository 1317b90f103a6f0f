// Pinned chunks that copies between heap memory and the device go through, in rings: while the host is at one of them, the copy
// engine is at another. A ring is lent to one thread at a time, and kept for the next copy.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <vector>

#include "base/ring_sizes.hpp"
#include "memory/block_source.hpp"
#include "memory/fences.hpp"

namespace gpumem {

struct PinnedRing {
  struct Slot {
    char* chunk = nullptr;
    FencePtr free;  // what uses the chunk comes before it; nullptr: nothing does
  };
  std::array<Slot, kRingSlots> slots;
  NativeStream link = nullptr;  // a side stream of its own
  NativeStream user = nullptr;  // in whose order it was used last
};

class PinnedRings {
 public:
  explicit PinnedRings(const PoolOwner& owner);
  // After the context's own stream has been waited for, and its streams are gone.
  ~PinnedRings();

  class Lease {
   public:
    Lease(PinnedRings& home, std::unique_ptr<PinnedRing> ring) noexcept : home_(&home), ring_(std::move(ring)) {}
    Lease(Lease&& other) noexcept = default;
    ~Lease() {
      if (ring_) home_->give_back(std::move(ring_));
    }

    PinnedRing& operator*() const noexcept { return *ring_; }
    PinnedRing* operator->() const noexcept { return ring_.get(); }

   private:
    PinnedRings* home_;
    std::unique_ptr<PinnedRing> ring_;
  };

  // A ring whose last use has been passed, or came before in the order of the same stream: so a copy waits for no stream but
  // its own.
  Lease lend(NativeStream user);
  Fences& fences() noexcept { return fences_; }
  // Gives back the memory of rings that nothing uses.
  void trim() noexcept;

 private:
  std::unique_ptr<PinnedRing> make();
  void give_back(std::unique_ptr<PinnedRing> ring) noexcept;
  void release(PinnedRing& ring) noexcept;

  Backend& device_;
  PinnedSource source_;
  Fences fences_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<PinnedRing>> idle_;
  size_t made_ = 0;  // idle_ has room for all of them
};

}  // namespace gpumem
