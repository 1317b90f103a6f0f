// Sorts of tiles of up to 2048 keys in shared memory: one sequence, or segments; and merges of them.
// Moves: keys are read twice and the outputs written once. Each merge of a long segment reads and writes its keys and
//        positions.
// Access: contiguous, except for the second read within a tile, and the merges' binary searches.
// Shapes: a sequence of a few tiles; segments of any lengths, best of up to 1024 keys. All segments that begin in a
//         window of 1024 positions are one tile, and are sorted at once. A longer segment is divided into runs of 1024
//         keys, which belong to the windows where they begin. Sorted runs are then merged in pairs.
// H200, f32 with an order of i64: 16,384 segments of 1,024 keys 377 us, which is 1.5 of PyTorch. The ALU is 85 % busy. A
// sequence of 2^14 keys 25 us, which is 2.05 of cub::DeviceRadixSort.
// A tile sorts entries of a segment, a rank and a position. No two are equal, so the sort need not be stable.
#include <bit>
#include <type_traits>

#include "kernels/division.hpp"
#include "kernels/enqueue.cuh"
#include "kernels/limits.hpp"
#include "kernels/search.cuh"
#include "kernels/sort/sort.hpp"
#include "kernels/sort/tiles.hpp"
#include "kernels/words.cuh"

namespace gpumem::kernels {
namespace {

constexpr int kThreads = kSortThreads;
constexpr int kEach = kSortBlock / kThreads;
constexpr unsigned kAll = 0xffffffff;
constexpr int kOfWarp = 32 * kEach;
constexpr int kPlaceBits = std::countr_zero(static_cast<unsigned>(kSortBlock));
constexpr int kMergeThreads = kSortWindow / kEach;
constexpr unsigned kMergeBlocks = 16 * 132;
constexpr int64_t kMostCheckBlocks = 2048;

template <class Word>
struct Tiles {
  SortParams p;
  RankOf<Word> rank;
  SegmentTilesHead* head;  // of segments
  int64_t* first;          // of each window: the first segment that begins there or later
  Word* keys[2];           // of what takes several tiles
  int64_t* positions[2];
};

// In bits: the place of the segment in the tile, the rank, and the place of the key.
template <class Word>
using EntryOf =
    std::conditional_t<sizeof(Word) == 8, Uint128, std::conditional_t<sizeof(Word) == 1, uint32_t, uint64_t>>;

// Threads have kEach neighbours. A gap after each of them spreads the threads over the banks.
__device__ __forceinline__ int slot(int i) { return i + i / kEach; }
constexpr int kSlots = kSortBlock + kSortBlock / kEach;

template <class Entry>
__device__ __forceinline__ void order_pair(Entry& a, Entry& b) {
  const bool exchanges = b < a;
  const Entry low = exchanges ? b : a;
  b = exchanges ? a : b;
  a = low;
}
__device__ __forceinline__ uint32_t from_lane(uint32_t v, int mask) { return __shfl_xor_sync(kAll, v, mask); }
__device__ __forceinline__ uint64_t from_lane(uint64_t v, int mask) {
  return __shfl_xor_sync(kAll, static_cast<unsigned long long>(v), mask);
}
__device__ __forceinline__ Uint128 from_lane(Uint128 v, int mask) {
  return Uint128{from_lane(static_cast<uint64_t>(v >> 64), mask)} << 64 | from_lane(static_cast<uint64_t>(v), mask);
}

// Steps of a bitonic merge: each compares elements at a distance, and the lower ones come first.
template <class Entry>
__device__ __forceinline__ void merge_in_thread(Entry (&e)[kEach], int longest) {
#pragma unroll
  for (int half = kEach / 2; half > 0; half /= 2) {
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
      if (half <= longest && (k & half) == 0) order_pair(e[k], e[k + half]);
    }
  }
}
template <class Entry>
__device__ __forceinline__ void keep(Entry& mine, Entry other, bool lower) {
  if ((other < mine) == lower) mine = other;
}
template <class Entry>
__device__ void sort_warp(Entry (&e)[kEach]) {
  const int lane = static_cast<int>(threadIdx.x % 32);
#pragma unroll
  for (int run = 1; run < kEach; run *= 2) {
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
      if (k < (k ^ (2 * run - 1))) order_pair(e[k], e[k ^ (2 * run - 1)]);
    }
    merge_in_thread(e, run / 2);
  }
#pragma unroll 1
  for (int lanes = 1; lanes < 32; lanes *= 2) {
    const bool lower = (lane & lanes) == 0;
#pragma unroll
    for (int k = 0; k < kEach / 2; ++k) {  // the first half and the second one reversed
      const Entry first = from_lane(e[kEach - 1 - k], 2 * lanes - 1);
      const Entry last = from_lane(e[k], 2 * lanes - 1);
      keep(e[k], first, lower);
      keep(e[kEach - 1 - k], last, lower);
    }
#pragma unroll 1
    for (int half = lanes / 2; half > 0; half /= 2) {
#pragma unroll
      for (int k = 0; k < kEach; ++k) keep(e[k], from_lane(e[k], half), (lane & half) == 0);
    }
    merge_in_thread(e, kEach);
  }
}

