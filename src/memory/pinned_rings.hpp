// Pinned staging buffers for copies between pageable memory and the device. The host fills one chunk while the copy
// engine moves another. One thread at a time borrows a set of chunks.
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
    FencePtr free;  // the last use of the chunk; nullptr: unused
  };
  std::array<Slot, kRingSlots> slots;
  NativeStream link = nullptr;
  NativeStream user = nullptr;
};

class PinnedRings {
 public:
  explicit PinnedRings(const PoolOwner& owner);
  // Requires that the context's own stream was waited for, and that its other streams are gone.
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

  // Returns chunks whose last use has passed, or precedes in the same stream. So a copy waits only for its own stream.
  Lease lend(NativeStream user);
  Fences& fences() noexcept { return fences_; }
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
  size_t made_ = 0;  // capacity of idle_
};

}  // namespace gpumem
