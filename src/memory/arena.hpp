// Address ranges of a pool, with memory mapped in chunks of whole 2 MiB pages as blocks need it. Blocks are adjacent
// and free memory joins, so it serves any size (docs/adr/0020-device-memory-comes-in-granules.md).
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <set>

#include "backend/backend.hpp"

namespace gpumem {

struct StreamCache;

// Counts unmap operations of all arenas. Cached facts about mapped memory are valid while it is unchanged.
uint64_t times_unmapped() noexcept;

// Guarded by the pool's lock for growing. A chunk can be unmapped once its streams have passed the marks of its frees.
class Arena {
 public:
  // Slabs and blocks smaller than a page would split the space between larger blocks.
  enum class Part : bool { slabs, large };

  // nullptr if the backend has no paged memory, or no addresses are left.
  static std::unique_ptr<Arena> open(Backend& backend);
  ~Arena();  // nothing uses its memory any more
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  struct Request {
    Part part;
    size_t bytes;
    size_t alignment;  // a power of two up to kLargestAlignment
  };

  // Bytes that are mapped at once, of requests up to eight times as large. The small chunks are easier to unmap.
  static constexpr size_t kChunk = size_t{128} << 20;
  static constexpr size_t kSmallChunk = size_t{32} << 20;

  // Free memory of the cache, or also what other streams freed and have passed.
  enum class Of : bool { own, all };

  // The place to map for a request between free memory, and the missing bytes, in whole pages. Valid until memory is
  // taken, freed, mapped or unmapped.
  struct Growth {
    uintptr_t from = 0;  // free memory in front of it
    uintptr_t at = 0;
    size_t missing = SIZE_MAX;  // no addresses are left
    uintptr_t end = 0;          // of the free memory needed behind it
    size_t room = 0;            // for mappings at this place
    size_t chunk = kChunk;
  };

  // Whether the cache has enough free memory in one piece; if not, growth() says where to map.
  bool fits(const StreamCache& cache, const Request& request) const { return best_fit(cache, request) != free_.end(); }
  Growth growth(const StreamCache& cache, const Request& request, Of of) const;

  // From the smallest piece that fits; nullptr if none does.
  void* take(const StreamCache& cache, const Request& request);
  // Throws OUT_OF_MEMORY, with nothing mapped.
  void grow(const StreamCache& cache, const Growth& growth);
  void give_back(const StreamCache& cache, void* p) noexcept;
  // Gives the cache enough free memory, which other streams may have freed and passed: of one piece, or of adjacent
  // pieces after a look at all of them.
  bool gather_piece(const StreamCache& cache, const Request& request);
  bool gather_run(const StreamCache& cache, const Request& request);
  // Whether all earlier work on this memory, taken from the cache, is done.
  bool passed(const StreamCache& cache, const void* p) const noexcept;

  bool keeps(const StreamCache& cache) const noexcept;
  void absorb(const StreamCache& to, const StreamCache& from) noexcept;
  void absorb_passed(const StreamCache& to) noexcept;  // free memory of others, if passed

  uint64_t mark() noexcept { return next_mark_++; }
  // Unmaps free chunks that their caches have passed, until at most `most` bytes are mapped.
  void unmap_down_to(int64_t most);

  int64_t whole_pages(int64_t bytes) const noexcept { return bytes - bytes % static_cast<int64_t>(granule_); }
  int64_t mapped_bytes() const noexcept { return mapped_; }
  int64_t free_bytes() const noexcept { return mapped_ - used_; }

 private:
  // Ordered as best_fit() searches.
  struct FreeRange {
    const StreamCache* cache;
    Part part;
    size_t bytes;
    uintptr_t at;
    // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 means the 0 that the compiler compares with
    std::strong_ordering operator<=>(const FreeRange&) const = default;
  };
  using FreeRanges = std::set<FreeRange>;
  struct Span {
    size_t bytes = 0;
    const StreamCache* cache = nullptr;  // the owner, or the last owner while in use
    bool used = true;
    uint64_t freed = 0;  // the mark after its last free; 0: never used
    FreeRanges::iterator place;
    FreeRanges::node_type piece;  // kept while in use, so that a free allocates nothing
  };
  using Spans = std::map<uintptr_t, Span>;
  using Pieces = std::map<uintptr_t, size_t>;  // bytes by address

  Arena(Backend& backend, uintptr_t base, size_t bytes_of_slabs, size_t bytes);

  Part part_of(uintptr_t p) const noexcept { return p < middle_ ? Part::slabs : Part::large; }
  static bool fits_in(const FreeRange& piece, const Request& request) noexcept;
  FreeRanges::const_iterator best_fit(const StreamCache& cache, const Request& request) const;
  Spans::iterator add_span(uintptr_t at, size_t bytes);
  Spans::iterator split(Spans::iterator span, size_t bytes);
  void set_free(Spans::iterator span, const StreamCache& cache) noexcept;
  void set_used(Spans::iterator span) noexcept;
  bool joins(Spans::const_iterator span, const StreamCache& cache, uintptr_t border) const noexcept;
  Spans::iterator set_free_joined(Spans::iterator span, const StreamCache& cache) noexcept;
  bool available(const Spans::value_type& span, const StreamCache& cache, Of of) const noexcept;
  uintptr_t run_before(uintptr_t at, const StreamCache& cache, Of of) const noexcept;
  uintptr_t run_behind(uintptr_t at, const StreamCache& cache, Of of) const noexcept;
  void claim(uintptr_t from, uintptr_t to, const StreamCache& cache);
  void join_hole(Pieces::iterator hole) noexcept;
  void map(uintptr_t at, const Growth& growth);
  void unmap_chunks(uintptr_t from, uintptr_t to) noexcept;
  bool unused(const Pieces::value_type& chunk) const;
  void unmap(uintptr_t from, uintptr_t to);

  Backend& backend_;
  const size_t granule_;
  const uintptr_t base_;
  const uintptr_t middle_;
  const uintptr_t end_;
  Spans spans_;
  FreeRanges free_;
  Pieces chunks_;  // mapped and unmapped as a whole
  Pieces unmapped_;
  uint64_t next_mark_ = 1;
  int64_t mapped_ = 0;
  int64_t used_ = 0;
};

}  // namespace gpumem
