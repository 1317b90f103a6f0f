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
constexpr size_t kForSlabs = 4;
constexpr size_t kForLarge = 16;

// A driver call costs about the same for one page as for many. But one live block keeps its whole chunk.
// So a few pages, which could lie below two blocks, are a chunk each.
constexpr size_t kChunksOfARequest = 8;
constexpr size_t kFewPages = 2;

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

bool Arena::fits_in(const FreeRange& piece, const Request& request) noexcept {
  return round_up(piece.at, request.alignment) + request.bytes <= piece.at + piece.bytes;
}

Arena::FreeRanges::const_iterator Arena::best_fit(const StreamCache& cache, const Request& request) const {
  for (auto piece = free_.lower_bound({&cache, request.part, request.bytes, 0});
       piece != free_.end() && piece->cache == &cache && piece->part == request.part; ++piece) {
    if (fits_in(*piece, request)) return piece;
  }
  return free_.end();
}

bool Arena::available(const Spans::value_type& span, const StreamCache& cache, Of of) const noexcept {
  const StreamCache* const owner = span.second.cache;
  if (span.second.used) return false;
  return owner == &cache || (of == Of::all && span.second.freed <= owner->passed);
}

// The start of the available memory that ends at `at`, where a hole begins.
uintptr_t Arena::run_before(uintptr_t at, const StreamCache& cache, Of of) const noexcept {
  uintptr_t start = at;
  for (auto span = spans_.lower_bound(at); start != middle_ && span != spans_.begin();) {
    --span;
    if (span->first + span->second.bytes != start || !available(*span, cache, of)) break;
    start = span->first;
  }
  return start;
}

// The end of the available memory that starts at `at`.
uintptr_t Arena::run_behind(uintptr_t at, const StreamCache& cache, Of of) const noexcept {
  uintptr_t end = at;
  for (auto span = spans_.find(at); span != spans_.end() && span->first == end; ++span) {
    if (part_of(end) != part_of(at) || !available(*span, cache, of)) break;
    end += span->second.bytes;
  }
  return end;
}

// Chooses the place that needs the fewest new pages between free memory. Ties go to a place behind the stream's own
// memory. A stream with no memory there begins in the middle of the largest hole, so that its memory stays together.
// Both halves must still have room for all of the device's memory.
Arena::Growth Arena::growth(const StreamCache& cache, const Request& request, Of of) const {
  Growth best;
  bool best_is_own = false;
  for (const auto& [at, room] : unmapped_) {
    if (part_of(at) != request.part) continue;
    const auto next = spans_.lower_bound(at);
    const auto before = next == spans_.begin() ? spans_.end() : std::prev(next);
    const bool own = at != middle_ && before != spans_.end() && before->second.cache == &cache &&
                     before->first + before->second.bytes == at;
    const uintptr_t start = run_before(at, cache, of);
    const uintptr_t end = round_up(start, request.alignment) + request.bytes;
    const uintptr_t hole_end = at + room;
    const size_t missing = end > at ? std::min(round_up(end, granule_) - at, room) : granule_;
    if (missing > best.missing || (end > hole_end && run_behind(hole_end, cache, of) < end)) continue;
    if (missing == best.missing && (best_is_own || (!own && room <= best.room))) continue;
    best = {start, at, missing, std::max(end, at + missing), room};
    best_is_own = own;
  }
  const size_t half = round_down(best.room / 2, granule_);
  if (!best_is_own && best.from == best.at && half >= (end_ - base_) / (kForSlabs + kForLarge)) {
    best.at += half;
    best = {best.at, best.at, best.missing, best.at + best.missing, best.room - half};
  }
  return best;
}

