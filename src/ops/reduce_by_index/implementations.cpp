// Implementations of reductions by index.
#include <algorithm>
#include <bit>

#include "backend/host/implementations.hpp"
#include "kernels/alignment.hpp"
#include "kernels/reduce/launch.hpp"
#include "kernels/reduce_by_index/rows.hpp"
#include "ops/sort/radix_scratch.hpp"
#include "select/variants.hpp"

namespace gpumem {
namespace {

constexpr int64_t kTableBudget = int64_t{160} << 10;  // of shared memory for the copies of a table
constexpr int64_t kMostCopies = 32;                   // one per lane
// Each multiprocessor adds its table to the bins in memory, and should have so many elements for each of them.
constexpr int64_t kElementsOfBin = 4;

const char* accepts_tables(const DeviceProps& d, const ReduceByIndexParams& p) noexcept {
  if (!p.any_order()) return "it is for counts, and for sums and extremes of integers of up to 32 bits";
  if (!aligned(p.x, element_bytes(p.dtype))) return "it needs aligned elements";
  if (p.values() > d.shared_bytes_per_block / table_bin_bytes(p)) return "it needs bins that fit shared memory";
  return p.elements() / d.multiprocessors >= kElementsOfBin * p.values() ? nullptr : "it needs more elements per bin";
}
Config tables_config(const DeviceProps& d, const ReduceByIndexParams& p) noexcept {
  const int64_t table = p.values() * table_bin_bytes(p);
  const int64_t room = std::min(kTableBudget, d.shared_bytes_per_block) / table;
  const int64_t wanted = std::min(p.elements() / d.multiprocessors / (kElementsOfBin * p.values()), kMostCopies);
  const auto copies =
      static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(std::max<int64_t>(std::min(room, wanted), 1))));
  Config config{std::clamp<int64_t>(ceil_div(p.elements(), kTableTile), 1, d.multiprocessors), kTableThreads,
                static_cast<int32_t>(copies), kTableTile, table * copies};
  config.workspace_bytes = int64_t{sizeof(ByIndexHead)} + 8 * p.values();
  config.own.set(static_cast<int32_t>(d.shared_bytes_per_block));
  return config;
}

const char* accepts_atomics(const DeviceProps&, const ReduceByIndexParams& p) noexcept {
  if (!p.any_order()) return "it is for counts, and for sums and extremes of integers of up to 32 bits";
  return aligned(p.x, element_bytes(p.dtype)) ? nullptr : "it needs aligned elements";
}
Config atomics_config(const DeviceProps&, const ReduceByIndexParams& p) noexcept {
  Config config = grid_of(p.elements(), kByIndexTile, kByIndexThreads, kByIndexEach);
  config.workspace_bytes = int64_t{sizeof(ByIndexHead)} + 8 * p.values();
  return config;
}

const char* accepts_elements(const DeviceProps&, const ReduceByIndexParams& p) noexcept {
  return p.x != nullptr ? nullptr : "it is for elements, not for counts";
}

ReduceSegmentsParams segments_of(const ReduceByIndexParams& p) noexcept {
  return {.dtype = p.dtype, .op = p.op, .n = p.elements(), .segments = p.values()};
}

// Sorts the rows by bins.
ByIndexSort sort_of(const DeviceProps& d, const ReduceByIndexParams& p, bool packs, ScratchLayout& layout) noexcept {
  const int64_t key = key_bytes(p.bins);
  const int64_t element = packed_bytes(p);
  ByIndexSort sort{};
  sort.keys = layout.take(key * p.n);
  sort.sorted_keys = layout.take(key * p.n);
  sort.packed = packs ? layout.take(element * p.n) : -1;
  sort.sorted = layout.take(element * p.n);
  sort.cub_bytes = radix_sort_counters(d, p.n, key) + (packs ? 0 : p.n * (key + element));
  sort.cub = layout.take(sort.cub_bytes);
  return sort;
}

const char* accepts_float_sums(const ReduceByIndexParams& p) noexcept {
  if (p.x == nullptr || p.op != GPUMEM_SUM || !is_floating(p.dtype)) return "it is for floating-point sums";
  return aligned(p.x, element_bytes(p.dtype)) ? nullptr : "it needs aligned elements";
}

