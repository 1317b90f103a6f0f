// Implementations of sort.
#include <algorithm>

#include "backend/host/implementations.hpp"
#include "kernels/sort/sort.hpp"
#include "kernels/sort/tiles.hpp"
#include "ops/sort/radix_scratch.hpp"
#include "select/variants.hpp"

namespace gpumem {
namespace {

constexpr const char* kOneSequence = "it sorts one sequence";
constexpr const char* kUnalignedKeys = "it needs keys aligned to their elements";
constexpr const char* kUnalignedSorted = "it needs sorted aligned to its elements";

const char* accepts_sequence(const DeviceProps&, const SortParams& p) noexcept {
  return p.in_segments() ? kOneSequence : nullptr;
}
const char* accepts_segments(const DeviceProps&, const SortParams& p) noexcept {
  return p.in_segments() ? nullptr : "it sorts segments";
}

const char* accepts_tiles(const DeviceProps&, const SortParams& p) noexcept {
  if (p.in_segments()) return kOneSequence;
  if (ceil_div(p.n, int64_t{kSortWindow}) > kMaxGrid) return "it needs at most 2^31 - 1 parts of 1024 keys";
  if (!aligned(p.keys, element_bytes(p.dtype))) return kUnalignedKeys;
  return aligned(p.sorted, element_bytes(p.dtype)) ? nullptr : kUnalignedSorted;
}
// CUB sorts up to 4096 keys of up to 4 bytes in one block. It takes a pass per byte for more keys, and this one a merge
// per power of two. H200, in CUDA graphs, compared with radix: f32 with order of i64 2^12 14 us and 16, 2^14 23 and 63,
// 2^18 52 and 69; f64 2^14 33 and 112, 2^18 75 and 125; i16 without order 2^12 14 and 6, 2^14 23 and 26.
const char* deprioritized_for_radix(const DeviceProps&, const SortParams& p) noexcept {
  constexpr int64_t kOfCub = 4096;
  const int bytes = element_bytes(p.dtype);
  const bool order = p.order != nullptr;
  bool best = false;
  if (p.n <= kSortBlock) {
    best = order || bytes >= 4;
  } else if (p.n <= kOfCub) {
    best = bytes == 8;
  } else {
    best = p.n <= int64_t{1} << (bytes >= 4 ? 18 : bytes == 2 ? (order ? 16 : 14) : (order ? 13 : 0));
  }
  return best ? nullptr : "a radix sort is faster for so many keys, or for so few in one block";
}
Config tiles_config(const DeviceProps&, const SortParams& p) noexcept {
  ScratchLayout layout;
  SegmentTilesScratch scratch{-1, {-1, -1}, {-1, -1}};
  if (p.n > kSortBlock) {
    for (int64_t& keys : scratch.keys) keys = layout.take(p.n * element_bytes(p.dtype));
  }
  if (p.n > kSortBlock && p.order != nullptr) {
    for (int64_t& positions : scratch.positions) positions = layout.take(8 * p.n);
  }
  Config config{ceil_div(p.n, int64_t{kSortBlock}), kSortThreads, kSortBlock / kSortThreads, kSortBlock};
  config.fixed_grid = true;
  config.workspace_bytes = layout.end();
  config.own.set(scratch);
  return config;
}

Config radix_config(const DeviceProps& d, const SortParams& p) noexcept {
  const int64_t bytes = element_bytes(p.dtype);
  const int64_t of_positions = p.order != nullptr ? position_bytes(p) : 0;
  const bool overwrites = overwrites_keys(p);
  ScratchLayout layout;
  SortScratch scratch;
  if (!aligned(p.keys, bytes)) scratch.keys = layout.take(p.n * bytes);
  if (overwrites || p.sorted == nullptr || !aligned(p.sorted, bytes)) scratch.sorted = layout.take(p.n * bytes);
  if (p.order != nullptr) scratch.positions = layout.take(p.n * of_positions);
  const bool one_pass = bytes == 1 && d.compute_major >= 9;
  scratch.cub_bytes = radix_sort_counters(d, p.n, bytes) + (overwrites || one_pass ? 0 : p.n * (bytes + of_positions));
  scratch.cub = layout.take(scratch.cub_bytes);
  Config config = grid_of(p.n, int64_t{kSortThreads} * kSortPositions, kSortThreads, kSortPositions);
  config.workspace_bytes = layout.end();
  config.own.set(scratch);
  return config;
}

// The keys of few segments are sorted faster by passes over all of them.
constexpr int64_t kMeanOfTiles = int64_t{1} << 14;
const char* accepts_segment_tiles(const DeviceProps&, const SortParams& p) noexcept {
  if (!p.in_segments()) return "it sorts segments";
  if (ceil_div(p.n, int64_t{kSortWindow}) > kMaxGrid) return "it needs at most 2^31 - 1 windows";
  if (!aligned(p.keys, element_bytes(p.dtype))) return kUnalignedKeys;
  return aligned(p.sorted, element_bytes(p.dtype)) ? nullptr : kUnalignedSorted;
}
const char* deprioritized_for_passes(const DeviceProps&, const SortParams& p) noexcept {
  return p.n / kMeanOfTiles > p.segments ? "the mean segment has more than 16384 keys" : nullptr;
}
Config segment_tiles_config(const DeviceProps&, const SortParams& p) noexcept {
  const int64_t windows = ceil_div(p.n, int64_t{kSortWindow});
  ScratchLayout layout;
  layout.take(sizeof(SegmentTilesHead));
  SegmentTilesScratch scratch{};
  scratch.first = layout.take(8 * (windows + 1));
  for (int64_t& keys : scratch.keys) keys = layout.take(p.n * element_bytes(p.dtype));
  for (int64_t& positions : scratch.positions) positions = layout.take(8 * p.n);
  Config config{windows, kSortThreads, kSortBlock / kSortThreads, kSortWindow};
  config.fixed_grid = true;
  config.workspace_bytes = layout.end();
  config.own.set(scratch);
  return config;
}

Config segments_config(const DeviceProps& d, const SortParams& p) noexcept {
  const int64_t bytes = element_bytes(p.dtype);
  const int64_t of_positions = positions_are_wide(p) ? 8 : 4;
  ScratchLayout layout;
  layout.take(sizeof(SegmentsHead));
  SegmentsScratch scratch{};
  for (int64_t& keys : scratch.keys) keys = layout.take(p.n * bytes);
  for (int64_t& positions : scratch.positions) positions = layout.take(p.n * of_positions);
  scratch.segments = layout.take(p.n * of_positions);
  for (int64_t& segments : scratch.sorted_segments) segments = layout.take(p.n * of_positions);
  scratch.cub_bytes = std::max(radix_sort_counters(d, p.n, bytes), radix_sort_counters(d, p.n, of_positions));
  scratch.cub = layout.take(scratch.cub_bytes);
  Config config = grid_of(p.n, int64_t{kSortThreads} * kSortPositions, kSortThreads, kSortPositions);
  config.workspace_bytes = layout.end();
  config.own.set(scratch);
  return config;
}

// grid: tasks; tile: elements per task.
Config host_config(const DeviceProps& d, const SortParams& p) noexcept {
  const int64_t tasks = std::clamp<int64_t>(p.n / host::kSortTaskKeys, 1, d.multiprocessors);
  Config config{tasks, 1, 1, ceil_div(p.n, tasks)};
  config.workspace_bytes = host::sort_workspace_bytes(p, tasks);
  return config;
}
Config serial_config(const DeviceProps& d, const SortParams& p) noexcept {
  Config config = whole(d, p);
  config.workspace_bytes = host::sort_serial_workspace_bytes(p);
  return config;
}

constexpr Implementation<SortParams> kTable[] = {
    {"tiles", ExecutionSpace::cuda, 1, plan<accepts_tiles, tiles_config>, gpu<kernels::sort_tiles>,
     deprioritized_for_radix},
    {"radix", ExecutionSpace::cuda, 1, plan<accepts_sequence, radix_config>, gpu<kernels::sort_radix>},
    {"segment_tiles", ExecutionSpace::cuda, 1, plan<accepts_segment_tiles, segment_tiles_config>,
     gpu<kernels::sort_segment_tiles>, deprioritized_for_passes},
    {"segments", ExecutionSpace::cuda, 1, plan<accepts_segments, segments_config>, gpu<kernels::sort_segments>},
    {"host_parallel", ExecutionSpace::host, 1, plan<accepts_sequence, host_config>, host::sort_parallel},
    {"host_segments", ExecutionSpace::host, 1, plan<accepts_segments, host_config>, host::sort_segments},
    {"host_serial", ExecutionSpace::host, 1, plan<accepts<SortParams>, serial_config>, host::sort_serial},
};

}  // namespace

std::span<const Implementation<SortParams>> SortFamily::table() noexcept { return kTable; }

}  // namespace gpumem
