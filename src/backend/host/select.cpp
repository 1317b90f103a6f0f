// Selections on the host. Each task counts the rows that its part of the mask keeps, and then moves them to their place.
// Moves: the mask twice (once with a single task), and each kept row once.
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "backend/host/implementations.hpp"
#include "backend/host/parallel.hpp"
#include "base/checked.hpp"

namespace gpumem::host {
namespace {

constexpr int64_t kBits = 64;   // rows at a time
constexpr int64_t kDense = 48;  // of them; from so many on, runs of kept rows are long

// Bit i: whether mask[i] is not 0, for 64 rows.
#if defined(__SSE2__)
uint64_t bits_of(const uint8_t* mask) noexcept {
  uint64_t zeros = 0;
  for (int i = 0; i < 4; ++i) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(mask) + i);
    const int equal = _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_setzero_si128()));
    zeros |= static_cast<uint64_t>(equal) << (16 * i);
  }
  return ~zeros;
}
#else
uint64_t bits_of(const uint8_t* mask) noexcept {
  constexpr uint64_t kLow = 0x7f7f7f7f7f7f7f7f;
  uint64_t bits = 0;
  for (int i = 0; i < 8; ++i) {
    uint64_t word;
    std::memcpy(&word, mask + 8 * i, sizeof word);
    const uint64_t kept = (((word & kLow) + kLow) | word) & ~kLow;
    bits |= ((kept >> 7) * 0x0102040810204080 >> 56) << (8 * i);  // the product collects the lowest bits of the bytes
  }
  return bits;
}
#endif

uint64_t kept_bits(const uint8_t* mask, int64_t n) noexcept {
  if (n >= kBits) return bits_of(mask);
  uint8_t last[kBits] = {};
  std::memcpy(last, mask, static_cast<size_t>(n));
  return bits_of(last);
}

int64_t count(const uint8_t* mask, int64_t n) noexcept {
  constexpr int64_t kBlock = 224;  // fits the sum of one byte
  int64_t total = 0;
  for (int64_t at = 0; at < n; at += kBlock) {
    uint8_t kept = 0;
    for (int64_t i = at; i < std::min(at + kBlock, n); ++i) kept = static_cast<uint8_t>(kept + (mask[i] != 0 ? 1 : 0));
    total += kept;
  }
  return total;
}

// Calls row(k, i) or run(k, i, rows) for the kept rows from i on in [first, last), which go to k and the rows after it.
// Leaves rows out for which dst has no room. Returns how many rows are kept.
template <class Row, class Run>
int64_t walk(const SelectParams& p, int64_t first, int64_t last, int64_t k, const Row& row, const Run& run) noexcept {
  int64_t found = 0;
  for (int64_t at = first; at < last; at += kBits) {
    if (k == p.dst_rows) return found + count(p.mask + at, last - at);
    uint64_t bits = kept_bits(p.mask + at, std::min(kBits, last - at));
    int64_t kept = std::popcount(bits);
    found += kept;
    for (; kept > p.dst_rows - k; --kept) bits &= ~std::bit_floor(bits);
    if (kept < kDense) {
      for (; bits != 0; bits &= bits - 1) row(k++, at + std::countr_zero(bits));
      continue;
    }
    for (int i = 0; bits != 0;) {
      const int gap = std::countr_zero(bits);
      const int rows = std::countr_one(bits >> gap);
      run(k, at + i + gap, rows);
      k += rows;
      i += gap + rows;
      bits = bits >> gap >> (rows - 1) >> 1;  // together up to 64
    }
  }
  return found;
}