const char* accepts_few(const DeviceProps&, const ReduceByIndexParams& p) noexcept {
  if (p.n > kWarpPerBinElements) return "it needs at most 16384 elements";
  if (p.values() > INT32_MAX) return "it needs fewer than 2^31 values";
  return accepts_float_sums(p);
}
// H200, f32, in CUDA graphs, compared with buckets: 4,096 elements in 4,096 bins 12 us and 16, 8,192 in 8,192 36 and 16.
// Compared with sorted: 1,000 in 1,000 5 and 18. Rows of 16 f32, compared with sorted_rows: 1,000 in one bin 15 and 23,
// 4,096 in one 56 and 27.
const char* deprioritized_for_sorts(const DeviceProps&, const ReduceByIndexParams& p) noexcept {
  constexpr int64_t kOfBin = 16;
  constexpr int64_t kMostValues = 8192;
  const bool few = p.of_vector() ? p.n <= 4096 : p.n <= 2048 || p.n / kOfBin <= p.bins;
  return few && p.values() <= kMostValues ? nullptr : "it is for few elements, with few of them in a bin";
}
Config warp_per_bin_config(const DeviceProps&, const ReduceByIndexParams& p) noexcept {
  Config config{ceil_div(p.values(), int64_t{kWarpPerBinWarps}), kWarpPerBinWarps * 32, 1, kWarpPerBinWarps};
  config.fixed_grid = true;
  return config;
}

constexpr const char* kFewerThan31Bits = "it needs fewer than 2^31 elements and bins";
const char* accepts_vector(const DeviceProps&, const ReduceByIndexParams& p) noexcept {
  return p.of_vector() ? nullptr : "it is for vectors, not for rows";
}

const char* accepts_block_per_bin(const DeviceProps& d, const ReduceByIndexParams& p) noexcept {
  if (const char* const refusal = accepts_vector(d, p); refusal != nullptr) return refusal;
  constexpr int64_t kMostBins = 640;  // four for each multiprocessor of the largest device
  if (p.bins > kMostBins) return "it needs at most 640 bins";
  if (p.n > INT32_MAX) return kFewerThan31Bits;
  return accepts_float_sums(p);
}
// A multiprocessor has one block at a time, which takes 2 us for 8192 numbers. H200, f32, us by block_per_bin, and by
// the best of the others: 1,000 in 100 bins 4.0 and 5.5, in 200 7.5 and 4.9; 4,096 in 100 4.0 and 14, in 400 14.4 and
// 14.9; 16,384 in 132 6.1 and 27, in 400 22 and 28; 65,536 in 132 17 and 31, in 200 34 and 30.
const char* deprioritized_for_warps(const DeviceProps& d, const ReduceByIndexParams& p) noexcept {
  constexpr int64_t kMostRounds = 4;
  constexpr int64_t kMostTiles = 8;
  constexpr int64_t kShort = 2048;
  const int64_t rounds = ceil_div(p.bins, d.multiprocessors);
  const bool few_bins = rounds == 1 || (p.n > kShort && rounds <= kMostRounds);
  return few_bins && rounds * ceil_div(p.n, kBinTile) <= kMostTiles ? nullptr : "it is for few elements in few bins";
}
Config block_per_bin_config(const DeviceProps&, const ReduceByIndexParams& p) noexcept {
  Config config{p.bins, kBinThreads, 1, 1};
  config.fixed_grid = true;
  return config;
}

