// The tables of the reductions of many lines at once: rows and columns of matrices, and segments.
#include <algorithm>
#include <bit>

#include "base/checked.hpp"
#include "kernels/limits.hpp"
#include "kernels/nodes.hpp"
#include "kernels/order.hpp"
#include "select/reduce_shapes.hpp"
#include "select/variants.hpp"

namespace gpumem {
namespace {

constexpr int64_t kHostTaskElements = int64_t{1} << 18;

const char* accepts_axis(const DeviceProps&, const ReduceAxisProblem&) noexcept { return nullptr; }
const char* accepts_segments(const DeviceProps&, const ReduceSegmentsProblem&) noexcept { return nullptr; }

// Tasks of at least kHostTaskElements, cut between lines: tile is lines.
LaunchShape host_lines(const DeviceProps& d, int64_t lines, int64_t elements) noexcept {
  const int64_t wanted = std::clamp<int64_t>(elements / kHostTaskElements, 1, int64_t{4} * d.multiprocessors);
  const int64_t tasks = std::clamp<int64_t>(wanted, 1, std::max<int64_t>(lines, 1));
  return {tasks, 1, 1, ceil_div(std::max<int64_t>(lines, 1), tasks)};
}

LaunchShape host_axis_shape(const DeviceProps& d, const ReduceAxisProblem& p) noexcept {
  return host_lines(d, p.lines(), p.elements());
}
LaunchShape host_axis_serial_shape(const DeviceProps&, const ReduceAxisProblem& p) noexcept {
  return {1, 1, 1, p.lines()};
}
LaunchShape host_segments_shape(const DeviceProps& d, const ReduceSegmentsProblem& p) noexcept {
  return host_lines(d, p.segments, p.n);
}
LaunchShape host_segments_serial_shape(const DeviceProps&, const ReduceSegmentsProblem& p) noexcept {
  return {1, 1, 1, p.segments};
}

// The longest tile of 2^k pieces that still gives the device this many blocks in all, and no more nodes than there is room for.
int64_t tile_pieces(int64_t lines, int64_t pieces, int64_t wanted_blocks, int64_t most_blocks) noexcept {
  const auto whole = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(pieces, 1))));
  if (lines > most_blocks / 2) return whole;
  int64_t tile = whole;
  while (tile > 1 && lines * ceil_div(pieces, tile) < wanted_blocks &&
         lines * ceil_div(pieces, tile / 2) <= most_blocks) {
    tile /= 2;
  }
  return tile;
}

const char* accepts_short_rows(const DeviceProps&, const ReduceAxisProblem& p) noexcept {
  if (!p.of_rows()) return "it is for rows";
  if (!aligned(p.misalignment, p.dtype)) return "it needs aligned elements";
  if (p.cols > kLeafLanes) return "it takes rows of at most 128 elements";
  return nullptr;
}
const char* accepts_row_tiles(const DeviceProps&, const ReduceAxisProblem& p) noexcept {
  if (!p.of_rows()) return "it is for rows";
  if (!aligned(p.misalignment, p.dtype)) return "it needs aligned elements";
  return nullptr;
}

int64_t columns_a_block(const ReduceAxisProblem& p) noexcept {
  return int64_t{kColumnSide} * bundle_elements(element_bytes(p.dtype));
}
// So many that a thread each fills the device.
constexpr int64_t kManyShortColumns = 32768;
// A thread takes the columns of a word, or a single column where rows do not begin at words.
int64_t short_column_blocks(const ReduceAxisProblem& p) noexcept {
  const int64_t count = bundle_elements(element_bytes(p.dtype));
  const bool words = p.misalignment % (count * element_bytes(p.dtype)) == 0 && p.ld % count == 0 &&
                     p.batch_stride % count == 0 && p.cols % count == 0;
  return p.batches * ceil_div(p.cols, kShortColumnThreads * (words ? count : 1));
}
int64_t column_blocks(const ReduceAxisProblem& p) noexcept { return p.batches * ceil_div(p.cols, columns_a_block(p)); }
const char* accepts_short_columns(const DeviceProps&, const ReduceAxisProblem& p) noexcept {
  if (p.of_rows()) return "it is for columns";
  if (!aligned(p.misalignment, p.dtype)) return "it needs aligned elements";
  if (p.rows > kLeafLanes) return "it takes columns of at most 128 elements";
  if (short_column_blocks(p) > INT32_MAX) return "there are more blocks of columns than a grid has";
  return nullptr;
}
const char* accepts_column_tiles(const DeviceProps&, const ReduceAxisProblem& p) noexcept {
  if (p.of_rows()) return "it is for columns";
  if (!aligned(p.misalignment, p.dtype)) return "it needs aligned elements";
  if (p.rows <= kLeafLanes && p.cols >= kManyShortColumns) return "short columns in such numbers have short_columns";
  if (column_blocks(p) > INT32_MAX) return "there are more blocks of columns than a grid has";
  return nullptr;
}

LaunchShape short_rows_shape(const DeviceProps&, const ReduceAxisProblem& p) noexcept {
  const int64_t rows = int64_t{kShortRowThreads} / short_row_sharers(p.dtype, p.op, p.cols) * kShortRowsInFlight;
  return {std::min(ceil_div(p.lines(), rows), kMaxGrid), kShortRowThreads, kShortRowsInFlight, p.cols};
}

