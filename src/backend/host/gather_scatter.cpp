// Gathers and scatters on the host. The index is read twice: all of it is checked before anything is written, and then
// it is read with the rows. A row is read and written once. If a scatter names a row more than once, several threads
// may write it; the bytes that remain are unspecified.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "backend/host/host_backend.hpp"
#include "backend/host/parallel.hpp"
#include "base/checked.hpp"

namespace gpumem {
namespace {

constexpr int64_t kCheckTile = int64_t{1} << 16;  // elements of the index per task
constexpr int64_t kLine = 64;

// Whether an element is at least limit, in a form that compilers vectorize. SSE2 does not compare 64-bit numbers, but
// limit is below 2^63, so signs show a bad one.
template <class Index>
bool any_bad(const Index* index, int64_t first, int64_t last, uint64_t limit) noexcept {
  if constexpr (sizeof(Index) == 4) {
    if (limit > UINT32_MAX) return false;
    Index bad = 0;
    for (int64_t i = first; i < last; ++i) bad |= index[i] >= static_cast<Index>(limit) ? UINT32_MAX : 0;
    return bad != 0;
  } else {
    Index signs = 0;
    for (int64_t i = first; i < last; ++i) signs |= index[i] | (limit - 1 - index[i]);
    return static_cast<int64_t>(signs) < 0;
  }
}

// The position of the first element in index[first .. last) that is at least limit, or last.
template <class Index>
int64_t first_bad(const Index* index, int64_t first, int64_t last, uint64_t limit) noexcept {
  constexpr int64_t kBlock = 512;
  for (int64_t at = first; at < last; at += kBlock) {
    const int64_t end = std::min(at + kBlock, last);
    if (!any_bad(index, at, end, limit)) continue;
    while (index[at] < limit) ++at;
    return at;
  }
  return last;
}

template <class Index>
BadIndex check(const HostTeam& team, int64_t tile, const GatherScatterParams& a, uint64_t limit) noexcept {
  const auto* index = static_cast<const Index*>(a.index);
  std::atomic<int64_t> found{a.n};
  team.parallel(ceil_div(a.n, tile), [&](int64_t task) {
    const int64_t first = task * tile;
    int64_t seen = found.load(std::memory_order_relaxed);
    const int64_t bad = first < seen ? first_bad(index, first, std::min(first + tile, a.n), limit) : a.n;
    if (bad == std::min(first + tile, a.n)) return;
    while (bad < seen && !found.compare_exchange_weak(seen, bad, std::memory_order_relaxed)) {
    }
  });
  const int64_t at = found.load(std::memory_order_relaxed);
  return at < a.n ? BadIndex{at, index[at]} : BadIndex{};
}

template <bool kNamed, class Index>
int64_t row_of(const Index* index, int64_t i) noexcept {
  return kNamed ? static_cast<int64_t>(index[i]) : i;
}

// Hardware prefetchers cannot predict indexed rows, so the first lines of coming rows are prefetched here. The hardware
// continues from there.
template <bool kGathers>
void prefetch_row(const char* row, int64_t bytes) noexcept {
  constexpr int64_t kMost = 4 * kLine;
  for (int64_t at = 0; at < std::min(bytes, kMost); at += kLine) __builtin_prefetch(row + at, kGathers ? 0 : 1);
}

// A separate function, which a suppression of the thread sanitizer names (tests/support/sanitizer_options.cpp).
[[gnu::always_inline]] inline void scatter_row(char* dst, const char* src, int64_t bytes) noexcept {
  std::memcpy(dst, src, static_cast<size_t>(bytes));
}

template <bool kGathers>
void copy_row(char* dst, const char* src, int64_t bytes) noexcept {
  if constexpr (kGathers) {
    std::memcpy(dst, src, static_cast<size_t>(bytes));
  } else {
    scatter_row(dst, src, bytes);
  }
}

constexpr int64_t kAheadBytes = 2048;
constexpr int64_t kMostRowsAhead = 16;

// kBytes: the length of a row if it is a common short one; else 0.
template <bool kGathers, class Index, int64_t kBytes>
void move_rows_of_task(const GatherScatterParams& a, int64_t first, int64_t last) noexcept {
  const auto* index = static_cast<const Index*>(a.index);
  const auto* src = static_cast<const char*>(a.src);
  auto* dst = static_cast<char*>(a.dst);
  const int64_t bytes = kBytes > 0 ? kBytes : a.row_bytes;
  const int64_t ahead = std::clamp<int64_t>(kAheadBytes / bytes, 1, kMostRowsAhead);
  const char* named = kGathers ? src : dst;
  const int64_t named_pitch = kGathers ? a.src_pitch : a.dst_pitch;
  const auto move = [&](int64_t i) {
    copy_row<kGathers>(dst + row_of<!kGathers>(index, i) * a.dst_pitch, src + row_of<kGathers>(index, i) * a.src_pitch,
                       bytes);
  };
  int64_t i = first;
  for (; i < last - ahead; ++i) {
    prefetch_row<kGathers>(named + static_cast<int64_t>(index[i + ahead]) * named_pitch, bytes);
    move(i);
  }
  for (; i < last; ++i) move(i);
}

// Up to 16 bytes per row: a processor has many of them in flight without prefetches.
template <bool kGathers, class Index, int64_t kBytes>
void move_short_rows(const GatherScatterParams& a, int64_t first, int64_t last) noexcept {
  const auto* index = static_cast<const Index*>(a.index);
  const auto* src = static_cast<const char*>(a.src);
  auto* dst = static_cast<char*>(a.dst);
  const auto move = [=](auto src_pitch, auto dst_pitch) {
    for (int64_t i = first; i < last; ++i) {
      copy_row<kGathers>(dst + row_of<!kGathers>(index, i) * dst_pitch, src + row_of<kGathers>(index, i) * src_pitch,
                         kBytes);
    }
  };
  constexpr std::integral_constant<int64_t, kBytes> kPacked;
  a.src_pitch == kBytes&& a.dst_pitch == kBytes ? move(kPacked, kPacked) : move(a.src_pitch, a.dst_pitch);
}

using Move = void (*)(const GatherScatterParams&, int64_t, int64_t);

template <bool kGathers, class Index>
Move move_of(int64_t row_bytes) noexcept {
  Move found = move_rows_of_task<kGathers, Index, 0>;
  [&]<int64_t... kShort>(std::integer_sequence<int64_t, kShort...>) {
    static_cast<void>(((row_bytes == kShort && (found = move_short_rows<kGathers, Index, kShort>, true)) || ...));
  }
  (std::integer_sequence<int64_t, 1, 2, 4, 8, 12, 16>{});
  [&]<int64_t... kUsual>(std::integer_sequence<int64_t, kUsual...>) {
    static_cast<void>(((row_bytes == kUsual && (found = move_rows_of_task<kGathers, Index, kUsual>, true)) || ...));
  }
  (std::integer_sequence<int64_t, 32, 64>{});
  return found;
}

template <bool kGathers, class Index>
void move_pieces(const HostTeam& team, const GatherScatterParams& a, int64_t pieces) noexcept {
  const auto* index = static_cast<const Index*>(a.index);
  const int64_t bytes = ceil_div(ceil_div(a.row_bytes, pieces), kLine) * kLine;
  team.parallel(a.n * pieces, [&](int64_t task) {
    const int64_t i = task / pieces;
    const int64_t first = std::min(task % pieces * bytes, a.row_bytes);
    const int64_t last = std::min(first + bytes, a.row_bytes);
    copy_row<kGathers>(static_cast<char*>(a.dst) + row_of<!kGathers>(index, i) * a.dst_pitch + first,
                       static_cast<const char*>(a.src) + row_of<kGathers>(index, i) * a.src_pitch + first,
                       last - first);
  });
}

template <bool kGathers, class Index>
BadIndex check_and_move(const HostTeam& team, HostWay way, const GatherScatterParams& a,
                        const Config& config) noexcept {
  const uint64_t limit = a.limit(kGathers ? a.src_rows : a.dst_rows);
  const BadIndex bad = check<Index>(team, way.serial ? a.n : kCheckTile, a, limit);
  if (a.status != nullptr) *a.status = bad.at < 0 ? GPUMEM_OK : GPUMEM_OUT_OF_RANGE;
  if (bad.at >= 0) return bad;
  if (config.grid > a.n) {
    move_pieces<kGathers, Index>(team, a, config.grid / a.n);
    return bad;
  }
  const Move move = move_of<kGathers, Index>(a.row_bytes);
  const int64_t tile = config.tile;
  team.parallel(ceil_div(a.n, tile), [&](int64_t task) { move(a, task * tile, std::min((task + 1) * tile, a.n)); });
  return bad;
}

}  // namespace

BadIndex HostBackend::gather_scatter(NativeStream stream, NamedRows named, const GatherScatterParams& params,
                                     const Configured<GatherScatterParams>& planned, Completion completion) {
  const HostWay way = planned.implementation->execute.host;
  const bool gathers = named == NamedRows::of_src;
  const auto narrow = gathers ? check_and_move<true, uint32_t> : check_and_move<false, uint32_t>;
  const auto wide = gathers ? check_and_move<true, uint64_t> : check_and_move<false, uint64_t>;
  const auto run = element_bytes(params.index_type) == 4 ? narrow : wide;
  BadIndex bad;
  if (completion == Completion::blocking) {
    submit(stream, completion, [&] { bad = run(team_, way, params, planned.config); });
  } else {
    submit(stream, completion, [run, way, params, config = planned.config, this] { run(team_, way, params, config); });
  }
  return bad;
}

}  // namespace gpumem