// H200, f32, us by buckets and by sorted: 2^16 in 2^16 19 and 49, in 2^12 36 and 44; 2^20 in 2^20 66 and 137, in 2^17
// 62 and 88, in 2^16 80 and 66; 2^21 in 2^20 120 and 160. With an earlier form of huge_kernel: half of 2^20 elements in
// 100 of 2^19 bins 396 and 468, the fourth power of even numbers 394 and 241, all in one bin 480 and 107 (atomics 1,846).
const char* accepts_buckets(const DeviceProps& d, const ReduceByIndexParams& p) noexcept {
  if (const char* const refusal = accepts_vector(d, p); refusal != nullptr) return refusal;
  if (p.n > INT32_MAX || p.bins > INT32_MAX) return kFewerThan31Bits;
  return accepts_float_sums(p);
}
const char* deprioritized_for_sorted(const DeviceProps&, const ReduceByIndexParams& p) noexcept {
  const int64_t of_bin = p.n <= int64_t{1} << 18 ? 16 : p.n <= int64_t{1} << 21 ? 8 : 0;
  return p.n <= of_bin * p.bins ? nullptr : "it is for up to 2^21 elements, with few of them in a bin";
}
Config buckets_config(const DeviceProps& d, const ReduceByIndexParams& p) noexcept {
  constexpr int64_t kWord = 4;
  Config scan;
  ScanParams offsets{.dtype = GPUMEM_U32, .exclusive = 1, .n = p.bins};
  offsets.result_type = GPUMEM_U32;
  implementation<ScanFamily>("look_back").plan(d, offsets, scan);
  ScratchLayout layout;
  layout.take(sizeof(ByIndexHead));
  ByIndexBuckets at{};
  at.counts = layout.take(kWord * p.bins);
  at.numbers = layout.take(kWord * p.n);
  at.offsets = layout.take(kWord * p.bins);
  at.places = layout.take(kWord * p.n);
  at.many = layout.take(kWord * (p.n / kFewOfBin));
  at.huge = layout.take(kWord * (p.n / kFewOfBin));
  at.scan = layout.take(scan.workspace_bytes);
  at.scan_bytes = scan.workspace_bytes;
  at.scan_grid = scan.grid;
  Config config = grid_of(p.n, kByIndexTile, kByIndexThreads, kByIndexEach);
  config.fixed_grid = true;
  config.reduce_scratch = scan.reduce_scratch;
  config.workspace_bytes = layout.end();
  config.own.set(at);
  return config;
}

const char* accepts_float_rows(const DeviceProps&, const ReduceByIndexParams& p) noexcept {
  if (p.of_vector()) return "it is for rows";
  return p.n < int64_t{1} << 32 ? accepts_float_sums(p) : "it needs fewer than 2^32 rows";
}
// H200, 2^16 rows of 1 column: 47 us in 2^14 bins (sorted: 65), 111 us in 2^8 (37). 2^20 rows of 16 in 100 bins: 111 us
// (240).
const char* deprioritized_for_segments(const DeviceProps&, const ReduceByIndexParams& p) noexcept {
  return p.values() < int64_t{1} << 14 && p.n / 1024 < p.bins ? "it is for many values, or bins of many rows" : nullptr;
}
Config float_rows_config(const DeviceProps& d, const ReduceByIndexParams& p) noexcept {
  ScratchLayout layout;
  layout.take(sizeof(ByIndexHead));
  ByIndexSort sort = sort_of(d, p, true, layout);
  sort.columns = -1;
  sort.offsets = layout.take(8 * (p.bins + 1));
  sort.blocks = layout.take(most_row_blocks(p.n) * static_cast<int64_t>(sizeof(RowBlock)));
  sort.nodes = layout.take(most_row_blocks(p.n) * p.cols * 8);
  Config config = grid_of(p.n, kByIndexTile, kByIndexThreads, kByIndexEach);
  config.workspace_bytes = layout.end();
  config.own.set(sort);
  return config;
}

Config sorted_config(const DeviceProps& d, const ReduceByIndexParams& p) noexcept {
  Config segments;
  implementation<ReduceSegmentsFamily>("warp_segments").plan(d, segments_of(p), segments);
  const int64_t element = packed_bytes(p);
  const bool packs = !p.of_vector() || element != element_bytes(p.dtype) || !aligned(p.x, element);
  ScratchLayout layout;
  layout.take(sizeof(ByIndexHead));
  const int64_t counters = layout.take(kernels::kScratchCounters * 4);
  const int64_t nodes = layout.take(kScratchNodeBytes);
  ByIndexSort sort = sort_of(d, p, packs, layout);
  sort.counters = counters;
  sort.nodes = nodes;
  sort.values = layout.take(int64_t{8} * value_words(p.op) * p.values());
  sort.offsets = layout.take(8 * (p.values() + 1));
  sort.columns = p.of_vector() ? -1 : layout.take(element_bytes(p.dtype) * p.elements());
  sort.segments_grid = segments.grid;
  sort.segments_tile = segments.tile;
  sort.segments_block = segments.block;
  sort.lines = segments.own.get<LineConfig>();
  Config config = grid_of(p.n, kByIndexTile, kByIndexThreads, kByIndexEach);
  config.workspace_bytes = layout.end();
  config.own.set(sort);
  return config;
}