// Moves bytes [from, to) of each row. kBytes: the length of a row if it is a common short one; else 0.
template <int64_t kBytes>
int64_t move_rows(const SelectParams& p, int64_t first, int64_t last, int64_t k, int64_t from, int64_t to) noexcept {
  const auto* src = static_cast<const char*>(p.src) + from;
  auto* dst = static_cast<char*>(p.dst) + from;
  const auto bytes = static_cast<size_t>(kBytes > 0 ? kBytes : to - from);
  const auto move = [&](int64_t at, int64_t i) { std::memcpy(dst + at * p.dst_pitch, src + i * p.src_pitch, bytes); };
  const bool tight = p.src_pitch == to - from && p.dst_pitch == to - from;
  return walk(p, first, last, k, move, [&](int64_t at, int64_t i, int rows) {
    if (tight) {
      std::memcpy(dst + at * p.dst_pitch, src + i * p.src_pitch, static_cast<size_t>(rows) * bytes);
    } else {
      for (int r = 0; r < rows; ++r) move(at + r, i + r);
    }
  });
}

template <class Number>
int64_t write_places(const SelectParams& p, int64_t first, int64_t last, int64_t k, int64_t, int64_t) noexcept {
  auto* const dst = static_cast<Number*>(p.dst);
  const auto put = [dst](int64_t at, int64_t i) { dst[at] = static_cast<Number>(i); };
  return walk(p, first, last, k, put, [&](int64_t at, int64_t i, int rows) {
    for (int r = 0; r < rows; ++r) put(at + r, i + r);
  });
}

using Mover = int64_t (*)(const SelectParams& p, int64_t first, int64_t last, int64_t k, int64_t from, int64_t to);
Mover mover_of(const SelectParams& p) noexcept {
  if (p.places) return p.row_bytes == 4 ? write_places<uint32_t> : write_places<uint64_t>;
  Mover found = move_rows<0>;
  [&]<int64_t... kSizes>(std::integer_sequence<int64_t, kSizes...>) {
    static_cast<void>(((p.row_bytes == kSizes && (found = move_rows<kSizes>, true)) || ...));
  }
  (std::integer_sequence<int64_t, 1, 2, 4, 8, 12, 16, 32, 64>{});
  return found;
}

}  // namespace

// config.tile: rows of the mask per task. More tasks than tiles: each takes a piece of every row of its tile.
void select_parallel(const HostTeam& team, const SelectParams& p, const Config& config, char* workspace) {
  const Mover move = mover_of(p);
  if (config.grid == 1) {
    *p.kept = move(p, 0, p.n, 0, 0, p.row_bytes);
    return;
  }
  const int64_t tiles = ceil_div(p.n, config.tile);
  const auto last_of = [&](int64_t tile) { return std::min((tile + 1) * config.tile, p.n); };
  auto* const before = reinterpret_cast<int64_t*>(workspace);
  team.parallel(tiles, [&](int64_t tile) {
    before[tile] = count(p.mask + tile * config.tile, last_of(tile) - tile * config.tile);
  });
  int64_t total = 0;
  for (int64_t tile = 0; tile < tiles; ++tile) total += std::exchange(before[tile], total);
  *p.kept = total;
  const int64_t pieces = config.grid / tiles;
  const int64_t bytes = pieces == 1 ? p.row_bytes : ceil_div(ceil_div(p.row_bytes, pieces), 64) * 64;
  team.parallel(p.dst_rows == 0 ? 0 : config.grid, [&](int64_t task) {
    const int64_t tile = task / pieces;
    const int64_t from = std::min(task % pieces * bytes, p.row_bytes);
    move(p, tile * config.tile, last_of(tile), std::min(before[tile], p.dst_rows), from,
         std::min(from + bytes, p.row_bytes));
  });
}

// The definition only.
void select_serial(const HostTeam&, const SelectParams& p, const Config&, char*) {
  int64_t kept = 0;
  for (int64_t i = 0; i < p.n; ++i) {
    if (p.mask[i] == 0) continue;
    const int64_t k = kept++;
    if (k >= p.dst_rows) continue;
    const void* const row = p.places ? static_cast<const void*>(&i) : static_cast<const char*>(p.src) + i * p.src_pitch;
    std::memcpy(static_cast<char*>(p.dst) + k * p.dst_pitch, row, static_cast<size_t>(p.row_bytes));
  }
  *p.kept = kept;
}

}  // namespace gpumem::host