// How many of the first `place` elements of a merge come from its first run. before(i, j): whether element i of the
// first run precedes element j of the second one.
template <class Index, class Before>
__device__ __forceinline__ Index first_of_merge(Index place, Index of_first, Index of_second, const Before& before) {
  Index low = place > of_second ? place - of_second : 0;
  Index high = place < of_first ? place : of_first;
  while (low < high) {
    const Index middle = (low + high) / 2;
    if (before(middle, place - 1 - middle)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// The same by a warp.
template <class Before>
__device__ __forceinline__ int64_t first_of_merge_by_warp(int64_t place, int64_t of_first, int64_t of_second,
                                                          const Before& before) {
  return first_by_warp(max(place - of_second, int64_t{0}), min(place, of_first),
                       [&](int64_t at) { return before(at, place - 1 - at); });
}

// The thread's entries of two neighbouring runs, which are merged. All runs have whole warps.
template <class Entry>
__device__ __forceinline__ void merge_runs(const Entry* entries, int run, int all, Entry (&e)[kEach]) {
  const int mine = static_cast<int>(threadIdx.x) * kEach;
  const int base = mine & ~(2 * run - 1);
  const int middle = min(base + run, all);
  const int end = min(base + 2 * run, all);
  int i = base + first_of_merge(mine - base, middle - base, end - middle,
                                [&](int a, int b) { return entries[slot(base + a)] < entries[slot(middle + b)]; });
  int j = middle + mine - i;
  constexpr auto kNone = static_cast<Entry>(~Entry{0});
  Entry first = i < middle ? entries[slot(i)] : kNone;
  Entry second = j < end ? entries[slot(j)] : kNone;
#pragma unroll
  for (Entry& to : e) {
    const bool takes_first = first <= second;
    to = takes_first ? first : second;
    const int next = takes_first ? ++i : ++j;
    const Entry loaded = next < (takes_first ? middle : end) ? entries[slot(next)] : kNone;
    first = takes_first ? loaded : first;
    second = takes_first ? second : loaded;
  }
}

// Sorts the entries of a block, of which there are `n`. In: each warp has 256 neighbours, in any order.
template <class Entry>
__device__ void sort_block_entries(Entry (&e)[kEach], Entry* entries, int n) {
  const int mine = static_cast<int>(threadIdx.x) * kEach;
  const int all = (n + kOfWarp - 1) / kOfWarp * kOfWarp;
  if (mine < all) sort_warp(e);
#pragma unroll 1
  for (int run = kOfWarp;; run *= 2) {
    if (mine < all) {
#pragma unroll
      for (int k = 0; k < kEach; ++k) entries[slot(mine + k)] = e[k];
    }
    __syncthreads();
    if (run >= all) return;
    if (mine < all) merge_runs(entries, run, all, e);
    __syncthreads();
  }
}

// The keys of a block: [first, first + n). Those before short_from and from short_to on are runs of a long segment, or of a
// sequence of several tiles.
struct Tile {
  int64_t first = 0;
  int n = 0;
  int short_from = 0;
  int short_to = kSortBlock;
  int64_t segments[2] = {};  // those that begin here
};
// The run of a segment that begins at a position or later.
struct Run {
  int64_t begin;
  int64_t end;
};
__device__ __forceinline__ Run run_of(int64_t segment, int64_t segment_end, int64_t position) {
  const int64_t runs = ceil_div(position - segment, int64_t{kSortWindow});
  const int64_t begin = min(segment + runs * kSortWindow, segment_end);
  return {begin, min(begin + kSortWindow, segment_end)};
}

template <class Word>
__device__ Tile tile_of(const Tiles<Word>& t, int64_t window) {
  if (!t.p.in_segments()) {
    const int64_t first = window * kSortBlock;
    const bool whole = t.keys[0] == nullptr;
    return {first, static_cast<int>(min(t.p.n - first, int64_t{kSortBlock})), 0, whole ? kSortBlock : 0};
  }
  const int64_t* const offsets = t.p.offsets;
  Tile tile{.segments = {t.first[window], min(t.first[window + 1], t.p.segments)}};
  const auto [from, to] = tile.segments;
  Run run{};  // of a long segment that began earlier
  if (from > 0 && from <= t.p.segments && offsets[from] - offsets[from - 1] > kSortWindow) {
    run = run_of(offsets[from - 1], offsets[from], window * kSortWindow);
  }
  tile.short_from = static_cast<int>(run.end - run.begin);
  if (from >= to) {
    tile.first = run.begin;
    tile.n = tile.short_from;
    return tile;
  }
  tile.first = tile.short_from > 0 ? run.begin : offsets[from];
  const int64_t last = offsets[to - 1];
  int64_t end = offsets[to];
  if (end - last > kSortWindow) {
    tile.short_to = static_cast<int>(last - tile.first);
    end = last + kSortWindow;
  }
  tile.n = static_cast<int>(end - tile.first);
  return tile;
}

// The place of the first key of each key's segment.
template <class Word>
__device__ void find_segments(const Tiles<Word>& t, const Tile& tile, uint16_t* of_key) {
  __shared__ int of_warp[kThreads / 32];
  const int thread = static_cast<int>(threadIdx.x);
  for (int i = thread; i < kSortBlock; i += kThreads) of_key[i] = 0;
  __syncthreads();
  for (int64_t s = tile.segments[0] + thread; s < tile.segments[1]; s += kThreads) {
    const int64_t at = t.p.offsets[s] - tile.first;
    if (at < tile.n) of_key[at] = static_cast<uint16_t>(at);
  }
  __syncthreads();
  int last = 0;
  int here[kEach];
#pragma unroll
  for (int k = 0; k < kEach; ++k) here[k] = last = max(last, static_cast<int>(of_key[thread * kEach + k]));
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) {
    const int other = __shfl_up_sync(kAll, last, static_cast<unsigned>(distance));
    if (thread % 32 >= distance) last = max(last, other);
  }
  if (thread % 32 == 31) of_warp[thread / 32] = last;
  const int of_left = __shfl_up_sync(kAll, last, 1);
  int before = thread % 32 == 0 ? 0 : of_left;
  __syncthreads();
  for (int w = 0; w < thread / 32; ++w) before = max(before, of_warp[w]);
#pragma unroll
  for (int k = 0; k < kEach; ++k) of_key[thread * kEach + k] = static_cast<uint16_t>(max(before, here[k]));
  __syncthreads();
}

template <class Word>
__device__ __forceinline__ void store_output(const SortParams& p, int64_t i, Word key, int64_t position) {
  if (p.sorted != nullptr) static_cast<Word*>(p.sorted)[i] = key;
  if (p.order == nullptr) return;
  if (element_bytes(p.order_type) == 4) {
    static_cast<uint32_t*>(p.order)[i] = static_cast<uint32_t>(position);
  } else {
    static_cast<int64_t*>(p.order)[i] = position;
  }
}

template <class Word>
__global__ void __launch_bounds__(kThreads, resident_blocks(sizeof(Word) == 8 ? 3 : 5, kThreads))
    tiles_kernel(const __grid_constant__ Tiles<Word> t) {
  using Entry = EntryOf<Word>;
  constexpr int kRankBits = 8 * sizeof(Word);
  __shared__ Entry entries[kSlots];
  __shared__ uint16_t of_key[kSortBlock];
  synchronize_and_trigger();
  const int thread = static_cast<int>(threadIdx.x);
  if (t.head != nullptr) {
    const bool bad = t.head->bad != 0;
    if (t.p.status != nullptr && blockIdx.x == 0 && thread == 0) *t.p.status = bad ? GPUMEM_OUT_OF_RANGE : GPUMEM_OK;
    if (bad) return;
  }
  const Tile tile = tile_of(t, blockIdx.x);
  if (tile.n == 0) return;
  const bool several = tile.segments[1] - tile.segments[0] + (tile.short_from > 0 ? 1 : 0) > 1;
  if (several) find_segments(t, tile, of_key);
  const Word* const keys = static_cast<const Word*>(t.p.keys) + tile.first;
  Entry e[kEach];
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    const int i = thread / 32 * kOfWarp + k * 32 + thread % 32;
    e[k] = static_cast<Entry>(~Entry{0});
    if (i >= tile.n) continue;
    const Entry segment = several ? of_key[i] : 0;
    e[k] = (segment << kRankBits | t.rank(keys[i])) << kPlaceBits | static_cast<unsigned>(i);
  }
  sort_block_entries(e, entries, tile.n);
  Word key[kEach];
  int place[kEach];
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    const int i = k * kThreads + thread;
    place[k] = i < tile.n ? static_cast<int>(entries[slot(i)]) & (kSortBlock - 1) : 0;
    key[k] = keys[place[k]];
  }
  __syncthreads();  // the output may be keys
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    const int i = k * kThreads + thread;
    if (i >= tile.n) break;
    const int64_t at = tile.first + i;
    if (i >= tile.short_from && i < tile.short_to) {
      store_output(t.p, at, key[k], tile.first + place[k]);
    } else {
      t.keys[0][at] = key[k];
      if (t.positions[0] != nullptr) t.positions[0][at] = tile.first + place[k];
    }
  }
}

