#include "memory/arena.hpp"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <utility>

#include "base/error.hpp"
#include "base/scope_exit.hpp"
#include "memory/stream_cache.hpp"

namespace gpumem {
namespace {

// Addresses, in multiples of the device's memory. Large blocks get more: holes may be too small, and streams separate.
constexpr size_t kForSlabs = 1;
constexpr size_t kForLarge = 16;

// A driver call costs about the same for one page as for many. But one live block keeps its whole chunk.
constexpr size_t kChunksOfARequest = 8;

constinit std::atomic<uint64_t> unmapped{0};

constexpr uintptr_t round_down(uintptr_t value, size_t unit) noexcept { return value / unit * unit; }
constexpr uintptr_t round_up(uintptr_t value, size_t unit) noexcept { return round_down(value + unit - 1, unit); }

}  // namespace

uint64_t times_unmapped() noexcept { return unmapped.load(); }

std::unique_ptr<Arena> Arena::open(Backend& backend) {
  const size_t granule = backend.granule_bytes();
  if (granule == 0) return nullptr;
  const size_t memory = round_up(static_cast<size_t>(backend.props().memory_bytes), granule);
  const size_t bytes = (kForSlabs + kForLarge) * memory;
  const uintptr_t base = backend.reserve_addresses(bytes);
  if (base == 0) return nullptr;
  ScopeExit back([&] { backend.release_addresses(base, bytes); });
  std::unique_ptr<Arena> arena(new Arena(backend, base, kForSlabs * memory, bytes));
  back.release();
  return arena;
}

Arena::Arena(Backend& backend, uintptr_t base, size_t bytes_of_slabs, size_t bytes)
    : backend_(backend),
      granule_(backend.granule_bytes()),
      base_(base),
      middle_(base + bytes_of_slabs),
      end_(base + bytes) {
  unmapped_[base_] = middle_ - base_;
  unmapped_[middle_] = end_ - middle_;
}

Arena::~Arena() {
  try {
    backend_.synchronize_device();  // work on borrowed streams may still use the memory
  } catch (const Error&) {
  }
  unmapped.fetch_add(1);
  uintptr_t at = base_;
  const auto unmap_up_to = [&](uintptr_t end) {
    if (at < end) backend_.unmap(at, end - at);
  };
  for (const auto& [hole, bytes] : unmapped_) {
    unmap_up_to(hole);
    at = hole + bytes;
  }
  unmap_up_to(end_);
  backend_.release_addresses(base_, end_ - base_);
}

Arena::FreeRanges::const_iterator Arena::best_fit(const StreamCache& cache, const Request& request) const {
  for (auto piece = free_.lower_bound({&cache, request.part, request.bytes, 0});
       piece != free_.end() && piece->cache == &cache && piece->part == request.part; ++piece) {
    if (round_up(piece->at, request.alignment) + request.bytes <= piece->at + piece->bytes) return piece;
  }
  return free_.end();
}

// Chooses the place that needs the fewest new pages behind free memory. Ties go to a place behind the stream's own
// memory. A stream with no memory there begins in the middle of the largest hole, so that its memory stays together.
// Both halves must still have room for all of the device's memory.
Arena::Growth Arena::growth(const StreamCache& cache, const Request& request) const {
  Growth best;
  bool best_is_own = false;
  size_t best_room = 0;
  for (const auto& [at, room] : unmapped_) {
    if (part_of(at) != request.part) continue;
    uintptr_t start = at;
    bool own = false;
    const auto behind = spans_.lower_bound(at);
    if (behind != spans_.begin()) {
      const auto& [before, span] = *std::prev(behind);
      own = span.cache == &cache && before + span.bytes == at && part_of(before) == request.part;
      if (own && !span.used) start = before;
    }
    const size_t missing = round_up(round_up(start, request.alignment) + request.bytes, granule_) - at;
    if (missing > room || missing > best.missing) continue;
    if (missing == best.missing && (best_is_own || (!own && room <= best_room))) continue;
    best = {at, missing};
    best_is_own = own;
    best_room = room;
  }
  const size_t half = round_down(best_room / 2, granule_);
  if (!best_is_own && half >= (end_ - base_) / (kForSlabs + kForLarge)) best.at += half;
  return best;
}

Arena::Spans::iterator Arena::add_span(uintptr_t at, size_t bytes) {
  FreeRanges one;
  one.insert(FreeRange{});
  return spans_.emplace(at, Span{bytes, nullptr, true, {}, one.extract(one.begin())}).first;
}

void Arena::set_free(Spans::iterator span, const StreamCache& cache) noexcept {
  auto& [at, of] = *span;
  of.cache = &cache;
  of.used = false;
  of.piece.value() = {&cache, part_of(at), of.bytes, at};
  of.place = free_.insert(std::move(of.piece)).position;
}

void Arena::set_used(Spans::iterator span) noexcept {
  Span& of = span->second;
  of.piece = free_.extract(of.place);
  of.used = true;
}

// Cuts a free span after `bytes`. Returns the rest, which is free too.
Arena::Spans::iterator Arena::split(Spans::iterator span, size_t bytes) {
  const auto rest = add_span(span->first + bytes, span->second.bytes - bytes);
  const StreamCache& cache = *span->second.cache;
  set_used(span);
  span->second.bytes = bytes;
  set_free(span, cache);
  set_free(rest, cache);
  return rest;
}

bool Arena::joins(Spans::const_iterator span, const StreamCache& cache, uintptr_t border) const noexcept {
  return !span->second.used && span->second.cache == &cache && border != middle_;
}

Arena::Spans::iterator Arena::set_free_joined(Spans::iterator span, const StreamCache& cache) noexcept {
  const auto next = std::next(span);
  const uintptr_t end = span->first + span->second.bytes;
  if (next != spans_.end() && next->first == end && joins(next, cache, end)) {
    set_used(next);
    span->second.bytes += next->second.bytes;
    spans_.erase(next);
  }
  if (span != spans_.begin()) {
    const auto before = std::prev(span);
    if (before->first + before->second.bytes == span->first && joins(before, cache, span->first)) {
      set_used(before);
      before->second.bytes += span->second.bytes;
      spans_.erase(span);
      span = before;
    }
  }
  set_free(span, cache);
  return span;
}

void* Arena::take(const StreamCache& cache, const Request& request) {
  const auto fit = best_fit(cache, request);
  if (fit == free_.end()) return nullptr;
  auto span = spans_.find(fit->at);
  const uintptr_t at = round_up(span->first, request.alignment);
  if (at > span->first) span = split(span, at - span->first);
  const size_t rest = span->second.bytes - request.bytes;
  if (rest > 0) split(span, request.bytes);
  set_used(span);
  used_ += static_cast<int64_t>(request.bytes);
  return reinterpret_cast<void*>(at);
}

void Arena::unmap_chunks(uintptr_t from, uintptr_t to) noexcept {
  if (from == to) return;
  unmapped.fetch_add(1);
  backend_.unmap(from, to - from);
  chunks_.erase(chunks_.lower_bound(from), chunks_.lower_bound(to));
}

void Arena::map(uintptr_t at, size_t bytes) {
  const size_t most = std::max(granule_, round_down(bytes / kChunksOfARequest, granule_));
  uintptr_t end = at;
  ScopeExit undo([&] { unmap_chunks(at, end); });
  while (end < at + bytes) {
    const size_t part = std::min(most, at + bytes - end);
    const auto chunk = chunks_.emplace(end, Chunk{part, 0}).first;
    ScopeExit drop([&] { chunks_.erase(chunk); });
    backend_.map(end, part);
    drop.release();
    end += part;
  }
  undo.release();
}

void Arena::grow(const StreamCache& cache, Growth growth) {
  const auto [at, missing] = growth;
  if (missing == SIZE_MAX) fail(GPUMEM_OUT_OF_MEMORY, "no addresses are left for them");
  const auto span = add_span(at, missing);
  ScopeExit back([&] { spans_.erase(span); });
  const auto hole = std::prev(unmapped_.upper_bound(at));
  const uintptr_t end = hole->first + hole->second;
  auto rest = at + missing < end ? unmapped_.emplace(at + missing, end - at - missing).first : unmapped_.end();
  ScopeExit join([&] {
    if (rest != unmapped_.end()) unmapped_.erase(rest);
  });
  map(at, missing);
  join.release();
  back.release();
  hole->second = at - hole->first;
  if (hole->second == 0) unmapped_.erase(hole);
  mapped_ += static_cast<int64_t>(missing);
  set_free_joined(span, cache);
}

void Arena::give_back(const StreamCache& cache, void* p) noexcept {
  const auto span = spans_.find(reinterpret_cast<uintptr_t>(p));
  const uintptr_t end = span->first + span->second.bytes;
  for (auto chunk = chunks_.lower_bound(end); chunk != chunks_.begin();) {
    --chunk;
    chunk->second.freed = next_mark_;
    if (chunk->first <= span->first) break;
  }
  used_ -= static_cast<int64_t>(span->second.bytes);
  set_free_joined(span, cache);
}

bool Arena::keeps(const StreamCache& cache) const noexcept {
  const auto first = free_.lower_bound({&cache, Part::slabs, 0, 0});
  return first != free_.end() && first->cache == &cache;
}

void Arena::absorb(const StreamCache& to, const StreamCache& from) noexcept {
  while (keeps(from)) {
    const auto span = spans_.find(free_.lower_bound({&from, Part::slabs, 0, 0})->at);
    set_used(span);
    set_free_joined(span, to);
  }
}

// Takes the marks of all chunks of the span, so the result may come from a neighbour.
uint64_t Arena::last_freed(const Spans::value_type& span) const noexcept {
  const auto& [at, of] = span;
  uint64_t freed = 0;
  for (auto chunk = chunks_.lower_bound(at + of.bytes); chunk != chunks_.begin();) {
    --chunk;
    freed = std::max(freed, chunk->second.freed);
    if (chunk->first <= at) break;
  }
  return freed;
}

bool Arena::passed(const StreamCache& cache, const void* p) const noexcept {
  return last_freed(*spans_.find(reinterpret_cast<uintptr_t>(p))) <= cache.passed;
}

void Arena::absorb_passed(const StreamCache& to) noexcept {
  for (auto span = spans_.begin(); span != spans_.end(); ++span) {
    const StreamCache* const cache = span->second.cache;
    if (span->second.used || cache == &to || last_freed(*span) > cache->passed) continue;
    set_used(span);
    span = set_free_joined(span, to);
  }
}

bool Arena::unused(const Chunks::value_type& chunk) const {
  const auto& [at, of] = chunk;
  for (auto span = spans_.lower_bound(at + of.bytes);;) {
    const Span& over = (--span)->second;
    if (over.used || of.freed > over.cache->passed) return false;
    if (span->first <= at) return true;
  }
}

// Spans are cut at the borders, and the hole is entered, before anything is unmapped.
void Arena::unmap(uintptr_t from, uintptr_t to) {
  for (const uintptr_t border : {from, to}) {
    const auto span = std::prev(spans_.upper_bound(border));
    if (span->first < border && border < span->first + span->second.bytes) split(span, border - span->first);
  }
  auto hole = unmapped_.emplace(from, to - from).first;
  unmap_chunks(from, to);
  for (auto span = spans_.find(from); span != spans_.end() && span->first < to; span = spans_.erase(span)) {
    set_used(span);
  }
  mapped_ -= static_cast<int64_t>(to - from);
  const auto next = std::next(hole);
  if (next != unmapped_.end() && to == next->first && to != middle_) {
    hole->second += next->second;
    unmapped_.erase(next);
  }
  if (hole == unmapped_.begin() || from == middle_) return;
  const auto before = std::prev(hole);
  if (before->first + before->second != from) return;
  before->second += hole->second;
  unmapped_.erase(hole);
}

// Unmaps the last chunks first, so that mapped memory stays together. One call unmaps adjacent chunks.
void Arena::unmap_down_to(int64_t most) {
  for (auto chunk = chunks_.end(); chunk != chunks_.begin() && mapped_ > most;) {
    if (!unused(*--chunk)) continue;
    uintptr_t from = chunk->first;
    const uintptr_t to = from + chunk->second.bytes;
    while (chunk != chunks_.begin() && mapped_ - static_cast<int64_t>(to - from) > most) {
      const auto& [at, of] = *--chunk;
      if (at + of.bytes != from || !unused(*chunk)) break;
      from = at;
    }
    unmap(from, to);
    chunk = chunks_.lower_bound(from);
  }
}

}  // namespace gpumem