const char* accepts_host_tables(const DeviceProps&, const ReduceByIndexParams& p) noexcept {
  return p.any_order() ? nullptr : "it is for counts, and for sums and extremes of integers of up to 32 bits";
}
// Tasks of so many elements that their tables cost little. tile: rows per task, as in the next two.
Config host_tables_config(const DeviceProps& d, const ReduceByIndexParams& p) noexcept {
  constexpr int64_t kLeast = int64_t{1} << 15;
  const int64_t tasks = std::clamp<int64_t>(p.elements() / std::max(4 * p.values(), kLeast), 1, d.multiprocessors);
  Config config{tasks, 1, 1, ceil_div(p.n, tasks)};
  config.workspace_bytes = 8 * p.values() * tasks;
  return config;
}

const char* accepts_host_leaves(const DeviceProps& d, const ReduceByIndexParams& p) noexcept {
  if (const char* const refusal = accepts_vector(d, p); refusal != nullptr) return refusal;
  if (p.x == nullptr || p.op != GPUMEM_SUM || (p.dtype != GPUMEM_F32 && p.dtype != GPUMEM_F64)) {
    return "it is for sums of f32 and f64";
  }
  const int64_t of_sort = p.n * (2 * element_bytes(p.dtype) + 4) + 8 * p.bins;
  return host::by_index_leaves_workspace_bytes(p) <= of_sort ? nullptr : "it would need more memory than a sort";
}
// A leaf takes 1 KiB. One thread adds the elements, and each waits for the last one of its bin. EPYC, f64, ms by
// leaves, and by host_sorted with one thread and with two: 10^6 in 10 bins 5.0, 4.9, 2.7; in 100 2.2, 6.3, 3.1; in
// 3,000 4.3, 9.4, 5.4; in 10,000 12.2, 8.4, 6.1. 10^7 in 1,000 29, 72, 56. 10^5 in 100 0.21, 0.37, 0.26; in 1,000 0.64,
// 0.39, 0.28. An index in order needs no sort either: 10^6 in 3,000 2.2, 1.9, 1.6.
const char* deprioritized_for_host_sorted(const DeviceProps& d, const ReduceByIndexParams& p) noexcept {
  constexpr int32_t kMostThreads = 2;
  constexpr int64_t kLeastElements = int64_t{1} << 16;
  constexpr int64_t kLeastBins = 32;
  constexpr int64_t kMostBins = 4096;
  constexpr int64_t kOfBin = 256;
  const bool fits = d.multiprocessors <= kMostThreads && p.bins >= kLeastBins && p.bins <= kMostBins;
  return fits && p.n >= std::max(kLeastElements, kOfBin * p.bins)
             ? nullptr
             : "it is for one or two threads, and many elements in 32 to 4096 bins";
}
Config host_leaves_config(const DeviceProps& d, const ReduceByIndexParams& p) noexcept {
  Config config = whole(d, p);
  config.workspace_bytes = host::by_index_leaves_workspace_bytes(p);
  return config;
}

const char* accepts_host_sorted(const DeviceProps& d, const ReduceByIndexParams& p) noexcept {
  const char* const refusal = accepts_vector(d, p);
  return refusal != nullptr ? refusal : accepts_elements(d, p);
}
// A step that writes to so many places at a time is faster than two: to 2^10, or to 2^13 of elements that caches hold.
bool sorts_in_one_step(const ReduceByIndexParams& p) noexcept {
  constexpr int64_t kCached = int64_t{8} << 20;
  return p.bins <= 1 << (p.n * element_bytes(p.dtype) <= kCached ? 13 : 10);
}
Config host_sorted_config(const DeviceProps& d, const ReduceByIndexParams& p) noexcept {
  constexpr int64_t kLeast = int64_t{1} << 15;
  constexpr int kBits = 8;  // of the first of two steps
  Config segments;
  implementation<ReduceSegmentsFamily>("host_segments").plan(d, segments_of(p), segments);
  host::BinBuckets cut{};
  cut.shift = sorts_in_one_step(p) ? 0 : std::max(key_bits(p.bins) - kBits, 0);
  cut.buckets = ceil_div(p.bins, int64_t{1} << cut.shift);
  cut.segments_tile = segments.tile;
  const int64_t tasks = std::clamp<int64_t>(p.n / kLeast, 1, d.multiprocessors);
  Config config{tasks, 1, 1, ceil_div(p.n, tasks)};
  config.workspace_bytes = host::by_index_workspace_bytes(cut, p, tasks);
  config.own.set(cut);
  return config;
}