// Checks the offsets, and finds the first segment of each window.
__global__ void __launch_bounds__(kThreads)
    windows_kernel(const int64_t* offsets, int64_t segments, int64_t n, SegmentTilesHead* head, int64_t* first) {
  synchronize_and_trigger();
  const int64_t last = ceil_div(n, int64_t{kSortWindow});
  const int64_t step = int64_t{gridDim.x} * kThreads;
  for (int64_t s = int64_t{blockIdx.x} * kThreads + threadIdx.x; s <= segments; s += step) {
    const int64_t before = s == 0 ? -1 : offsets[s - 1];
    const int64_t here = offsets[s];
    if (here < max(before, int64_t{0}) || here > n) {
      atomicMax(&head->bad, 1);
      continue;
    }
    if (s > 0 && here - before > kSortWindow) {
      atomicMax(&head->longest, static_cast<unsigned long long>(here - before));
    }
    // Those that begin after `before`, up to `here`.
    int64_t window = (max(before, int64_t{-1}) + kSortWindow) / kSortWindow;
    for (; window <= last && window * kSortWindow <= here; ++window) first[window] = s;
    if (s < segments) continue;
    for (; window <= last; ++window) first[window] = segments + 1;
  }
}

// The elements of a block's merge, and where each result comes from.
template <class Word>
struct MergeTile {
  Word keys[kSortWindow];
  int64_t positions[kSortWindow];
  uint16_t source[kSortWindow];
  int64_t from_first[2];  // of the results before the tile, and before its end
};

