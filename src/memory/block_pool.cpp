// Blocks come and go; streams begin and end. How the pool grows and shrinks stands in block_pool_growth.cpp.
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

void raise(std::atomic<int64_t>& peak, int64_t value) noexcept {
  int64_t seen = peak.load(std::memory_order_relaxed);
  while (seen < value && !peak.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
}

void wait_for(const Fences::Fence& fence) noexcept {
  try {
    while (!fence.passed()) std::this_thread::yield();
  } catch (const Error&) {
    // The device's context is lost, and its work with it.
  }
}

// Without memory for it the caller waits.
void add_fence(BlockUses& uses, const FencePtr& fence) noexcept {
  try {
    uses.fences.push_back(fence);
  } catch (const std::bad_alloc&) {
    wait_for(*fence);
  }
}

// A limit of a few granules is better used up by memory in smaller pieces.
bool fits_granules(const PoolPolicy& policy) noexcept {
  constexpr int64_t kLeast = int64_t{32} << 20;
  return policy.pooled && policy.kind == GPUMEM_MEMORY_DEVICE && (policy.limit == 0 || policy.limit >= kLeast);
}

}  // namespace

BlockPool::BlockPool(const PoolOwner& owner, std::unique_ptr<BlockSource> source, const PoolPolicy& policy)
    : owner_(owner),
      backend_(owner.device),
      source_(std::move(source)),
      policy_(policy),
      guards_(policy.guarded ? std::make_unique<BlockGuards>(owner, policy.kind) : nullptr),
      watched_(policy.kind == GPUMEM_MEMORY_DEVICE && backend_.watched()),
      fences_(backend_),
      arena_(fits_granules(policy) ? Arena::open(backend_) : nullptr),
      ready_(caches_.emplace_back(std::make_unique<StreamCache>()).get()) {
  ready_->users = 1;
  ready_->passed = UINT64_MAX;
  own_ = &open(backend_.own_stream());
}

BlockPool::~BlockPool() {
  for (const auto& cache : caches_) {
    for (Region* region : cache->regions) {
      const auto owned = owner_.registry.remove(*region);
      if (arena_ == nullptr) source_->give_back(nullptr, owned->taken, owned->taken_bytes);
    }
  }
  while (const auto alone = owner_.registry.remove_alone(owner_.id, policy_.kind)) {
    source_->give_back(nullptr, alone->taken, alone->taken_bytes);
  }
}

StreamCache& BlockPool::open(NativeStream stream) {
  const std::lock_guard<std::mutex> growing(growing_);
  StreamCache* unused = nullptr;
  for (const auto& cache : caches_) {
    if (cache->users > 0 && cache->stream == stream && cache.get() != ready_) {
      ++cache->users;
      return *cache;
    }
    if (cache->users == 0 && !cache->ended) unused = cache.get();
  }
  if (unused == nullptr) unused = caches_.emplace_back(std::make_unique<StreamCache>()).get();
  const std::lock_guard<std::mutex> lock(unused->mutex);
  unused->stream = stream;
  unused->users = 1;
  return *unused;
}

// A stream that ends is no longer a use of blocks, but its end is where its work is not known to be done.
void BlockPool::close(StreamCache& cache, bool finished) noexcept {
  const std::lock_guard<std::mutex> growing(growing_);
  if (--cache.users > 0) return;
  NativeStream stream = cache.stream;
  const bool elsewhere = declared_.load(std::memory_order_relaxed);
  const bool used = !cache.regions.empty() || (arena_ != nullptr && arena_->keeps(cache)) ||
                    (elsewhere && std::any_of(caches_.begin(), caches_.end(), [&](const auto& other) {
                       const std::lock_guard<std::mutex> lock(other->mutex);
                       return std::any_of(other->uses.begin(), other->uses.end(), [&](const auto& entry) {
                         const std::vector<NativeStream>& streams = entry.second.streams;
                         return std::find(streams.begin(), streams.end(), stream) != streams.end();
                       });
                     }));
  FencePtr end;
  bool known = !used;
  try {
    if (used && !backend_.capturing(stream)) {
      if (!finished) end = fences_.record(stream);
      known = true;
    }
  } catch (const std::exception&) {
    // Nothing tells when its work is done.
  }
  for (const auto& other : caches_) {
    if (!elsewhere) break;
    const std::lock_guard<std::mutex> lock(other->mutex);
    for (auto& [p, uses] : other->uses) {
      if (std::erase(uses.streams, stream) != 0 && end != nullptr) add_fence(uses, end);
    }
  }
  needed_ -= std::exchange(cache.needed, 0);
  const std::lock_guard<std::mutex> lock(cache.mutex);
  cache.stream = nullptr;
  cache.ended = used;  // otherwise nothing is left of it, and the next stream takes its cache
  cache.retired = !known;
  cache.end = std::move(end);
}

