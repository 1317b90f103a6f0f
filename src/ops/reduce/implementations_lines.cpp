// Implementations of reductions of many lines: rows and columns of matrices, and segments.
#include <algorithm>
#include <bit>

#include "base/checked.hpp"
#include "kernels/alignment.hpp"
#include "kernels/limits.hpp"
#include "kernels/nodes.hpp"
#include "kernels/order.hpp"
#include "kernels/reduce/launch.hpp"
#include "kernels/reduce/line_plans.hpp"
#include "select/variants.hpp"

namespace gpumem {
namespace {

constexpr int64_t kHostTaskElements = int64_t{1} << 18;

// Rows per warp, for rows under 1024 elements, if multiprocessors stay full. Otherwise blocks end as fast as they
// begin. H200, rows of 384: bf16 0.93, f32 0.96 of the time.
constexpr int64_t kRowsOfWarp = 4;
constexpr int kResidentThreads = 2048;
// Minima and maxima of rows of kMostWords. If the data exceeds kCachedBytes, a warp per row keeps more rows in flight.
// H200, 65,536 rows of 2,048 f16: 63 µs instead of 79.
constexpr int kMostWords = 1024;
constexpr int64_t kCachedBytes = int64_t{32} << 20;
// Rows of at most this many bytes get a warp each, if there are enough rows. The last ones of longer rows would leave
// the device idle. H200, 8,176 rows of 1,026 f32: 7.9 µs instead of 10.9. 2,670 of 50,257 bf16: 127 µs, not 104.
constexpr int64_t kWholeRowBytes = int64_t{32} << 10;
// 1024-element blocks per piece of a longer row (half for 8-byte elements), and the most pieces per row. H200, maxima
// of 512 rows of 50,257 f32: 27 µs with 8, 30 to 35 with 1, 2, 4 and 16.
constexpr int64_t kLeavesOfPiece = 8;
constexpr int64_t kMostPieces = 60;
// Elements of a row that may be cut anywhere if order does not matter. Sums of so many f16 are still exact.
constexpr int64_t kOneFold = int64_t{8} * kLeafTerms;

// Tasks of at least kHostTaskElements, cut between lines. tile: lines.
Config host_lines(const DeviceProps& d, int64_t lines, int64_t elements) noexcept {
  const int64_t wanted = std::clamp<int64_t>(elements / kHostTaskElements, 1, int64_t{4} * d.multiprocessors);
  const int64_t tasks = std::clamp<int64_t>(wanted, 1, std::max<int64_t>(lines, 1));
  return {tasks, 1, 1, ceil_div(std::max<int64_t>(lines, 1), tasks)};
}

Config host_axis_config(const DeviceProps& d, const ReduceAxisParams& p) noexcept {
  return host_lines(d, p.lines(), p.elements());
}
Config host_axis_serial_config(const DeviceProps&, const ReduceAxisParams& p) noexcept { return {1, 1, 1, p.lines()}; }
Config host_segments_config(const DeviceProps& d, const ReduceSegmentsParams& p) noexcept {
  return host_lines(d, p.segments, p.n);
}
Config host_segments_serial_config(const DeviceProps&, const ReduceSegmentsParams& p) noexcept {
  return {1, 1, 1, p.segments};
}

// Runs that fit scratch memory. A partial result takes one word, or node_bytes() if its kind is wide or a search.
int64_t most_runs(gpumem_dtype dtype, gpumem_reduce_op op) noexcept {
  const LeafKind kind = leaf_kind(dtype, op);
  return kScratchNodeBytes / (kind.wide || kind.search ? node_bytes(node_kind(dtype, op)) : 8);
}

const char* accepts_axes(const DeviceProps&, const ReduceAxisParams& p) noexcept {
  return p.axes != nullptr ? nullptr : "it is for lines along several axes that are not neighbours";
}
const char* accepts_matrices(const DeviceProps&, const ReduceAxisParams& p) noexcept {
  return p.axes == nullptr ? nullptr : "it needs rows or columns of matrices";
}
const char* accepts_even_lines(const DeviceProps& d, const ReduceAxisParams& p) noexcept {
  return p.run_rows == 0 ? accepts_matrices(d, p) : "it needs rows that are evenly apart";
}
// Overlapping lines can be many and long at once, with more runs of the longest kind than scratch memory holds.
const char* accepts_runs(const DeviceProps& d, const ReduceAxisParams& p) noexcept {
  if (const char* reason = accepts_matrices(d, p)) return reason;
  if (!aligned(p.x, element_bytes(p.dtype))) return "it needs aligned elements";
  if (p.lines() > kMaxGrid) return "it takes at most 2^31 - 1 rows or columns";
  const int64_t runs = ceil_div(p.length(), kLongestRun);
  return runs == 1 || p.lines() <= std::min(kMostCutRows, most_runs(p.dtype, p.op) / runs)
             ? nullptr
             : "it takes fewer rows or columns of that length";
}
const char* accepts_rows(const DeviceProps& d, const ReduceAxisParams& p) noexcept {
  return p.of_rows() ? accepts_runs(d, p) : "it is for rows";
}
const char* accepts_windows(const DeviceProps& d, const ReduceAxisParams& p) noexcept {
  const bool apart_by_one = p.batch_stride == 1 && (p.of_rows() || (p.cols == 1 && p.ld == 1));
  if (!apart_by_one || p.batches < kFewestWindows || p.length() < 2 || p.length() > kLeafTerms) {
    return "it is for 32 and more windows of 2 to 1024 elements, each one element behind the one before";
  }
  if (!window_operation(p.dtype, p.op))
    return "it is for sums, squares of up to 32 bits or of floats, products and extremes";
  return accepts_runs(d, p);
}
const char* accepts_columns(const DeviceProps& d, const ReduceAxisParams& p) noexcept {
  return p.of_rows() ? "it is for columns" : accepts_runs(d, p);
}

Config line_config(Config config, const LineConfig& lines) noexcept {
  config.own.set(lines);
  return config;
}

// One unit or several short lines per warp. As few warps per block as leave no multiprocessor without one.
Config warps_config(const DeviceProps& d, int64_t warps, int most_threads, const LineConfig& lines,
                    int64_t tile) noexcept {
  const int64_t of_block = std::clamp<int64_t>(warps / (int64_t{2} * d.multiprocessors), 1, most_threads / 32);
  const auto threads = static_cast<int32_t>(32 * std::bit_floor(static_cast<uint64_t>(of_block)));
  return line_config({std::clamp<int64_t>(ceil_div(warps, threads / 32), 1, kMaxGrid), threads, lines.longest, tile},
                     lines);
}

// tile: elements of a short run, so that the last ones end together. A row's last warp combines all its runs at once.
Config rows_config(const DeviceProps& d, const ReduceAxisParams& p) noexcept {
  const int bytes = element_bytes(p.dtype);
  const LeafKind kind = leaf_kind(p.dtype, p.op);
  const int words = longest_words(static_cast<uint64_t>(misalignment(p.x)), p.cols, p.ld, p.batch_stride, bytes, kind);
  const bool by_warps =
      words == kMostWords && node_kind(p.dtype, p.op) == NodeKind::range && p.elements() * bytes > kCachedBytes;
  const int longest = by_warps ? 0 : words != 0 ? words : longest_row(p.dtype, p.op, p.cols);
  if (longest != 0) {
    const int at_once = row_cut(longest, words != 0 ? 4 : bytes, kind).at_once();
    return warps_config(d, ceil_div(p.lines(), at_once), kWarpLineThreads, {.words = words != 0, .longest = longest},
                        p.cols);
  }
  const int64_t leaves = ceil_div(p.cols, kLeafTerms);
  const int64_t most = p.lines() <= kMostCutRows ? most_runs(p.dtype, p.op) : p.lines();
  const int64_t least = int64_t{24} * d.multiprocessors;
  const int64_t pieces = std::min(ceil_div(leaves, bytes == 8 ? kLeavesOfPiece / 2 : kLeavesOfPiece), kMostPieces);
  int64_t wanted = std::clamp(p.lines() * pieces, least, int64_t{128} * d.multiprocessors);
  if (p.cols * bytes <= kWholeRowBytes && bytes <= 2) {
    wanted = least;
  } else if (p.cols * bytes <= kWholeRowBytes && p.lines() >= least) {
    wanted = p.lines();
  }
  const int64_t run = run_pieces(p.lines(), leaves, wanted, most);
  int64_t tile = std::min(run * kLeafTerms, kLongestRun);
  int64_t runs = ceil_div(p.cols, tile);
  if (runs > 1 && !kind.ordered && p.cols <= kOneFold) {  // into runs of about one length
    tile = ceil_div(ceil_div(p.cols, runs), 128) * 128;
    runs = ceil_div(p.cols, tile);
  }
  if (runs > 1 && runs <= kWarpLineThreads / 32) {
    return line_config({p.lines(), static_cast<int32_t>(32 * runs), 0, tile}, {});
  }
  Config config = warps_config(d, p.lines() * runs, kLongLineThreads, {}, tile);
  const int64_t full = int64_t{kResidentThreads / kLongLineThreads} * d.multiprocessors;
  if (p.cols < kLeafTerms && config.grid > kRowsOfWarp * full) config.grid = ceil_div(config.grid, kRowsOfWarp);
  return config;
}

// Threads with a column per multiprocessor, over all runs and sides. Half as many for single elements if rows are
// loaded ahead. Cut columns need a second kernel to combine partial results. Columns of up to four 1024-element blocks
// that do not move by words stay whole if their threads cover kBytesInOneRun per multiprocessor. H200: 2048 x 12288 f32
// 31 µs instead of 36, but 2048 x 2048 f32 9.0 cut and 10.3 whole.
constexpr int64_t kColumnsWanted = 1440;
constexpr int64_t kBytesInOneRun = 2400;

// Columns of f32 from which on words are faster, with more than kFewRows rows. H200: a million of 64 rows 61 us instead of
// 67, but 262,144 of 64 rows 21.8 instead of 19.7.
constexpr int64_t kFewRowsWords = int64_t{1} << 19;

// Threads per column whose blocks take several waves and leave at most 15 % of the last one's places idle. H200, us:
// 32768 x 11008 f16 202 instead of 244, f32 356 (408), i32 385 (458); 12288 x 12288 f16 96 (121), maxima of f32 188 (210).
template <class CutBy, class WaveOf>
int64_t side_of_waves(int64_t side, int64_t most, const CutBy& cut_by, const WaveOf& wave_of) noexcept {
  constexpr int64_t kMost = 8;
  for (int64_t more = side; more <= std::min(most, kMost); more *= 2) {
    const ColumnCut cut = cut_by(more);
    const int64_t wave = wave_of(cut);
    if (20 * cut.grid() >= 17 * ceil_div(cut.grid(), wave) * wave) return more;
  }
  return side;
}

// Splits columns into runs, and runs between threads, until there are enough. Narrow rows get more threads.
Config columns_config(const DeviceProps& d, const ReduceAxisParams& p) noexcept {
  const int bytes = element_bytes(p.dtype);
  const LeafKind kind = leaf_kind(p.dtype, p.op);
  const bool as_one = p.batches_are_columns();
  const ColumnExtents extents{p.rows, as_one ? p.batches : p.cols, as_one ? 1 : p.batches};
  const bool gaps = as_one && p.batch_stride != 1;
  const int64_t of_batches = as_one ? 0 : p.batch_stride;
  const auto words_if = [&](bool few) {
    return !gaps && column_words(static_cast<uint64_t>(misalignment(p.x)), extents, p.ld | of_batches | p.run_stride,
                                 bytes, kind, few);
  };
  // With fewer columns, words leave multiprocessors idle.
  const bool few_words = words_if(true) && (bytes < 4 || p.rows <= kFewRows || p.lines() >= kFewRowsWords);
  if (p.run_rows == 0 && few_rows(p.rows, p.lines(), bytes, few_words, d.multiprocessors)) {
    const int64_t count = few_words ? columns_of_word(bytes, true) : 1;
    return line_config({ceil_div(p.lines(), kFewRowsThreads * count), kFewRowsThreads, 1, p.rows},
                       {.words = few_words, .few_rows = true});
  }
  const bool words = words_if(false);
  const int64_t count = words ? columns_of_word(bytes, false) : 1;
  const int rows_each = column_rows(static_cast<int>(count), bytes, kind);
  const int64_t width = std::min<int64_t>(ceil_div(extents.cols, count), kColumnThreads);
  const int64_t most = most_column_sides(p.rows, rows_each);
  const bool ahead = rows_ahead(words, bytes, node_kind(p.dtype, p.op), kind);
  const int64_t wanted = (ahead && !words ? kColumnsWanted / 2 : kColumnsWanted) * d.multiprocessors;
  const int64_t leaves = ceil_div(p.rows, kLeafTerms);
  const int64_t of_column = extents.cols < 32 ? most : 1;  // threads per column, if there are few columns
  const int64_t run =
      run_pieces(1, leaves, ceil_div(wanted, p.lines() * of_column), most_runs(p.dtype, p.op) / p.lines());
  int64_t tile = std::min(run * kLeafTerms, kLongestRun);
  if (leaves <= 4 && !words && p.lines() * most * bytes >= kBytesInOneRun * d.multiprocessors) {
    tile = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(leaves))) * kLeafTerms;
  }
  const int64_t columns = p.lines() * ceil_div(p.rows, tile);
  const bool uneven = !words && width % 32 != 0;  // two rows per warp are better than idle lanes
  const auto is_small = [&](int64_t side) { return width * side < 12 || (side == 1 && uneven); };
  int64_t side = 1;
  while (side < most && (columns * side < wanted || is_small(side))) side *= 2;
  const auto cut_by = [&](int64_t threads) {
    return column_cut(extents, count, rows_each, most_column_threads(bytes, kind), threads, tile);
  };
  ColumnCut cut = cut_by(side);
  const auto wave_of = [&](const ColumnCut& c) {
    return resident_column_threads(words, bytes, kind) / c.block() * d.multiprocessors;
  };
  const bool sectors = bytes < 8 || p.ld * bytes % 32 == 0;  // else narrower blocks read more of others' sectors
  if (cut.grid() > wave_of(cut) && cut.groups > 1 && sectors)
    cut = cut_by(side = side_of_waves(side, most, cut_by, wave_of));
  // Halves the threads if blocks would take one wave and part of a second. H200, 20000 x 2000 f32: 56 µs instead of 64.
  if (side > 2 && !is_small(side / 2) && cut.grid() > wave_of(cut) && 2 * cut.grid() < 3 * wave_of(cut)) {
    cut = cut_by(side /= 2);
  }
  return line_config({std::min(cut.grid(), kMaxGrid), static_cast<int32_t>(ceil_div(cut.block(), 32) * 32),
                      static_cast<int32_t>(side), tile},
                     {.words = words, .cut = cut});
}