const char* accepts_rows(const DeviceProps&, const ReduceByIndexParams& p) noexcept {
  return p.of_vector() ? "it is for rows" : nullptr;
}
// tile: rows per task of the sort, whose tables have a place per bin. A bin with many rows is shared by the workers.
Config host_rows_config(const DeviceProps& d, const ReduceByIndexParams& p) noexcept {
  constexpr int64_t kLeastRows = int64_t{1} << 13;
  constexpr int64_t kLeastElements = int64_t{1} << 15;
  const int64_t tasks = std::clamp<int64_t>(p.n / std::max(p.bins, kLeastRows), 1, d.multiprocessors);
  const int64_t workers = std::clamp<int64_t>(p.elements() / kLeastElements, 1, d.multiprocessors);
  Config config{tasks, 1, 1, ceil_div(p.n, tasks)};
  config.workspace_bytes = host::by_index_rows_workspace_bytes(p, tasks, workers);
  config.own.set(host::RowsWork{workers});
  return config;
}

Config serial_config(const DeviceProps& d, const ReduceByIndexParams& p) noexcept {
  Config config = whole(d, p);
  config.workspace_bytes = host::by_index_serial_workspace_bytes(p);
  return config;
}

constexpr Implementation<ReduceByIndexParams> kTable[] = {
    {"tables", ExecutionSpace::cuda, 1, plan<accepts_tables, tables_config>, gpu<kernels::reduce_by_index_tables>},
    {"atomics", ExecutionSpace::cuda, 1, plan<accepts_atomics, atomics_config>, gpu<kernels::reduce_by_index_atomics>},
    {"block_per_bin", ExecutionSpace::cuda, 1, plan<accepts_block_per_bin, block_per_bin_config>,
     gpu<kernels::reduce_by_index_block_per_bin>, deprioritized_for_warps},
    {"warp_per_bin", ExecutionSpace::cuda, 1, plan<accepts_few, warp_per_bin_config>,
     gpu<kernels::reduce_by_index_warp_per_bin>, deprioritized_for_sorts},
    {"buckets", ExecutionSpace::cuda, 1, plan<accepts_buckets, buckets_config>, gpu<kernels::reduce_by_index_buckets>,
     deprioritized_for_sorted},
    {"sorted_rows", ExecutionSpace::cuda, 1, plan<accepts_float_rows, float_rows_config>,
     gpu<kernels::reduce_by_index_rows>, deprioritized_for_segments},
    {"sorted", ExecutionSpace::cuda, 1, plan<accepts_elements, sorted_config>, gpu<kernels::reduce_by_index_sorted>},
    {"host_tables", ExecutionSpace::host, 1, plan<accepts_host_tables, host_tables_config>,
     host::reduce_by_index_tables},
    {"host_leaves", ExecutionSpace::host, 1, plan<accepts_host_leaves, host_leaves_config>,
     host::reduce_by_index_leaves, deprioritized_for_host_sorted},
    {"host_sorted", ExecutionSpace::host, 1, plan<accepts_host_sorted, host_sorted_config>,
     host::reduce_by_index_sorted},
    {"host_rows", ExecutionSpace::host, 1, plan<accepts_rows, host_rows_config>, host::reduce_by_index_rows},
    {"host_serial", ExecutionSpace::host, 1, plan<accepts<ReduceByIndexParams>, serial_config>,
     host::reduce_by_index_serial},
};

}  // namespace

std::span<const Implementation<ReduceByIndexParams>> ReduceByIndexFamily::table() noexcept { return kTable; }

}  // namespace gpumem
