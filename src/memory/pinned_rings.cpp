#include "memory/pinned_rings.hpp"

#include <algorithm>
#include <iterator>

#include "base/error.hpp"
#include "base/scope_exit.hpp"

namespace gpumem {
namespace {

constexpr size_t kRingBytes = kRingSlots * kRingChunkBytes;

bool settled(const PinnedRing& ring) {
  return std::ranges::all_of(ring.slots, [](const auto& slot) { return slot.free == nullptr || slot.free->passed(); });
}

}  // namespace

PinnedRings::PinnedRings(const PoolOwner& owner) : device_(owner.device), source_(owner), fences_(owner.device) {}

PinnedRings::~PinnedRings() {
  for (const auto& ring : idle_) release(*ring);
}

PinnedRings::Lease PinnedRings::lend(NativeStream user) {
  std::unique_ptr<PinnedRing> ring;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    auto found = std::ranges::find_if(idle_, [user](const auto& r) { return r->user == user; });
    if (found == idle_.end()) found = std::ranges::find_if(idle_, [](const auto& r) { return settled(*r); });
    if (found != idle_.end()) {
      ring = std::move(*found);
      idle_.erase(found);
    }
  }
  if (ring == nullptr) ring = make();
  ring->user = user;
  return {*this, std::move(ring)};
}

// No lock is held: the driver call may be slow.
std::unique_ptr<PinnedRing> PinnedRings::make() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    idle_.reserve(++made_);  // so that a return can't fail
  }
  auto ring = std::make_unique<PinnedRing>();
  ring->link = device_.create_side_stream();
  ScopeExit destroy([&] { device_.destroy_stream(ring->link); });
  auto* const chunks = static_cast<char*>(source_.take(nullptr, kRingBytes));
  destroy.release();
  for (size_t i = 0; i < ring->slots.size(); ++i) ring->slots[i].chunk = chunks + i * kRingChunkBytes;
  return ring;
}

void PinnedRings::give_back(std::unique_ptr<PinnedRing> ring) noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  idle_.push_back(std::move(ring));
}

void PinnedRings::release(PinnedRing& ring) noexcept {
  for (auto& slot : ring.slots) {
    try {
      if (slot.free != nullptr) slot.free->wait();
    } catch (const Error&) {
      // A fault: the device no longer uses it.
    }
    slot.free = nullptr;
  }
  device_.finish_stream(ring.link);
  device_.destroy_stream(ring.link);
  source_.give_back(nullptr, ring.slots[0].chunk, kRingBytes);
}

void PinnedRings::trim() noexcept {
  std::vector<std::unique_ptr<PinnedRing>> unused;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    try {
      unused.reserve(idle_.size());
      const auto first = std::partition(idle_.begin(), idle_.end(), [](const auto& ring) { return !settled(*ring); });
      std::move(first, idle_.end(), std::back_inserter(unused));
      idle_.erase(first, idle_.end());
      made_ -= unused.size();
    } catch (const std::exception&) {
      // A fault, or no memory: idle memory is kept.
    }
  }
  for (const auto& ring : unused) release(*ring);
}

}  // namespace gpumem