// The results of a run, where pairs of `length` sorted keys of its segment are merged. It begins in this window or
// later.
template <class Word>
__device__ void merge_run(const Tiles<Word>& t, MergeTile<Word>& tile, int from, int64_t length, int64_t begin,
                          int64_t end, int64_t window) {
  if (end - begin <= kSortWindow || end - begin <= length) return;  // short, or merged before
  const Run run = run_of(begin, end, max(window * kSortWindow, begin));
  const auto n = static_cast<int>(run.end - run.begin);
  if (n == 0) return;
  const int64_t lowest = begin + (run.begin - begin) / (2 * length) * (2 * length);
  const int64_t middle = min(lowest + length, end);
  const int64_t highest = min(lowest + 2 * length, end);
  const Word* const keys = t.keys[from];
  const int thread = static_cast<int>(threadIdx.x);
  if (thread < 64) {
    const int64_t place = (thread < 32 ? run.begin : run.end) - lowest;
    tile.from_first[thread / 32] = first_of_merge_by_warp(
        place, middle - lowest, highest - middle,
        [&](int64_t i, int64_t j) { return t.rank(keys[lowest + i]) <= t.rank(keys[middle + j]); });
  }
  __syncthreads();
  const int64_t first = lowest + tile.from_first[0];
  const int64_t second = middle + (run.begin - first);
  const auto of_first = static_cast<int>(tile.from_first[1] - tile.from_first[0]);
  for (int i = thread; i < n; i += kMergeThreads) {
    const int64_t at = i < of_first ? first + i : second + (i - of_first);
    tile.keys[i] = keys[at];
    if (t.positions[from] != nullptr) tile.positions[i] = t.positions[from][at];
  }
  __syncthreads();
  const int mine = min(thread * kEach, n);
  int i = first_of_merge(mine, of_first, n - of_first,
                         [&](int a, int b) { return t.rank(tile.keys[a]) <= t.rank(tile.keys[of_first + b]); });
  int j = of_first + mine - i;
  for (int k = mine; k < min(mine + kEach, n); ++k) {
    const bool takes_first = i < of_first && (j >= n || t.rank(tile.keys[i]) <= t.rank(tile.keys[j]));
    tile.source[k] = static_cast<uint16_t>(takes_first ? i++ : j++);
  }
  __syncthreads();
  const bool completes = end - begin <= 2 * length;
  for (int k = thread; k < n; k += kMergeThreads) {
    const int source = tile.source[k];
    if (completes) {
      store_output(t.p, run.begin + k, tile.keys[source], tile.positions[source]);
    } else {
      t.keys[1 - from][run.begin + k] = tile.keys[source];
      if (t.positions[from] != nullptr) t.positions[1 - from][run.begin + k] = tile.positions[source];
    }
  }
  __syncthreads();
}