void* BlockPool::hand_out(StreamCache& cache, Block block, size_t bytes) noexcept {
  BlockCounts& counts = cache.counts;
  counts.live_bytes += static_cast<int64_t>(bytes);
  ++counts.live_blocks;
  ++counts.allocations;
  if (counts.live_bytes > cache.counted) {
    const int64_t more = counts.live_bytes - cache.counted;
    cache.counted = counts.live_bytes;
    raise(live_peak_, live_.fetch_add(more, std::memory_order_relaxed) + more);
  }
  block.region->word(block.slot).store(slot::live(bytes), std::memory_order_release);
  auto* const p = reinterpret_cast<void*>(block.address());
  if (watched_) backend_.begin_block(p, bytes);
  return p;
}

// Before another can have the block.
void BlockPool::forget(const Claim& claim, NativeStream stream) noexcept {
  owner_.labels.forget(claim);
  tell_freed(claim, stream);
}

void BlockPool::tell_freed(const Claim& claim, NativeStream stream) noexcept {
  owner_.trace.freed(claim.base(), stream);
  if (watched_) backend_.end_block(reinterpret_cast<void*>(claim.base()));
}

void BlockPool::count_free(StreamCache& cache, size_t bytes) noexcept {
  BlockCounts& counts = cache.counts;
  counts.live_bytes -= static_cast<int64_t>(bytes);
  --counts.live_blocks;
  if (cache.counted - counts.live_bytes <= kSlack) return;
  live_.fetch_sub(cache.counted - counts.live_bytes, std::memory_order_relaxed);
  cache.counted = counts.live_bytes;
}

void* BlockPool::allocate(StreamCache& cache, size_t bytes, size_t alignment) {
  const ScopeExit tell([this] { tell_damage(); });  // of what made room
  void* const p = find(cache, bytes, alignment);
  owner_.trace.allocated(p, bytes, policy_.kind, alignment, cache.stream);
  return p;
}

// Blocks beyond the slabs are as large as what was asked for where they can be cut to it, and of their class' size elsewhere.
BlockPool::Request BlockPool::request_for(size_t bytes, size_t alignment) const noexcept {
  const int size_class = alignment <= kBlockUnit ? size_class_of(bytes) : aligned_class_of(bytes, alignment);
  const Request request{bytes, std::max(alignment, kBlockUnit), size_class, size_of_class(size_class)};
  if (arena_ == nullptr || size_class <= kLastInSlab) return request;
  const size_t exact = std::max((bytes + kLargeUnit - 1) / kLargeUnit * kLargeUnit, kLargestInSlab + kLargeUnit);
  return {bytes, request.alignment, size_class_of(exact), exact};
}

// Where many large blocks lie idle they are joined and cut anew, or each block that is taken as it lies would keep its neighbours apart.
bool BlockPool::takes_whole(const StreamCache& cache, const Request& request) const noexcept {
  constexpr size_t kMost = 8;
  return arena_ == nullptr || request.size_class <= kLastInSlab || cache.idle_large() <= kMost;
}