Arena::Spans::iterator Arena::add_span(uintptr_t at, size_t bytes) {
  FreeRanges one;
  one.insert(FreeRange{});
  return spans_.emplace(at, Span{bytes, nullptr, true, 0, {}, one.extract(one.begin())}).first;
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
  rest->second.freed = span->second.freed;
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
    span->second.freed = std::max(span->second.freed, next->second.freed);
    spans_.erase(next);
  }
  if (span != spans_.begin()) {
    const auto before = std::prev(span);
    if (before->first + before->second.bytes == span->first && joins(before, cache, span->first)) {
      set_used(before);
      before->second.bytes += span->second.bytes;
      before->second.freed = std::max(before->second.freed, span->second.freed);
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

// Free memory from `from` to `to` becomes the cache's.
void Arena::claim(uintptr_t from, uintptr_t to, const StreamCache& cache) {
  for (auto span = spans_.lower_bound(from); span != spans_.end() && span->first < to; ++span) {
    if (span->second.cache == &cache) continue;
    if (span->first + span->second.bytes > to) split(span, to - span->first);
    set_used(span);
    span = set_free_joined(span, cache);
  }
}

// The smallest piece that a cache has and its stream has passed.
bool Arena::gather_piece(const StreamCache& cache, const Request& request) {
  FreeRange best{nullptr, request.part, SIZE_MAX, 0};
  const auto last_of = [](const StreamCache* owner) { return FreeRange{owner, Part::large, SIZE_MAX, UINTPTR_MAX}; };
  for (auto any = free_.begin(); any != free_.end(); any = free_.upper_bound(last_of(any->cache))) {
    const StreamCache& owner = *any->cache;
    for (auto piece = best_fit(owner, request); piece != free_.end() && piece->bytes < best.bytes; ++piece) {
      if (piece->cache != &owner || piece->part != request.part) break;
      if (!fits_in(*piece, request) || !available(*spans_.find(piece->at), cache, Of::all)) continue;
      best = *piece;
      break;
    }
  }
  if (best.cache == nullptr) return false;
  claim(best.at, round_up(best.at, request.alignment) + request.bytes, cache);
  return true;
}

// The smallest run of adjacent pieces.
bool Arena::gather_run(const StreamCache& cache, const Request& request) {
  uintptr_t from = 0;
  uintptr_t to = 0;
  size_t least = SIZE_MAX;
  const bool slabs = request.part == Part::slabs;
  auto span = spans_.lower_bound(slabs ? base_ : middle_);
  const auto last = slabs ? spans_.lower_bound(middle_) : spans_.end();
  while (span != last) {
    const uintptr_t start = span->first;
    uintptr_t end = start;
    for (; span != last && span->first == end && available(*span, cache, Of::all); ++span) {
      end += span->second.bytes;
    }
    const uintptr_t needed = round_up(start, request.alignment) + request.bytes;
    if (needed <= end && end - start < least) {
      from = start;
      to = needed;
      least = end - start;
    }
    if (end == start) ++span;
  }
  claim(from, to, cache);
  return from < to;
}

void Arena::unmap_chunks(uintptr_t from, uintptr_t to) noexcept {
  if (from == to) return;
  unmapped.fetch_add(1);
  backend_.unmap(from, to - from);
  chunks_.erase(chunks_.lower_bound(from), chunks_.lower_bound(to));
}

void Arena::map(uintptr_t at, const Growth& growth) {
  const uintptr_t to = at + growth.missing;
  const bool few_pages = part_of(at) == Part::large && growth.missing <= kFewPages * granule_;
  const size_t most =
      few_pages ? granule_ : std::max(growth.chunk, round_up(growth.missing / kChunksOfARequest, granule_));
  uintptr_t end = at;
  ScopeExit undo([&] { unmap_chunks(at, end); });
  while (end < to) {
    const auto chunk = chunks_.emplace(end, std::min(most, to - end)).first;
    ScopeExit drop([&] { chunks_.erase(chunk); });
    backend_.map(end, chunk->second);
    drop.release();
    end += chunk->second;
  }
  undo.release();
}

// Joins a hole with its neighbours.
void Arena::join_hole(Pieces::iterator hole) noexcept {
  const uintptr_t from = hole->first;
  const auto next = std::next(hole);
  if (const uintptr_t to = from + hole->second; next != unmapped_.end() && to == next->first && to != middle_) {
    hole->second += next->second;
    unmapped_.erase(next);
  }
  if (hole == unmapped_.begin() || from == middle_) return;
  const auto before = std::prev(hole);
  if (before->first + before->second != from) return;
  before->second += hole->second;
  unmapped_.erase(hole);
}

void Arena::grow(const StreamCache& cache, const Growth& growth) {
  const uintptr_t at = growth.at;
  if (growth.missing == SIZE_MAX) fail(GPUMEM_OUT_OF_MEMORY, "no addresses are left for them");
  claim(growth.from, growth.end, cache);
  const auto span = add_span(at, growth.missing);
  ScopeExit back([&] { spans_.erase(span); });
  const auto hole = std::prev(unmapped_.upper_bound(at));
  const uintptr_t end = hole->first + hole->second;
  const uintptr_t to = at + growth.missing;
  const auto rest = to < end ? unmapped_.emplace(to, end - to).first : unmapped_.end();
  ScopeExit join([&] {
    if (rest != unmapped_.end()) unmapped_.erase(rest);
  });
  map(at, growth);
  join.release();
  back.release();
  hole->second = at - hole->first;
  if (hole->second == 0) unmapped_.erase(hole);
  mapped_ += static_cast<int64_t>(growth.missing);
  set_free_joined(span, cache);
}

void Arena::give_back(const StreamCache& cache, void* p) noexcept {
  const auto span = spans_.find(reinterpret_cast<uintptr_t>(p));
  span->second.freed = next_mark_;
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

bool Arena::passed(const StreamCache& cache, const void* p) const noexcept {
  return spans_.find(reinterpret_cast<uintptr_t>(p))->second.freed <= cache.passed;
}

void Arena::absorb_passed(const StreamCache& to) noexcept {
  for (auto span = spans_.begin(); span != spans_.end(); ++span) {
    const StreamCache* const cache = span->second.cache;
    if (span->second.used || cache == &to || span->second.freed > cache->passed) continue;
    set_used(span);
    span = set_free_joined(span, to);
  }
}

bool Arena::unused(const Pieces::value_type& chunk) const {
  const auto& [at, bytes] = chunk;
  for (auto span = spans_.lower_bound(at + bytes);;) {
    const Span& over = (--span)->second;
    if (over.used || over.freed > over.cache->passed) return false;
    if (span->first <= at) return true;
  }
}

// Spans are cut at the borders, and the hole is entered, before anything is unmapped.
void Arena::unmap(uintptr_t from, uintptr_t to) {
  for (const uintptr_t border : {from, to}) {
    const auto span = std::prev(spans_.upper_bound(border));
    if (span->first < border && border < span->first + span->second.bytes) split(span, border - span->first);
  }
  const auto hole = unmapped_.emplace(from, to - from).first;
  unmap_chunks(from, to);
  for (auto span = spans_.find(from); span != spans_.end() && span->first < to; span = spans_.erase(span)) {
    set_used(span);
  }
  mapped_ -= static_cast<int64_t>(to - from);
  join_hole(hole);
}

// Unmaps the last chunks first, so that mapped memory stays together. One call unmaps adjacent chunks.
void Arena::unmap_down_to(int64_t most) {
  for (auto chunk = chunks_.end(); chunk != chunks_.begin() && mapped_ > most;) {
    if (!unused(*--chunk)) continue;
    uintptr_t from = chunk->first;
    const uintptr_t to = from + chunk->second;
    while (chunk != chunks_.begin() && mapped_ - static_cast<int64_t>(to - from) > most) {
      const auto& [at, bytes] = *--chunk;
      if (at + bytes != from || !unused(*chunk)) break;
      from = at;
    }
    unmap(from, to);
    chunk = chunks_.lower_bound(from);
  }
}

}  // namespace gpumem