Config windows_config(const DeviceProps&, const ReduceAxisParams& p) noexcept {
  const int64_t of_block = windows_of_block(leaf_kind(p.dtype, p.op));
  return {p.lines() / p.batches * ceil_div(p.batches, of_block), kWindowThreads, 1, p.length()};
}

Config scalar_axis_config(const DeviceProps& d, const ReduceAxisParams& p) noexcept {
  const int64_t leaves = ceil_div(p.length(), kLeafTerms);
  const int64_t tile = run_pieces(p.lines(), leaves, int64_t{8} * d.multiprocessors, kMaxReduceBlocks);
  return {p.lines() * ceil_div(leaves, tile), kElementThreads, 1, tile * kLeafTerms};
}

const char* accepts_aligned_segments(const DeviceProps&, const ReduceSegmentsParams& p) noexcept {
  return aligned(p.x, element_bytes(p.dtype)) ? nullptr : "it needs aligned elements";
}
// Segments longer than a run are cut. There are never more than kMostLongRuns runs.
Config segments_config(const DeviceProps& d, const ReduceSegmentsParams& p) noexcept {
  const int64_t average = ceil_div(p.n, p.segments);
  const int longest = longest_segment(p.dtype, p.op, average);
  const int64_t at_once = longest == 0 ? 1 : segment_cut(longest).at_once();
  const auto run = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(ceil_div(2 * p.n, kMostLongRuns))));
  return warps_config(d, ceil_div(p.segments, at_once), kWarpLineThreads, {.longest = longest},
                      std::max(run, kLongSegment));
}
Config scalar_segments_config(const DeviceProps&, const ReduceSegmentsParams& p) noexcept {
  return {p.segments, kElementThreads, 1, p.n};
}