void* BlockPool::find(StreamCache& cache, size_t bytes, size_t alignment) {
  if (bytes > kLargestClass) {
    fail(GPUMEM_OUT_OF_MEMORY, "%zu bytes of %s memory can't be had: nothing has as many", bytes,
         kind_name(policy_.kind));
  }
  const Request request = request_for(bytes, alignment);
  if (policy_.pooled) {
    const std::lock_guard<std::mutex> lock(cache.mutex);
    const auto block = takes_whole(cache, request)
                           ? cache.take(request.size_class, request.block_bytes, request.alignment)
                           : std::nullopt;
    if (block) {
      ++cache.counts.hits;
      return hand_out(cache, *block, bytes);
    }
  }
  const KeptThreadState kept;
  for (bool again = false;; again = true) {
    try {
      const std::lock_guard<std::mutex> growing(growing_);
      if (again) {
        release_down_to(0);
        released_in_order_ = false;
        source_->trim(0);
        if (arena_ != nullptr) arena_->absorb_passed(*ready_);  // what lies beside live blocks
      }
      return policy_.pooled ? grow(cache, request) : allocate_alone(request);
    } catch (const Error& error) {
      if (error.status() != GPUMEM_OUT_OF_MEMORY) throw;
      const std::lock_guard<std::mutex> growing(growing_);
      if (again || !worth_waiting(request)) throw;
    }
    wait_and_release(0);  // what was released behind the streams' work is there then
  }
}

// A stream's end may give the region to another cache meanwhile.
std::unique_lock<std::mutex> BlockPool::lock_home(const Region& region, StreamCache*& home) {
  for (;;) {
    home = region.cache.load(std::memory_order_acquire);
    std::unique_lock<std::mutex> lock(home->mutex);
    if (region.cache.load(std::memory_order_acquire) == home) return lock;
  }
}

// Beside the block's own stream.
std::vector<NativeStream> BlockPool::streams_using(const Claim& claim, const StreamCache& on) {
  std::vector<NativeStream> streams;
  const auto add = [&streams](NativeStream stream) {
    if (std::find(streams.begin(), streams.end(), stream) == streams.end()) streams.push_back(stream);
  };
  StreamCache* home = nullptr;
  const auto lock = lock_home(*claim.region, home);
  add(on.stream);
  if (home->stream == nullptr) add(backend_.own_stream());
  const auto uses = home->uses.find(claim.base());
  if (uses != home->uses.end()) {
    for (NativeStream stream : uses->second.streams) add(stream);
  }
  std::erase(streams, home->stream);
  return streams;
}

void BlockPool::free_in_order(const Claim& claim, const StreamCache& on) {
  StreamCache* home = nullptr;
  const Block block{claim.region, claim.slot};
  if ((claim.word & slot::kShared) == 0) {
    auto lock = lock_home(*claim.region, home);
    if (home->stream == on.stream) {
      forget(claim, on.stream);
      home->put(block);
      count_free(*home, claim.bytes());
      if (home->idle_bytes() <= policy_.most_idle) return;
      lock.unlock();
      const KeptThreadState kept;
      return shrink_to(policy_.most_idle);
    }
  }
  const KeptThreadState kept;
  PendingBlock pending{block, {}};
  for (NativeStream stream : streams_using(claim, on)) {
    require_not_capturing(backend_, stream, "freeing memory that it uses");
    pending.fences.push_back(fences_.record(stream));
  }
  const auto lock = lock_home(*claim.region, home);
  reserve_doubling(home->pending, home->pending.size() + 1);
  const auto ended = home->uses.find(claim.base());
  if (ended != home->uses.end()) {
    const std::vector<FencePtr>& ends = ended->second.fences;
    pending.fences.insert(pending.fences.end(), ends.begin(), ends.end());
    home->uses.erase(ended);
  }
  forget(claim, on.stream);
  home->pending.push_back(std::move(pending));
  count_free(*home, claim.bytes());
}

void BlockPool::reserve(int64_t bytes) noexcept {
  raise(reserved_peak_, reserved_.fetch_add(bytes, std::memory_order_relaxed) + bytes);
}

void BlockPool::give_back(Region& region, const StreamCache& cache) noexcept {
  const auto owned = owner_.registry.remove(region);
  if (arena_ != nullptr) return arena_->give_back(cache, owned->taken);
  source_->give_back(cache.stream, owned->taken, owned->taken_bytes);
  reserve(-static_cast<int64_t>(owned->taken_bytes));
}

// What is put aside keeps its label.
void BlockPool::give_back_aside(size_t keep_bytes) noexcept {
  while (Region* region = guards_ == nullptr ? nullptr : guards_->take_oldest(keep_bytes)) {
    owner_.labels.forget(region->address(0));
    give_back(*region, *ready_);
  }
}

