// Implementations of scan. Those of a GPU read and write every element once.
#include <algorithm>
#include <bit>

#include "backend/host/implementations.hpp"
#include "base/checked.hpp"
#include "kernels/limits.hpp"
#include "kernels/nodes.hpp"
#include "kernels/scan/limits.hpp"
#include "kernels/scan/scan.hpp"
#include "ops/sort/radix_scratch.hpp"
#include "select/variants.hpp"

namespace gpumem {
namespace {

// With the smallest tile, the limit of blocks is 32 TiB of results.
constexpr const char* kTooLong = "it needs at most 2^31 - 1 tiles";

constexpr const char* kOneSequence = "it is for one sequence";
constexpr const char* kSeveralLines = "it is for several lines";

const char* accepts_ordered(const DeviceProps&, const ScanParams& p) noexcept {
  if (p.has_lines()) return kOneSequence;
  if (!is_ordered(p)) return "it is for floating-point sums and products";
  return p.n / kLeafTerms < kMaxGrid ? nullptr : kTooLong;
}
const char* accepts_unordered(const DeviceProps&, const ScanParams& p) noexcept {
  if (p.has_lines()) return kOneSequence;
  if (is_ordered(p)) return "its order of additions is not the reproducible one";
  return p.n / scan_tile(p.result_type) < kMaxGrid - 1 ? nullptr : kTooLong;
}

// A block per tile. words: by which the tiles tell each other about themselves. One tile needs none.
Config tiles_config(int64_t tiles, int64_t tile, int32_t threads, int64_t words) noexcept {
  Config config{tiles, threads, 1, tile};
  config.fixed_grid = true;
  config.reduce_scratch = tiles > 1 && words <= kScanAreaWords;
  if (tiles > 1 && !config.reduce_scratch) config.workspace_bytes = static_cast<int64_t>(sizeof(ScanHead)) + 8 * words;
  return config;
}
int32_t warps_of(const DeviceProps& d, const ScanParams& p) noexcept {
  return scan_warps(d.shared_bytes_per_block, element_bytes(p.dtype));
}
int64_t ordered_words(int64_t tiles) noexcept {
  int64_t words = 0;
  for (int hop = 0; hop < kScanHops; ++hop) words += scan_nodes(tiles, hop);
  return words;
}
Config ordered_rows_config(const DeviceProps&, const ScanParams& p) noexcept {
  const int64_t tiles = ceil_div(p.n, kLeafTerms);
  return tiles_config(tiles, kLeafTerms, kScanRowsThreads, ordered_words(tiles));
}
// H200, f64, us by ordered_rows and by ordered: 1,000 2.9 and 6.5, 2^16 5.5 and 7.5, 2^18 7.4 and 8.0, 2^19 9.8 and 8.9.
constexpr int64_t kShort = int64_t{1} << 18;
const char* deprioritized_for_blocks(const DeviceProps&, const ScanParams& p) noexcept {
  return p.n > kShort ? "it is for short sequences" : nullptr;
}
Config ordered_config(const DeviceProps& d, const ScanParams& p) noexcept {
  const int32_t warps = warps_of(d, p);
  const int64_t tile = int64_t{warps} * kLeafTerms;
  const int64_t tiles = ceil_div(p.n, tile);
  Config config = tiles_config(tiles, tile, warps * 32, ordered_words(tiles));
  config.shared_bytes = tile * element_bytes(p.dtype);
  return config;
}
Config look_back_config(const DeviceProps&, const ScanParams& p) noexcept {
  const int64_t tile = scan_tile(p.result_type);
  const int64_t tiles = ceil_div(p.n + scan_shift(p.result, p.result_type), tile);
  return tiles_config(tiles, tile, kScanThreads, tiles * static_cast<int64_t>(sizeof(ScanState) / 8));
}

int64_t group_of(const ScanParams& p) noexcept {
  const bool short_lines = p.offsets == nullptr && p.view.extents[0] <= 32;
  return short_lines ? static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(p.view.extents[0]))) : 0;
}
bool are_long_ordered(const ScanParams& p) noexcept { return group_of(p) == 0 && is_ordered(p); }
// Of a block of warps, or of a block of groups of lanes.
int64_t lines_per_block(const DeviceProps& d, const ScanParams& p) noexcept {
  const int64_t group = group_of(p);
  if (group != 0) return int64_t{kScanLinesThreads} * kScanLinesRounds / group;
  return is_ordered(p) ? warps_of(d, p) : kScanLinesThreads / 32;
}
const char* accepts_lines(const DeviceProps& d, const ScanParams& p) noexcept {
  if (!p.has_lines()) return kSeveralLines;
  if (are_long_ordered(p) && p.op == GPUMEM_PROD) return "its long lines have no products of this type";
  return p.line_count() / lines_per_block(d, p) < kMaxGrid - 1 ? nullptr : "it needs at most 2^31 - 1 blocks";
}
Config lines_config(const DeviceProps& d, const ScanParams& p) noexcept {
  const bool blocks = are_long_ordered(p);
  const int64_t lines = lines_per_block(d, p);
  const int32_t threads = blocks ? warps_of(d, p) * 32 : kScanLinesThreads;
  Config config{ceil_div(p.line_count(), lines), threads, static_cast<int32_t>(group_of(p)), lines};
  config.fixed_grid = true;
  config.workspace_bytes = sizeof(ScanLinesState);
  if (blocks) config.shared_bytes = lines * kLeafTerms * element_bytes(p.dtype);
  config.own.set(blocks);
  return config;
}

