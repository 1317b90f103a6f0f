#include "memory/mapped_supply.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/error.hpp"
#include "base/scope_exit.hpp"

namespace gpumem {
namespace {

// An event behind finished work passes a few microseconds later, which is sooner than a chunk can be mapped.
constexpr std::chrono::microseconds kUntilEventsPass{50};

// An event costs as much as the rest of a reuse.
constexpr uint64_t kReusesPerFence = 8;

// If many large blocks are idle, they are joined and cut again. A block taken whole would keep its neighbours apart.
bool takes_whole(const StreamCache& cache, const PoolRequest& request) noexcept {
  constexpr size_t kMost = 8;
  return request.size_class <= kLastInSlab || cache.idle_large() <= kMost;
}

// Small blocks lie with the slabs, because they would split the memory of large ones.
Arena::Request in_arena(const PoolRequest& request, size_t bytes) noexcept {
  const bool large = request.size_class > kLastInSlab && bytes >= kLargestSlab;
  return {large ? Arena::Part::large : Arena::Part::slabs, bytes, request.alignment};
}

}  // namespace

MappedSupply::~MappedSupply() {
  for (const auto& cache : books_.caches) {
    for (Region* region : cache->regions) books_.owner.registry.remove(*region);
    cache->regions.clear();
  }
}

// Blocks beyond the slabs are cut to the requested size.
PoolRequest MappedSupply::request_for(size_t bytes, size_t alignment) const noexcept {
  const PoolRequest request = CachedSupply::request_for(bytes, alignment);
  if (request.size_class <= kLastInSlab) return request;
  const size_t exact = std::max((bytes + kLargeUnit - 1) / kLargeUnit * kLargeUnit, kLargestInSlab + kLargeUnit);
  return {bytes, request.alignment, size_class_of(exact), exact};
}

std::optional<Block> MappedSupply::take(StreamCache& cache, const PoolRequest& request) noexcept {
  return takes_whole(cache, request) ? CachedSupply::take(cache, request) : std::nullopt;
}

void* MappedSupply::take_memory(StreamCache& cache, const PoolRequest& request, size_t bytes) {
  const Arena::Request wanted = in_arena(request, bytes);
  if (!arena_->fits(cache, wanted)) map(cache, wanted);
  count_mapped();
  return arena_->take(cache, wanted);
}

// Without memory for further blocks, the request alone may still fit.
void MappedSupply::map(const StreamCache& cache, const Arena::Request& wanted) {
  try {
    return arena_->grow(cache, growth_);
  } catch (const Error& error) {
    const Arena::Growth least = arena_->growth(cache, wanted, Arena::Of::own);
    if (error.status() != GPUMEM_OUT_OF_MEMORY || least.missing >= growth_.missing) throw;
    growth_ = least;
  }
  arena_->grow(cache, growth_);
}

void MappedSupply::give_back_memory(const StreamCache& cache, void* p, size_t) noexcept { arena_->give_back(cache, p); }

// Pages for further small blocks of a stream, so that it calls the driver seldom.
size_t MappedSupply::ahead_of(StreamCache& cache) const {
  constexpr int64_t kMost = int64_t{8} << 20;
  const std::lock_guard<std::mutex> lock(cache.mutex);
  const int64_t ahead = arena_->whole_pages(std::min(cache.counts.live_bytes / 16, kMost));
  return books_.over_limit(ahead) ? 0 : static_cast<size_t>(ahead);
}

int64_t MappedSupply::missing_for(StreamCache& cache, const PoolRequest& request, size_t slots, bool scarce) {
  const Arena::Request wanted = in_arena(request, request.taken_bytes(slots));
  growth_ = arena_->growth(cache, wanted, scarce ? Arena::Of::all : Arena::Of::own);
  if (wanted.part == Arena::Part::slabs) {
    growth_.missing = std::max(growth_.missing, std::min(ahead_of(cache), growth_.room));
  }
  if (books_.reserved.now() / 33 * 32 > target(request)) growth_.chunk = Arena::kSmallChunk;
  return static_cast<int64_t>(std::min<size_t>(growth_.missing, kLargestClass));
}

// Idle memory of other streams returns to the device, and is mapped again from there.
bool MappedSupply::scarce(int64_t bytes, const PoolRequest&) const noexcept { return books_.over_limit(bytes); }

void MappedSupply::release_all() {
  CachedSupply::release_all();
  arena_->absorb_passed(books_.ready);  // free memory between live blocks
}

bool MappedSupply::reuse(StreamCache& cache, const PoolRequest& request) {
  // Near the target (1.1 times the peak of live bytes), so that memory can be released on reaching it.
  if (books_.reserved.now() > target(request) / 12 * 11 && ++cache.reuses % kReusesPerFence == 0) note_passed(cache);
  return attach_free(cache, request);
}

bool MappedSupply::attach_free(StreamCache& cache, const PoolRequest& request) {
  const bool few_idle = [&] {
    const std::lock_guard<std::mutex> lock(cache.mutex);
    cache.settle();
    return cache.idle_bytes() <= kFreely && takes_whole(cache, request);
  }();
  const size_t slots = slots_for(cache, request);
  const Arena::Request wanted = in_arena(request, request.taken_bytes(slots));
  // Whole blocks are found at once by requests of their sizes, but the pieces cut around them fit less and less.
  const bool plenty = few_idle && arena_->free_bytes() >= arena_->mapped_bytes() / 2;
  if (!plenty || !arena_->fits(cache, wanted)) merge_idle(cache, kLastInSlab + 1);
  if (!arena_->fits(cache, wanted)) return false;
  attach_region(cache, request, slots);
  return true;
}

// If the other stream has not passed the free memory, this one waits for it.
bool MappedSupply::adopt_free(StreamCache& cache, StreamCache& from, const PoolRequest& request) {
  merge_idle(from, kLastInSlab + 1);
  const Arena::Request wanted = in_arena(request, request.taken_bytes(slots_for(cache, request)));
  if (!arena_->fits(from, wanted)) return CachedSupply::adopt_free(cache, from, request);
  static_cast<void>(from.passed_fence());
  void* const p = arena_->take(from, wanted);
  ScopeExit back([&] { arena_->give_back(from, p); });
  if (!arena_->passed(from, p)) books_.fences.record(from.stream)->hold(cache.stream);
  back.release();
  arena_->give_back(cache, p);
  return attach_free(cache, request) || CachedSupply::adopt_free(cache, from, request);
}

void MappedSupply::merge_idle(StreamCache& cache, int first_class) {
  const auto next = [&] {
    const std::lock_guard<std::mutex> lock(cache.mutex);
    return cache.detach_idle(first_class);
  };
  while (Region* region = next()) drop(*region, cache);
}

// One fence at a time: later frees wait for the next one.
void MappedSupply::note_passed(StreamCache& cache) {
  if (cache.for_graphs() || !cache.passed_fence() || cache.stream == nullptr || !arena_->keeps(cache)) return;
  cache.fence = books_.fences.record(cache.stream);
  cache.fenced = arena_->mark();
}

// Idle memory of all streams becomes free, and passed if the streams are done with it.
void MappedSupply::free_idle(int first_class) {
  const auto& caches = books_.caches;
  for (const auto& cache : caches) {
    if (!books_.usable(*cache)) continue;
    merge_idle(*cache, first_class);
    note_passed(*cache);
  }
  const auto until = std::chrono::steady_clock::now() + kUntilEventsPass;
  while (!std::all_of(caches.begin(), caches.end(), [](const auto& cache) { return cache->passed_fence(); })) {
    if (std::chrono::steady_clock::now() > until) break;
    std::this_thread::yield();
  }
}

// Idle slabs stay whole. Only large blocks are worth a look at all adjacent pieces, which takes about 30 us.
bool MappedSupply::gather(StreamCache& cache, const PoolRequest& request, size_t slots) {
  const Arena::Request wanted = in_arena(request, request.taken_bytes(slots));
  const auto found = [&] {
    return arena_->gather_piece(cache, wanted) ||
           (wanted.part == Arena::Part::large && arena_->gather_run(cache, wanted));
  };
  if (found()) return true;
  free_idle(request.size_class > kLastInSlab ? kLastInSlab + 1 : kSizeClasses);
  return found();
}

// Memory that streams may still use stays mapped.
int64_t MappedSupply::release_to(int64_t most, std::vector<FencePtr>* not_passed) {
  free_idle(0);
  const auto& caches = books_.caches;
  const int64_t before = arena_->mapped_bytes();
  if (before <= most) return 0;
  arena_->unmap_down_to(most);
  count_mapped();
  if (not_passed != nullptr && arena_->mapped_bytes() > most) {
    for (const auto& cache : caches) {
      if (cache->fence != nullptr) not_passed->push_back(cache->fence);
    }
  }
  return before - arena_->mapped_bytes();
}

}  // namespace gpumem
