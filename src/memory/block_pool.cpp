#include "memory/block_pool.hpp"

#include <algorithm>
#include <new>
#include <string>
#include <thread>
#include <utility>

#include "base/caller_state.hpp"
#include "base/error.hpp"
#include "base/names.hpp"
#include "base/room.hpp"
#include "base/scope_exit.hpp"

namespace gpumem {
namespace {

void wait_for(const Fences::Fence& fence) noexcept {
  try {
    while (!fence.passed()) std::this_thread::yield();
  } catch (const Error&) {
  }
}

// Without memory for the fence, the caller waits.
void add_fence(BlockUses& uses, const FencePtr& fence) noexcept {
  try {
    uses.fences.push_back(fence);
  } catch (const std::bad_alloc&) {
    wait_for(*fence);
  }
}

}  // namespace

BlockPool::BlockPool(const PoolOwner& owner, std::unique_ptr<BlockSource> source, const PoolPolicy& policy)
    : books_(owner, policy),
      supply_(make_supply(books_, std::move(source))),
      watched_(policy.kind == GPUMEM_MEMORY_DEVICE && owner.device.watched()),
      own_(&open(owner.device.own_stream())) {}

StreamCache& BlockPool::open(NativeStream stream) {
  const std::lock_guard<SpinningLock> growing(books_.growing);
  for (const auto& cache : books_.caches) {
    if (cache->users == 0 || cache->stream != stream || cache.get() == &books_.ready || cache->for_graphs()) continue;
    ++cache->users;
    return *cache;
  }
  return unused_cache(stream);
}

StreamCache& BlockPool::unused_cache(NativeStream stream) {
  StreamCache* unused = nullptr;
  for (const auto& cache : books_.caches) {
    if (cache->users == 0 && !cache->ended) unused = cache.get();
  }
  if (unused == nullptr) unused = books_.caches.emplace_back(std::make_unique<StreamCache>()).get();
  const std::lock_guard<std::mutex> lock(unused->mutex);
  unused->stream = stream;
  unused->users = 1;
  return *unused;
}

StreamCache& BlockPool::open_for_graphs(NativeStream stream) {
  const std::lock_guard<SpinningLock> growing(books_.growing);
  StreamCache& cache = unused_cache(stream);
  cache.hold = GraphHold::kept;
  graphs_.store(true, std::memory_order_relaxed);
  return cache;
}

void BlockPool::share(StreamCache& cache) {
  supply_->share_idle(cache);
  const std::lock_guard<std::mutex> lock(cache.mutex);
  books_.live.add(cache.counts.live_bytes - std::exchange(cache.counted, cache.counts.live_bytes));
  if (!cache.regions.empty()) return;
  cache.hold = GraphHold::none;
  cache.stream = nullptr;
  cache.users = 0;
}

void BlockPool::release_from_graphs(StreamCache& cache) {
  const std::lock_guard<SpinningLock> growing(books_.growing);
  books_.needed -= std::exchange(cache.needed, 0);
  cache.hold = GraphHold::released;
  share(cache);
}

void BlockPool::share_released() {
  const std::lock_guard<SpinningLock> growing(books_.growing);
  for (const auto& cache : books_.caches) {
    if (cache->hold == GraphHold::released) share(*cache);
  }
}

GraphHold BlockPool::hold_of(uintptr_t p) const {
  GraphHold found = GraphHold::none;
  if (!graphs_.load(std::memory_order_relaxed)) return found;
  books_.owner.registry.with_live(p, books_.owner.id, [&found](const Region& region, uint32_t) {
    if (region.cache.load(std::memory_order_acquire) == nullptr) return;
    StreamCache* home = nullptr;
    const auto lock = lock_home(region, home);
    found = home->hold;
  });
  return found;
}

bool BlockPool::in_use_on(NativeStream stream) {
  const auto uses_it = [stream](const auto& entry) {
    const std::vector<NativeStream>& streams = entry.second.streams;
    return std::find(streams.begin(), streams.end(), stream) != streams.end();
  };
  return std::any_of(books_.caches.begin(), books_.caches.end(), [&](const auto& cache) {
    const std::lock_guard<std::mutex> lock(cache->mutex);
    return std::any_of(cache->uses.begin(), cache->uses.end(), uses_it);
  });
}

// An ended stream no longer uses blocks. If its work is not known to be done, a fence at its end does.
void BlockPool::close(StreamCache& cache, bool finished) noexcept {
  const std::lock_guard<SpinningLock> growing(books_.growing);
  if (--cache.users > 0) return;
  NativeStream stream = cache.stream;
  const bool elsewhere = declared_.load(std::memory_order_relaxed);
  const bool used = !cache.regions.empty() || supply_->keeps(cache) || (elsewhere && in_use_on(stream));
  FencePtr end;
  bool known = !used;
  try {
    if (used && !books_.backend.capturing(stream)) {
      if (!finished) end = books_.fences.record(stream);
      known = true;
    }
  } catch (const std::exception&) {
  }
  for (const auto& other : books_.caches) {
    if (!elsewhere) break;
    const std::lock_guard<std::mutex> lock(other->mutex);
    for (auto& [p, uses] : other->uses) {
      if (std::erase(uses.streams, stream) != 0 && end != nullptr) add_fence(uses, end);
    }
  }
  books_.needed -= std::exchange(cache.needed, 0);
  const std::lock_guard<std::mutex> lock(cache.mutex);
  cache.stream = nullptr;
  cache.ended = used;  // otherwise it is empty and the next stream reuses it
  cache.retired = !known;
  cache.end = std::move(end);
}

void* BlockPool::hand_out(StreamCache& cache, Supplied supplied, size_t bytes) noexcept {
  BlockCounts& counts = cache.counts;
  counts.live_bytes += static_cast<int64_t>(bytes);
  ++counts.live_blocks;
  ++counts.allocations;
  ++(supplied.cached ? counts.hits : counts.misses);
  if (counts.live_bytes > cache.counted)
    books_.live.add(counts.live_bytes - std::exchange(cache.counted, counts.live_bytes));
  const Block& block = supplied.block;
  block.region->word(block.slot).store(slot::live(bytes), std::memory_order_release);
  auto* const p = reinterpret_cast<void*>(block.address());
  if (watched_) books_.backend.begin_block(p, bytes);
  return p;
}

// Called before another thread can get the block.
void BlockPool::tell_freed(const Claim& claim, NativeStream stream) noexcept {
  books_.owner.trace.freed(claim.base(), stream);
  if (watched_) books_.backend.end_block(reinterpret_cast<void*>(claim.base()));
}

void BlockPool::count_free(StreamCache& cache, size_t bytes) noexcept {
  constexpr int64_t kSlack = int64_t{1} << 20;
  BlockCounts& counts = cache.counts;
  counts.live_bytes -= static_cast<int64_t>(bytes);
  --counts.live_blocks;
  if (cache.counted - counts.live_bytes <= kSlack || cache.hold == GraphHold::kept) return;  // graphs still use it
  books_.live.add(counts.live_bytes - std::exchange(cache.counted, counts.live_bytes));
}

void* BlockPool::allocate(StreamCache& cache, size_t bytes, size_t alignment) {
  StreamCache& home = pooled() ? cache : books_.ready;
  void* const p = find(home, bytes, alignment);
  books_.owner.trace.allocated(p, bytes, books_.policy.kind, alignment, home.stream);
  return p;
}

void* BlockPool::find(StreamCache& cache, size_t bytes, size_t alignment) {
  const PoolRequest request = supply_->request_for(bytes, alignment);
  if (bytes > kLargestClass || request.size_class >= kSizeClasses) {
    fail(GPUMEM_OUT_OF_MEMORY, "%zu bytes of %s memory exceed the memory of every device and of the host", bytes,
         kind_name(books_.policy.kind));
  }
  {
    const std::lock_guard<std::mutex> lock(cache.mutex);
    if (const auto block = supply_->take(cache, request)) return hand_out(cache, {*block, true}, bytes);
  }
  const ScopeExit tell([this] { tell_damage(); });
  const KeptThreadState kept;
  for (bool again = false;; again = true) {
    try {
      const std::lock_guard<SpinningLock> growing(books_.growing);
      if (again) {
        supply_->release_all();
        books_.released_in_order = false;
      }
      const Supplied supplied = supply_->grow(cache, request);
      const std::lock_guard<std::mutex> lock(cache.mutex);
      return hand_out(cache, supplied, bytes);
    } catch (const Error& error) {
      if (error.status() != GPUMEM_OUT_OF_MEMORY || again || !worth_waiting(bytes)) throw;
    }
    wait_and_release(0);  // by then, memory released in stream order is available
  }
}

bool BlockPool::worth_waiting(size_t bytes) {
  const std::lock_guard<SpinningLock> growing(books_.growing);
  const bool left_over = std::any_of(books_.caches.begin(), books_.caches.end(), [](const auto& cache) {
    const std::lock_guard<std::mutex> lock(cache->mutex);
    return !cache->pending.empty() || (cache->ended && !cache->retired);
  });
  return left_over || supply_->idle_bytes() > 0 ||
         (books_.released_in_order && !books_.over_limit(static_cast<int64_t>(bytes)));
}

std::vector<NativeStream> BlockPool::streams_using(const Claim& claim, const StreamCache& on) {
  std::vector<NativeStream> streams;
  const auto add = [&streams](NativeStream stream) {
    if (std::find(streams.begin(), streams.end(), stream) == streams.end()) streams.push_back(stream);
  };
  StreamCache* home = nullptr;
  const auto lock = lock_home(*claim.region, home);
  add(on.stream);
  if (home->stream == nullptr) add(books_.backend.own_stream());
  const auto uses = home->uses.find(claim.base());
  if (uses != home->uses.end()) {
    for (NativeStream stream : uses->second.streams) add(stream);
  }
  if (home->hold != GraphHold::released) std::erase(streams, home->stream);
  return streams;
}

void BlockPool::free_in_order(const Claim& claim, const StreamCache& on) {
  StreamCache* home = nullptr;
  const Block block{claim.region, claim.slot};
  if ((claim.word & slot::kShared) == 0) {
    auto lock = lock_home(*claim.region, home);
    if (home->stream == on.stream && home->hold != GraphHold::released) {
      books_.owner.labels.forget(claim);
      tell_freed(claim, on.stream);
      home->put(block);
      count_free(*home, claim.bytes());
      if (home->idle_bytes() <= books_.policy.most_idle) return;
      lock.unlock();
      const KeptThreadState kept;
      return shrink();
    }
  }
  const KeptThreadState kept;
  PendingBlock pending{block, {}};
  for (NativeStream stream : streams_using(claim, on)) {
    require_not_capturing(books_.backend, stream, "freeing memory that it uses");
    pending.fences.push_back(books_.fences.record(stream));
  }
  const auto lock = lock_home(*claim.region, home);
  reserve_doubling(home->pending, home->pending.size() + 1);
  const auto ended = home->uses.find(claim.base());
  if (ended != home->uses.end()) {
    const std::vector<FencePtr>& ends = ended->second.fences;
    pending.fences.insert(pending.fences.end(), ends.begin(), ends.end());
    home->uses.erase(ended);
  }
  books_.owner.labels.forget(claim);
  tell_freed(claim, on.stream);
  home->pending.push_back(std::move(pending));
  count_free(*home, claim.bytes());
}

// Ended streams have left a fence. Streams of the context are waited for as well.
void BlockPool::wait_for_uses(const Claim& claim) {
  BlockUses uses;
  {
    StreamCache* home = nullptr;
    const auto lock = lock_home(*claim.region, home);
    const auto found = home->uses.find(claim.base());
    if (found != home->uses.end()) uses = found->second;
  }
  for (NativeStream stream : uses.streams) {
    require_not_capturing(books_.backend, stream, "freeing memory that it uses");
  }
  for (NativeStream stream : uses.streams) books_.backend.synchronize(stream);
  for (const FencePtr& end : uses.fences) end->wait();
}

void BlockPool::tell_damage() noexcept {
  for (const std::string& sentence : supply_->take_sentences()) {
    books_.owner.log.write(GPUMEM_LOG_ERROR, "%s", sentence.c_str());
  }
}

void BlockPool::require_intact(const Claim& claim) {
  Damage found;
  supply_->check(claim, found);
  tell_damage();
  if (found.places > 0) fail(GPUMEM_CORRUPTED, "%s", found.first.c_str());
}

void BlockPool::check(Damage& found) {
  const ScopeExit tell([this] { tell_damage(); });
  supply_->check_all(found);
}

void BlockPool::free_now(const Claim& claim) noexcept {
  bool kept = false;
  bool too_much = false;
  {
    StreamCache* home = nullptr;
    const auto lock = lock_home(*claim.region, home);
    home->uses.erase(claim.base());
    tell_freed(claim, nullptr);
    if (pooled()) books_.owner.labels.forget(claim);
    kept = supply_->put(*home, {claim.region, claim.slot});
    count_free(*home, claim.bytes());
    too_much = home->idle_bytes() > books_.policy.most_idle;
  }
  if (!kept) {
    supply_->give_back(claim);
    tell_damage();
  }
  if (too_much) shrink();
}

void BlockPool::use_on(uintptr_t p, NativeStream stream) {
  declared_.store(true, std::memory_order_relaxed);
  books_.owner.registry.with_live(p, books_.owner.id, [stream](Region& region, uint32_t slot) {
    if (region.registered) return;  // no pool has it, and its end waits for all streams
    StreamCache* home = nullptr;
    const auto lock = lock_home(region, home);
    if (stream == home->stream) return;
    home->add_use(region.address(slot), stream);
    region.word(slot).fetch_or(slot::kShared, std::memory_order_acq_rel);
  });
}

void BlockPool::shrink() noexcept {
  try {
    const std::lock_guard<SpinningLock> growing(books_.growing);
    supply_->release_down_to(books_.policy.most_idle, nullptr);
  } catch (const std::exception&) {
  }
}

// Releases idle memory after a wait for its streams. Memory joined meanwhile may need another wait.
void BlockPool::wait_and_release(int64_t keep_bytes) {
  books_.owner.wait_for_streams();
  for (int round = 0; round < 3; ++round) {
    std::vector<FencePtr> not_passed;
    {
      const std::lock_guard<SpinningLock> growing(books_.growing);
      supply_->release_down_to(keep_bytes, &not_passed);
    }
    for (const FencePtr& fence : not_passed) fence->wait();
    if (not_passed.empty()) return;
  }
}

// The driver returns memory released in stream order only once the stream has passed, so this waits.
void BlockPool::trim(int64_t keep_bytes) {
  {
    const std::lock_guard<SpinningLock> growing(books_.growing);
    supply_->release_down_to(keep_bytes, nullptr);
  }
  wait_and_release(keep_bytes);
  {
    const std::lock_guard<SpinningLock> growing(books_.growing);
    const int64_t live = books_.reserved.now() - supply_->idle_bytes();
    supply_->trim(live + std::min(keep_bytes, INT64_MAX - live));
  }
  tell_damage();
}

PoolState BlockPool::state() const {
  PoolState state;
  const std::lock_guard<SpinningLock> growing(books_.growing);
  for (const auto& cache : books_.caches) {
    const std::lock_guard<std::mutex> lock(cache->mutex);
    const BlockCounts& counts = cache->counts;
    state.counts.live_bytes += counts.live_bytes;
    state.counts.live_blocks += counts.live_blocks;
    state.counts.allocations += counts.allocations;
    state.counts.hits += counts.hits;
    state.counts.misses += counts.misses;
  }
  state.peak_bytes = books_.live.peak();
  state.reserved_bytes = books_.reserved.now();
  state.reserved_peak_bytes = books_.reserved.peak();
  return state;
}

}  // namespace gpumem