// Many lines, a thread each, if they are closer to each other than the elements of a line. H200, lines of 365 elements,
// us by columns and by lines: 4,000 f32 44 and 33, 8,000 44 and 59; 8,000 i32 61 and 55, 16,000 76 and 101.
constexpr int64_t kManyLines = 6000;
constexpr int64_t kManyLinesInAnyOrder = 10000;
const char* accepts_columns(const DeviceProps&, const ScanParams& p) noexcept {
  if (!p.has_lines()) return kSeveralLines;
  return p.line_count() / kScanColumnsThreads < kMaxGrid - 1 ? nullptr : "it needs at most 2^31 - 1 blocks";
}
const char* deprioritized_for_rows(const DeviceProps& d, const ScanParams& p) noexcept {
  if (accepts_lines(d, p) != nullptr) return nullptr;
  const int32_t nearest = p.view.rank - 1;
  const auto closer = [&](const int64_t* strides) { return nearest > 0 && strides[nearest] < strides[0]; };
  if (!closer(p.view.x_strides) && !closer(p.view.result_strides)) return "the elements of a line are neighbours";
  return p.line_count() < (is_ordered(p) ? kManyLines : kManyLinesInAnyOrder) ? "it is for many lines" : nullptr;
}
Config columns_config(const DeviceProps&, const ScanParams& p) noexcept {
  const int lanes = scan_columns_lanes(p);
  Config config{ceil_div(p.line_count(), kScanColumnsThreads), kScanColumnsThreads, lanes, kScanColumnsThreads};
  config.fixed_grid = true;
  config.workspace_bytes = sizeof(ScanLinesState);
  config.shared_bytes = scan_columns_bytes(lanes);
  config.own.set(false);
  return config;
}
const char* accepts_exact_columns(const DeviceProps& d, const ScanParams& p) noexcept {
  if (!is_ordered(p) || p.op != GPUMEM_SUM || element_bytes(p.dtype) > 4) return "it is for sums of f16, bf16 and f32";
  return p.x == p.result ? "it needs a result apart from x, to read x again" : accepts_columns(d, p);
}
// H200, f32, us by exact_columns and by columns: 365 x 721 x 1440 along the first axis 1,629 and 2,564, if sums round
// 2,696 and 2,564; 4 x 365 x 64 x 1024 479 and 663. With fewer lines, on a busy machine: 365 x 10000 106 and, in place, 56.
const char* deprioritized_for_columns(const DeviceProps& d, const ScanParams& p) noexcept {
  constexpr int64_t kLeast = 100'000;  // with a thread each, they keep the memory busy
  if (const char* const reason = deprioritized_for_rows(d, p); reason != nullptr) return reason;
  return p.line_count() < kLeast || scan_columns_lanes(p) != kLeafLanes ? "it is for very many lines" : nullptr;
}
Config exact_columns_config(const DeviceProps& d, const ScanParams& p) noexcept {
  Config config = columns_config(d, p);
  config.workspace_bytes = kScanColumnsAgain + 4 * config.grid;
  config.own.set(true);
  return config;
}

