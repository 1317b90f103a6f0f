#include "memory/stream_cache.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace gpumem {
namespace {

bool fits(const Block& block, size_t bytes, size_t alignment) noexcept {
  return block.region->slot_bytes == bytes && block.address() % alignment == 0;
}

}  // namespace

bool PendingBlock::passed() const {
  return std::all_of(fences.begin(), fences.end(), [](const FencePtr& fence) { return fence->passed(); });
}

void StreamCache::change_idle(Region& region, int by) noexcept {
  const auto count = [&](int sign) {
    if (region.idle != region.slots) return;
    idle_bytes_ += sign * static_cast<int64_t>(region.taken_bytes);
    (region.size_class <= kLastInSlab ? idle_slabs_ : idle_large_) += static_cast<size_t>(sign);
  };
  count(-1);
  region.idle += static_cast<uint32_t>(by);
  count(+1);
}

std::optional<Block> StreamCache::take(int size_class, size_t bytes, size_t alignment) noexcept {
  std::vector<Block>& free = free_of(size_class);
  for (size_t i = free.size(); i-- > 0;) {
    const Block block = free[i];
    if (!fits(block, bytes, alignment)) continue;
    free[i] = free.back();
    free.pop_back();
    change_idle(*block.region, -1);
    return block;
  }
  return std::nullopt;
}

void StreamCache::put(Block block) noexcept {
  free_of(block.region->size_class).push_back(block);
  change_idle(*block.region, 1);
}

std::optional<PendingBlock> StreamCache::take_pending(int size_class, size_t bytes, size_t alignment) noexcept {
  for (auto at = pending.begin(); at != pending.end(); ++at) {
    if (at->block.region->size_class != size_class || !fits(at->block, bytes, alignment)) continue;
    PendingBlock taken = std::move(*at);
    pending.erase(at);
    return taken;
  }
  return std::nullopt;
}

void StreamCache::settle() {
  std::erase_if(pending, [this](const PendingBlock& block) {
    if (!block.passed()) return false;
    put(block.block);
    return true;
  });
}

void StreamCache::add_use(uintptr_t p, NativeStream stream_of_use) {
  std::vector<NativeStream>& streams = uses[p].streams;
  if (std::find(streams.begin(), streams.end(), stream_of_use) == streams.end()) streams.push_back(stream_of_use);
}

void StreamCache::make_room(int size_class, size_t slots) {
  std::vector<Block>& free = free_of(size_class);
  const size_t most = slots_of(size_class) + slots;
  if (free.capacity() < most) free.reserve(std::max(most, 2 * free.capacity()));
  if (regions.size() == regions.capacity()) regions.reserve(2 * regions.size() + 8);
}

void StreamCache::count_slots(int size_class, int64_t by) noexcept {
  const auto at = static_cast<size_t>(size_class);
  slots_[at] += static_cast<size_t>(by);
  const uint64_t bit = uint64_t{1} << at % 64;
  present_[at / 64] = slots_[at] > 0 ? present_[at / 64] | bit : present_[at / 64] & ~bit;
}

int StreamCache::next_present(int size_class) const noexcept {
  auto at = static_cast<size_t>(size_class);
  uint64_t left = present_[at / 64] >> at % 64 << at % 64;
  for (at /= 64; left == 0; left = present_[at]) {
    if (++at == present_.size()) return kSizeClasses;
  }
  return static_cast<int>(at * 64) + std::countr_zero(left);
}

void StreamCache::attach(Region& region) noexcept {
  count_slots(region.size_class, region.slots);
  region.position = regions.size();
  regions.push_back(&region);
  region.cache.store(this, std::memory_order_release);
  for (uint32_t i = region.slots; i-- > 0;) put({&region, i});  // so that the first is taken first
}

void StreamCache::detach(Region& region) noexcept {
  std::erase_if(free_of(region.size_class), [&](const Block& block) { return block.region == &region; });
  change_idle(region, -static_cast<int>(region.idle));
  count_slots(region.size_class, -static_cast<int64_t>(region.slots));
  regions[region.position] = regions.back();
  regions[region.position]->position = region.position;
  regions.pop_back();
}

void StreamCache::absorb(StreamCache& other) {
  for (int c = 0; c < kSizeClasses; ++c) {
    if (other.slots_of(c) > 0) make_room(c, other.slots_of(c));
  }
  regions.reserve(regions.size() + other.regions.size());
  pending.reserve(pending.size() + other.pending.size());
  uses.reserve(uses.size() + other.uses.size());
  for (int c = 0; c < kSizeClasses; ++c) {
    std::vector<Block>& free = other.free_of(c);
    free_of(c).insert(free_of(c).end(), free.begin(), free.end());
    free.clear();
    const auto slots = static_cast<int64_t>(other.slots_of(c));
    count_slots(c, slots);
    other.count_slots(c, -slots);
  }
  idle_slabs_ += std::exchange(other.idle_slabs_, 0);
  idle_large_ += std::exchange(other.idle_large_, 0);
  idle_bytes_ += std::exchange(other.idle_bytes_, 0);
  for (Region* region : other.regions) {
    region->position = regions.size();
    regions.push_back(region);
    region->cache.store(this, std::memory_order_release);
  }
  other.regions.clear();
  for (PendingBlock& block : other.pending) pending.push_back(std::move(block));
  other.pending.clear();
  uses.merge(other.uses);
}

Region* StreamCache::idle_region(int size_class) noexcept {
  const std::vector<Block>& free = free_of(size_class);
  if (free.empty()) return nullptr;
  if (size_class > kLastInSlab) return free.front().region;
  if (idle_slabs_ == 0) return nullptr;
  const auto found = std::find_if(free.begin(), free.end(),
                                  [](const Block& block) { return block.region->idle == block.region->slots; });
  return found == free.end() ? nullptr : found->region;
}

Region* StreamCache::largest_idle_region() noexcept {
  for (int c = kSizeClasses - 1; c > kLastInSlab; --c) {
    if (Region* region = idle_region(c)) return region;
  }
  for (int c = kLastInSlab; c >= 0 && idle_slabs_ > 0; --c) {
    if (Region* region = idle_region(c)) return region;
  }
  return nullptr;
}

Region* StreamCache::detach_idle(int& size_class) noexcept {
  while ((size_class = next_present(size_class)) < kSizeClasses) {
    if (Region* region = idle_region(size_class)) {
      detach(*region);
      return region;
    }
    ++size_class;
  }
  return nullptr;
}

// The end of a stream may move the region to another cache meanwhile.
std::unique_lock<std::mutex> lock_home(const Region& region, StreamCache*& home) {
  for (;;) {
    home = region.cache.load(std::memory_order_acquire);
    std::unique_lock<std::mutex> lock(home->mutex);
    if (region.cache.load(std::memory_order_acquire) == home) return lock;
  }
}

}  // namespace gpumem