template <class Word>
__global__ void __launch_bounds__(kMergeThreads)
    merge_kernel(const __grid_constant__ Tiles<Word> t, int from, int64_t length) {
  __shared__ MergeTile<Word> tile;
  synchronize_and_trigger();
  if (t.head != nullptr && (t.head->bad != 0 || t.head->longest <= static_cast<unsigned long long>(length))) return;
  const int64_t windows = ceil_div(t.p.n, int64_t{kSortWindow});
  const int64_t* const offsets = t.p.offsets;
  for (int64_t window = blockIdx.x; window < windows; window += gridDim.x) {
    if (!t.p.in_segments()) {
      merge_run(t, tile, from, length, 0, t.p.n, window);
      continue;
    }
    const int64_t begins = t.first[window];
    const int64_t later = min(t.first[window + 1], t.p.segments);
    if (begins > 0 && begins <= t.p.segments) {
      merge_run(t, tile, from, length, offsets[begins - 1], offsets[begins], window);
    }
    if (later > begins) merge_run(t, tile, from, length, offsets[later - 1], offsets[later], window);
  }
}

// Of pairs of runs of `length` sorted keys, until one run is left.
template <class Word>
cudaError_t merge(const Tiles<Word>& t, int64_t length, const Launch& launch) {
  const auto blocks = min(static_cast<unsigned>(ceil_div(t.p.n, int64_t{kSortWindow})), kMergeBlocks);
  cudaError_t error = cudaSuccess;
  for (int from = 0; length < t.p.n && error == cudaSuccess; length *= 2, from = 1 - from) {
    error = enqueue_programmatic(merge_kernel<Word>, blocks, kMergeThreads, launch, t, from, length);
  }
  return error;
}

template <class Word>
Tiles<Word> tiles_of(const SortParams& p, const Config& config, const Launch& launch) {
  const auto scratch = config.own.get<SegmentTilesScratch>();
  char* const workspace = static_cast<char*>(launch.workspace);
  Tiles<Word> t{p, rank_of_keys<Word>(p.dtype, p.descending != 0), nullptr, nullptr, {}, {}};
  for (int k = 0; k < 2; ++k) {
    if (scratch.keys[k] >= 0) t.keys[k] = reinterpret_cast<Word*>(workspace + scratch.keys[k]);
    if (scratch.positions[k] >= 0) t.positions[k] = reinterpret_cast<int64_t*>(workspace + scratch.positions[k]);
  }
  if (!p.in_segments()) return t;
  t.head = static_cast<SegmentTilesHead*>(launch.workspace);
  t.first = reinterpret_cast<int64_t*>(workspace + scratch.first);
  return t;
}

template <class Word>
cudaError_t sort_segment_tiles(const SortParams& p, const Config& config, const Launch& launch) {
  const Tiles<Word> t = tiles_of<Word>(p, config, launch);
  auto error = static_cast<cudaError_t>(set_bytes(t.head, sizeof *t.head, 0, launch));
  if (error == cudaSuccess) {
    const int64_t blocks = min(p.segments / kThreads + 1, kMostCheckBlocks);
    error = enqueue_programmatic(windows_kernel, static_cast<unsigned>(blocks), kThreads, launch, p.offsets, p.segments,
                                 p.n, t.head, t.first);
  }
  if (error == cudaSuccess) {
    error = enqueue_programmatic(tiles_kernel<Word>, static_cast<unsigned>(config.grid), kThreads, launch, t);
  }
  return error == cudaSuccess ? merge(t, kSortWindow, launch) : error;
}

}  // namespace

LaunchResult sort_tiles(const SortParams& params, const Config& config, const Launch& launch) {
  return for_word(params.dtype, [&]<class Word>() {
    const Tiles<Word> t = tiles_of<Word>(params, config, launch);
    const cudaError_t error =
        enqueue_programmatic(tiles_kernel<Word>, static_cast<unsigned>(config.grid), kThreads, launch, t);
    return error == cudaSuccess ? merge(t, int64_t{kSortBlock}, launch) : error;
  });
}

LaunchResult sort_segment_tiles(const SortParams& params, const Config& config, const Launch& launch) {
  return for_word(params.dtype, [&]<class Word>() { return sort_segment_tiles<Word>(params, config, launch); });
}

LaunchResult sort_tiles_preload() { return preload(tiles_kernel<uint32_t>); }

}  // namespace gpumem::kernels