// A warp has all of a line. H200, f32: 1,000 rows of 1,000 elements took 18 us, and 1,000 columns 25 us, so 128 elements
// took 2 and 3 us. Of each_line, one of 64 rows of 2^20 elements takes 13.5 us, and one of 7 columns 48 us. The rows now
// take 10 us, and the columns 23. The bounds were not measured again.
constexpr int64_t kEachLine = 860;  // elements per line that is scanned alone
constexpr int64_t kEachLineCopied = 2050;
bool is_strided(const ScanParams& p) noexcept { return p.view.x_strides[0] != 1 || p.view.result_strides[0] != 1; }
const char* accepts_each_line(const DeviceProps&, const ScanParams& p) noexcept {
  if (p.view.rank == 0) return "it is for the lines of a view";
  return p.view.extents[0] / kLeafTerms < kMaxGrid / 2 ? nullptr : kTooLong;
}
const char* deprioritized_for_warps(const DeviceProps&, const ScanParams& p) noexcept {
  const int64_t most = p.view.extents[0] / (is_strided(p) ? kEachLineCopied : kEachLine);
  return p.line_count() > most ? "it is for a few long lines" : nullptr;
}
Config each_line_config(const DeviceProps& d, const ScanParams& p) noexcept {
  ScanParams line = p;
  line.view = {};
  line.n = p.view.extents[0] + scan_vector(p.result_type);  // a result may begin inside a vector
  const Config one = is_ordered(p) ? ordered_config(d, line) : look_back_config(d, line);
  ScratchLayout layout;
  layout.take(scan_statuses_bytes(p.line_count()));
  layout.take(one.workspace_bytes);
  ScanEachLine each{one.grid, one.block, one.shared_bytes, one.workspace_bytes};
  if (p.view.x_strides[0] != 1) each.x = layout.take(p.view.extents[0] * element_bytes(p.dtype));
  if (p.view.result_strides[0] != 1) each.result = layout.take(p.view.extents[0] * element_bytes(p.result_type));
  Config config = one;
  config.workspace_bytes = layout.end();
  config.own.set(each);
  return config;
}

// A power of two of blocks per task, so that each task is a subtree. Several tasks read the elements twice.
const char* accepts_one(const DeviceProps&, const ScanParams& p) noexcept {
  return p.has_lines() ? kOneSequence : nullptr;
}
Config host_config(const DeviceProps& d, const ScanParams& p) noexcept {
  const int64_t least = kHostTaskBytes / kLeafTerms / element_bytes(p.dtype);
  const int64_t leaves = ceil_div(p.n, kLeafTerms);
  const int64_t share =
      d.multiprocessors == 1 ? leaves : std::max(least, ceil_div(leaves, int64_t{4} * d.multiprocessors));
  Config config{1, 1, 1, kLeafTerms * static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(share)))};
  config.grid = ceil_div(p.n, config.tile);
  config.workspace_bytes = config.grid * host::kScanTaskBytes;
  return config;
}

// Tasks of neighbouring lines. tile: lines per task.
const char* accepts_host_lines(const DeviceProps&, const ScanParams& p) noexcept {
  return p.has_lines() ? nullptr : kSeveralLines;
}
Config host_lines_config(const DeviceProps& d, const ScanParams& p) noexcept {
  const int64_t bytes = p.n * element_bytes(p.dtype);
  const int64_t most = d.multiprocessors == 1 ? 1 : std::max<int64_t>(bytes / kHostTaskBytes, 1);
  const int64_t tasks = std::clamp<int64_t>(ceil_div(p.line_count(), host::kScanLinesTogether), 1,
                                            std::min(most, int64_t{4} * d.multiprocessors));
  Config config{tasks, 1, 1,
                ceil_div(ceil_div(p.line_count(), tasks), host::kScanLinesTogether) * host::kScanLinesTogether};
  config.grid = ceil_div(p.line_count(), config.tile);
  config.workspace_bytes = config.grid * host::kScanLinesTaskBytes;
  return config;
}

constexpr Implementation<ScanParams> kTable[] = {
    {"ordered_rows", ExecutionSpace::cuda, 1, plan<accepts_ordered, ordered_rows_config>,
     gpu<kernels::scan_ordered_rows>, deprioritized_for_blocks},
    {"ordered", ExecutionSpace::cuda, 1, plan<accepts_ordered, ordered_config>, gpu<kernels::scan_ordered>},
    {"look_back", ExecutionSpace::cuda, 1, plan<accepts_unordered, look_back_config>, gpu<kernels::scan_look_back>},
    {"each_line", ExecutionSpace::cuda, 1, plan<accepts_each_line, each_line_config>, gpu<kernels::scan_each_line>,
     deprioritized_for_warps},
    {"exact_columns", ExecutionSpace::cuda, 1, plan<accepts_exact_columns, exact_columns_config>,
     gpu<kernels::scan_columns>, deprioritized_for_columns},
    {"columns", ExecutionSpace::cuda, 1, plan<accepts_columns, columns_config>, gpu<kernels::scan_columns>,
     deprioritized_for_rows},
    {"lines", ExecutionSpace::cuda, 2, plan<accepts_lines, lines_config>, gpu<kernels::scan_lines>},
    {"host_parallel", ExecutionSpace::host, 1, plan<accepts_one, host_config>, host::scan_parallel},
    {"host_lines", ExecutionSpace::host, 1, plan<accepts_host_lines, host_lines_config>, host::scan_lines},
    {"host_serial", ExecutionSpace::host, 1, plan<accepts<ScanParams>, whole<ScanParams>>, host::scan_serial},
};

}  // namespace

std::span<const Implementation<ScanParams>> ScanFamily::table() noexcept { return kTable; }

}  // namespace gpumem