Config view_lines_config(const DeviceProps& d, const ReduceAxisParams& p) noexcept {
  const int64_t leaves = ceil_div(p.length(), kLeafTerms);
  const int64_t wanted = std::min<int64_t>(int64_t{8} * d.multiprocessors, kMaxViewBlocks / 2);
  const int64_t tile = run_pieces(p.lines(), leaves, wanted, kMaxReduceBlocks);
  return {p.lines() * ceil_div(leaves, tile), kElementThreads, 1, tile * kLeafTerms};
}

constexpr Implementation<ReduceAxisParams> kAxis[] = {
    {"view_lines", ExecutionSpace::cuda, 1, plan<accepts_axes, view_lines_config>, gpu<kernels::reduce_view>},
    {"windows", ExecutionSpace::cuda, 1, plan<accepts_windows, windows_config>, gpu<kernels::reduce_windows>},
    {"warp_rows", ExecutionSpace::cuda, 5, plan<accepts_rows, rows_config>, gpu<kernels::reduce_warp_lines>},
    {"block_columns", ExecutionSpace::cuda, 7, plan<accepts_columns, columns_config>, gpu<kernels::reduce_columns>},
    {"strided_scalar", ExecutionSpace::cuda, 1, plan<accepts_even_lines, scalar_axis_config>,
     gpu<kernels::reduce_strided_scalar>},
    {"host_lines", ExecutionSpace::host, 1, plan<accepts<ReduceAxisParams>, host_axis_config>, HostWay{}},
    {"host_lines_serial", ExecutionSpace::host, 1, plan<accepts<ReduceAxisParams>, host_axis_serial_config>,
     HostWay{.serial = true}},
};
constexpr Implementation<ReduceSegmentsParams> kSegments[] = {
    {"warp_segments", ExecutionSpace::cuda, 3, plan<accepts_aligned_segments, segments_config>,
     gpu<kernels::reduce_warp_lines>},
    {"strided_scalar", ExecutionSpace::cuda, 1, plan<accepts<ReduceSegmentsParams>, scalar_segments_config>,
     gpu<kernels::reduce_strided_scalar>},
    {"host_segments", ExecutionSpace::host, 1, plan<accepts<ReduceSegmentsParams>, host_segments_config>, HostWay{}},
    {"host_segments_serial", ExecutionSpace::host, 1, plan<accepts<ReduceSegmentsParams>, host_segments_serial_config>,
     HostWay{.serial = true}},
};

}  // namespace

std::span<const Implementation<ReduceAxisParams>> ReduceAxisFamily::table() noexcept { return kAxis; }
std::span<const Implementation<ReduceSegmentsParams>> ReduceSegmentsFamily::table() noexcept { return kSegments; }

}  // namespace gpumem
