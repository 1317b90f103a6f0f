// Addresses of a pool's own, with memory behind them where blocks lie: chunks of whole granules of the device, mapped when they
// are needed and given back one by one. Blocks follow each other without gaps, and what is free of them joins, so that it serves any size.
// docs/adr/0020-device-memory-comes-in-granules.md says why.
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

// How often memory of any arena was: what is true of mapped memory holds as long as this does not change.
uint64_t times_unmapped() noexcept;

// It has no lock of its own: the pool's, for growing. Free memory belongs to the stream cache in whose order it was freed, and a
// chunk is given back when that stream has passed the last mark before which any of it was freed.
class Arena {
 public:
  // Slabs live long and are small: among larger blocks they would keep those apart.
  enum class Part : bool { slabs, large };

  // nullptr where the backend has no granules, or no addresses for them.
  static std::unique_ptr<Arena> open(Backend& backend);
  ~Arena();  // nothing uses its memory any more
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  struct Request {
    Part part;
    size_t bytes;
    size_t alignment;  // a power of two up to kLargestAlignment
  };

  // Where memory is missing for a request, in whole granules behind what is free, and how much. It holds until memory is mapped or unmapped.
  struct Growth {
    uintptr_t at = 0;
    size_t missing = SIZE_MAX;  // no addresses are left
  };

  // Whether the cache has enough free memory in one piece; and what grow() has to map where it has not.
  bool fits(const StreamCache& cache, const Request& request) const { return best_fit(cache, request) != free_.end(); }
  Growth growth(const StreamCache& cache, const Request& request) const;

  // From the smallest piece that fits; nullptr: none does.
  void* take(const StreamCache& cache, const Request& request);
  // Maps what is missing. Throws OUT_OF_MEMORY, and nothing was mapped.
  void grow(const StreamCache& cache, Growth growth);
  void give_back(const StreamCache& cache, void* p) noexcept;
  // Of memory that was taken from the cache, whether no work from before uses it any more.
  bool passed(const StreamCache& cache, const void* p) const noexcept;

  bool keeps(const StreamCache& cache) const noexcept;
  void absorb(const StreamCache& to, const StreamCache& from) noexcept;  // all that is free
  void absorb_passed(const StreamCache& to) noexcept;                    // what is free of others and they have passed

  // A number for all that was freed so far.
  uint64_t mark() noexcept { return next_mark_++; }
  // Unmaps free chunks that their caches have passed, until at most so many bytes are mapped.
  void unmap_down_to(int64_t most);

  int64_t mapped_bytes() const noexcept { return mapped_; }
  int64_t free_bytes() const noexcept { return mapped_ - used_; }

 private:
  // In the order in which a fit is looked for.
  struct Piece {
    const StreamCache* cache;
    Part part;
    size_t bytes;
    uintptr_t at;
    // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 means the 0 that the compiler compares with
    std::strong_ordering operator<=>(const Piece&) const = default;
  };
  using Pieces = std::set<Piece>;
  // Mapped memory: one block, or free.
  struct Span {
    size_t bytes = 0;
    const StreamCache* cache = nullptr;  // whose it is, or was when it was taken
    bool used = true;
    Pieces::iterator place;   // of what is free
    Pieces::node_type piece;  // while it is in use: a free asks for no memory
  };
  using Spans = std::map<uintptr_t, Span>;
  // Mapped, and unmapped, as a whole.
  struct Chunk {
    size_t bytes;
    uint64_t freed;  // the mark that came after some of it was freed last; 0: it was never used
  };
  using Chunks = std::map<uintptr_t, Chunk>;

  Arena(Backend& backend, uintptr_t base, size_t bytes_of_slabs, size_t bytes);

  Part part_of(uintptr_t p) const noexcept { return p < middle_ ? Part::slabs : Part::large; }
  Pieces::const_iterator best_fit(const StreamCache& cache, const Request& request) const;
  Spans::iterator add_span(uintptr_t at, size_t bytes);
  Spans::iterator split(Spans::iterator span, size_t bytes);
  void set_free(Spans::iterator span, const StreamCache& cache) noexcept;
  void set_used(Spans::iterator span) noexcept;
  bool joins(Spans::const_iterator span, const StreamCache& cache, uintptr_t border) const noexcept;
  Spans::iterator set_free_joined(Spans::iterator span, const StreamCache& cache) noexcept;
  void map(uintptr_t at, size_t bytes);
  void unmap_chunks(uintptr_t from, uintptr_t to) noexcept;
  uint64_t last_freed(const Spans::value_type& span) const noexcept;
  bool unused(const Chunks::value_type& chunk) const;
  void unmap(uintptr_t from, uintptr_t to);

  Backend& backend_;
  const size_t granule_;
  const uintptr_t base_;
  const uintptr_t middle_;
  const uintptr_t end_;
  Spans spans_;
  Pieces free_;
  Chunks chunks_;
  std::map<uintptr_t, size_t> unmapped_;  // whole granules
  uint64_t next_mark_ = 1;
  int64_t mapped_ = 0;
  int64_t used_ = 0;
};

}  // namespace gpumem