// Streams that ended have left a fence. Those of the context are waited for besides.
void BlockPool::wait_for_uses(const Claim& claim) {
  BlockUses uses;
  {
    const std::lock_guard<std::mutex> lock(ready_->mutex);
    const auto found = ready_->uses.find(claim.base());
    if (found != ready_->uses.end()) uses = found->second;
  }
  for (NativeStream stream : uses.streams) require_not_capturing(backend_, stream, "freeing memory that it uses");
  for (NativeStream stream : uses.streams) backend_.synchronize(stream);
  for (const FencePtr& end : uses.fences) end->wait();
}

void BlockPool::free_alone(const Claim& claim) noexcept {
  const size_t bytes = claim.bytes();
  {
    const std::lock_guard<std::mutex> lock(ready_->mutex);
    ready_->uses.erase(claim.base());
  }
  tell_freed(claim, nullptr);
  if (guards_ == nullptr || !guards_->put_aside(*claim.region)) {
    owner_.labels.forget(claim);
    give_back(*claim.region, *ready_);
  }
  give_back_aside(BlockGuards::kMostAside);
  tell_damage();
  const std::lock_guard<std::mutex> lock(ready_->mutex);
  count_free(*ready_, bytes);
}

void BlockPool::tell_damage() noexcept {
  if (guards_ == nullptr) return;
  for (const std::string& sentence : guards_->take_sentences()) {
    owner_.log.write(GPUMEM_LOG_ERROR, "%s", sentence.c_str());
  }
}

void BlockPool::require_intact(const Claim& claim) {
  if (guards_ == nullptr) return;
  Damage found;
  guards_->check(*claim.region, claim.bytes(), found);
  tell_damage();
  if (found.places > 0) fail(GPUMEM_CORRUPTED, "%s", found.first.c_str());
}

void BlockPool::check(Damage& found) {
  if (guards_ == nullptr) return;
  const ScopeExit tell([this] { tell_damage(); });
  guards_->check_all(found);
}

void BlockPool::free_now(const Claim& claim) noexcept {
  if (claim.region->cache.load(std::memory_order_acquire) == nullptr) return free_alone(claim);
  bool too_much = false;
  {
    StreamCache* home = nullptr;
    const auto lock = lock_home(*claim.region, home);
    home->uses.erase(claim.base());
    forget(claim, nullptr);
    home->put({claim.region, claim.slot});
    count_free(*home, claim.bytes());
    too_much = home->idle_bytes() > policy_.most_idle;
  }
  if (too_much) shrink_to(policy_.most_idle);
}

void BlockPool::use_on(uintptr_t p, NativeStream stream) {
  declared_.store(true, std::memory_order_relaxed);
  owner_.registry.with_live(p, owner_.id, [this, stream](Region& region, uint32_t slot) {
    if (region.cache.load(std::memory_order_acquire) == nullptr) {
      if (region.kind != policy_.kind) return;  // its free waits for all streams
      const std::lock_guard<std::mutex> lock(ready_->mutex);
      ready_->add_use(region.address(slot), stream);
      return;
    }
    StreamCache* home = nullptr;
    const auto lock = lock_home(region, home);
    if (stream == home->stream) return;
    home->add_use(region.address(slot), stream);
    region.word(slot).fetch_or(slot::kShared, std::memory_order_acq_rel);
  });
}

PoolState BlockPool::state() const {
  PoolState state;
  const std::lock_guard<std::mutex> growing(growing_);
  for (const auto& cache : caches_) {
    const std::lock_guard<std::mutex> lock(cache->mutex);
    const BlockCounts& counts = cache->counts;
    state.counts.live_bytes += counts.live_bytes;
    state.counts.live_blocks += counts.live_blocks;
    state.counts.allocations += counts.allocations;
    state.counts.hits += counts.hits;
    state.counts.misses += counts.misses;
  }
  state.peak_bytes = live_peak_.load(std::memory_order_relaxed);
  state.reserved_bytes = reserved_.load(std::memory_order_relaxed);
  state.reserved_peak_bytes = reserved_peak_.load(std::memory_order_relaxed);
  return state;
}

}  // namespace gpumem