// A block a row where there are rows enough; else rows are cut. As many warps in all as it takes to keep the device loading, and no
// more: the more chunks a warp takes one after the other, the less often it begins and ends.
LaunchShape row_tiles_shape(const DeviceProps& d, const ReduceAxisProblem& p) noexcept {
  const int64_t chunk = reduce_chunk(p.dtype, p.op);
  const int64_t chunks = ceil_div(p.cols, chunk);
  const int64_t tile = tile_pieces(p.lines(), chunks, int64_t{2} * d.multiprocessors, kMaxReduceBlocks);
  const int64_t blocks = p.lines() * ceil_div(chunks, tile);
  const int64_t warps = ceil_div(int64_t{12} * d.multiprocessors, std::max<int64_t>(blocks, 1));
  return {blocks, tile_threads(std::min({warps, chunks, tile})), 1, tile * chunk};
}

LaunchShape short_columns_shape(const DeviceProps&, const ReduceAxisProblem& p) noexcept {
  return {short_column_blocks(p), kShortColumnThreads, 8, p.rows};
}

// Nodes of all columns of a block go to scratch together. Two blocks are on a multiprocessor at a time. Shorter runs of leaves
// are better where the multiprocessor with most of them then has clearly less to do, as long as the last block folds the
// nodes of its columns in one go.
LaunchShape column_tiles_shape(const DeviceProps& d, const ReduceAxisProblem& p) noexcept {
  const int64_t leaves = ceil_div(p.rows, kLeafTerms);
  const int64_t most = kScratchNodeBytes / node_bytes(node_kind(p.dtype, p.op)) / columns_a_block(p);
  int64_t tile = tile_pieces(column_blocks(p), leaves, int64_t{3} * d.multiprocessors / 2, most);
  const auto blocks = [&](int64_t run) { return column_blocks(p) * ceil_div(leaves, run); };
  const auto longest = [&](int64_t run) { return ceil_div(blocks(run), d.multiprocessors) * run; };
  const int64_t most_runs = int64_t{kColumnSide} * kColumnNodesAtOnce;
  for (int64_t run = tile / 2; run >= 1 && blocks(run) <= most && ceil_div(leaves, run) <= most_runs; run /= 2) {
    if (10 * longest(run) < 9 * longest(tile)) tile = run;
  }
  return {column_blocks(p) * ceil_div(leaves, tile), kColumnSide * kColumnSide, 8, tile * kLeafTerms};
}

LaunchShape line_elements_shape(const DeviceProps& d, const ReduceAxisProblem& p) noexcept {
  const int64_t leaves = ceil_div(p.length(), kLeafTerms);
  const int64_t tile = tile_pieces(p.lines(), leaves, int64_t{8} * d.multiprocessors, kMaxReduceBlocks);
  return {p.lines() * ceil_div(leaves, tile), kElementThreads, 1, tile * kLeafTerms};
}

const char* accepts_segment_tiles(const DeviceProps&, const ReduceSegmentsProblem& p) noexcept {
  return aligned(p.misalignment, p.dtype) ? nullptr : "it needs aligned elements";
}
// A block a segment, as many warps as the middle length has chunks.
LaunchShape segment_tiles_shape(const DeviceProps&, const ReduceSegmentsProblem& p) noexcept {
  const int64_t chunks = ceil_div(p.n / std::max<int64_t>(p.segments, 1), reduce_chunk(p.dtype, p.op));
  return {p.segments, tile_threads(chunks), 1, p.n};
}
LaunchShape segment_elements_shape(const DeviceProps&, const ReduceSegmentsProblem& p) noexcept {
  return {p.segments, kElementThreads, 1, p.n};
}

constexpr Variant<ReduceAxisProblem> kAxis[] = {
    {"short_rows", Runs::cuda, 1, accepts_short_rows, short_rows_shape},
    {"row_tiles", Runs::cuda, 2, accepts_row_tiles, row_tiles_shape},
    {"column_tiles", Runs::cuda, 2, accepts_column_tiles, column_tiles_shape},
    {"short_columns", Runs::cuda, 1, accepts_short_columns, short_columns_shape},
    {"line_elements", Runs::cuda, 1, accepts_axis, line_elements_shape},
    {"host_lines", Runs::host, 1, accepts_axis, host_axis_shape},
    {"host_lines_serial", Runs::host, 1, accepts_axis, host_axis_serial_shape},
};
constexpr Variant<ReduceSegmentsProblem> kSegments[] = {
    {"segment_tiles", Runs::cuda, 2, accepts_segment_tiles, segment_tiles_shape},
    {"segment_elements", Runs::cuda, 1, accepts_segments, segment_elements_shape},
    {"host_segments", Runs::host, 1, accepts_segments, host_segments_shape},
    {"host_segments_serial", Runs::host, 1, accepts_segments, host_segments_serial_shape},
};

}  // namespace

std::span<const Variant<ReduceAxisProblem>> ReduceAxisFamily::table() noexcept { return kAxis; }
std::span<const Variant<ReduceSegmentsProblem>> ReduceSegmentsFamily::table() noexcept { return kSegments; }

}  // namespace gpumem
