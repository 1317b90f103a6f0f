// How reductions of many lines are divided: contiguous lines into groups of lanes and runs of warps, others into blocks
// of columns. Plain functions, for the tables and the launchers. Figures: one H200.
#pragma once

#include <bit>
#include <cstdint>

#include "kernels/division.hpp"
#include "kernels/nodes.hpp"
#include "kernels/order.hpp"
#include "kernels/reduce/limits.hpp"

namespace gpumem {

// Maximum threads per block if lines share warps, or have one each. Small blocks end and make room sooner.
constexpr int kWarpLineThreads = 256;
constexpr int kLongLineThreads = 64;

// The accumulator of a leaf. `ordered`: the bits depend on the order. Sums of f16 are not ordered: 8192 multiples of
// 2^-24 below 2^16 add up exactly. `wide`: more than 8 bytes. `search`: it needs the place of each element.
struct LeafKind {
  bool ordered;
  bool wide;
  bool search = false;
};
constexpr bool wide_integers(Addend addend, int bytes) noexcept {
  switch (addend) {
    case Addend::element:
    case Addend::magnitude:
      return bytes == 8;
    case Addend::square:
      return bytes >= 4;
    case Addend::cube:
      return true;
    case Addend::dot:
    case Addend::factor:
    case Addend::valid:
    case Addend::present:
      break;
  }
  __builtin_unreachable();
}
constexpr LeafKind leaf_kind(gpumem_dtype dtype, gpumem_reduce_op op) noexcept {
  const int bytes = element_bytes(dtype);
  switch (node_kind(dtype, op)) {
    case NodeKind::range:
      return {false, bytes == 8};
    case NodeKind::integer:
      return {false, wide_integers(addend_of(op), bytes)};
    case NodeKind::integer_product:
      return {false, true};
    case NodeKind::product:
      return {true, false};
    case NodeKind::sum:
      return {dtype != GPUMEM_F16 || op != GPUMEM_SUM, false};
    case NodeKind::arg:
      return {false, bytes == 8, true};
    case NodeKind::compensated:
    case NodeKind::norm:
      return {true, true};
    case NodeKind::order_free:  // not of lines
      return {};
  }
  __builtin_unreachable();
}

// Columns whose rows may lie along two axes: only sums of floating-point elements, to keep code small.
constexpr bool columns_in_runs(gpumem_dtype dtype, gpumem_reduce_op op) noexcept {
  return op == GPUMEM_SUM && is_floating(dtype);
}

// How a warp takes lines up to a length: lanes that share a line, elements per lane, and lines in flight per lane.
struct LineCut {
  int lanes;
  int each;
  int lines;

  constexpr int at_once() const noexcept { return 32 / lanes * lines; }
};
// Rows of 8, 16, ..., 512 elements or 1024 words. With small elements or wide nodes, a lane has more elements of a row
// and combines them itself. A lane with few elements has more rows.
constexpr LineCut row_cut(int longest, int bytes, LeafKind kind) noexcept {
  const bool many = bytes <= 2 || (!kind.ordered && longest >= (kind.wide ? 32 : 64));
  const int each = !many ? 2 : bytes <= 2 ? 8 : 4;
  const int lanes = longest / each < 32 ? longest / each : 32;
  const bool more_rows = (!many && (!kind.ordered || (longest == 8 && bytes == 8))) ||
                         (!kind.ordered && !kind.wide && bytes == 4 && longest == 128);
  return {lanes, longest / lanes, more_rows ? 8 : longest > 512 ? 1 : longest > 256 ? 2 : 4};
}
// longest: 8, 32 or 128.
constexpr LineCut segment_cut(int longest) noexcept {
  return longest == 8 ? LineCut{4, 2, 8} : longest == 32 ? LineCut{8, 4, 4} : LineCut{32, 4, 4};
}

// Maximum number of runs of segments that are longer than one run.
constexpr int64_t kMostLongRuns = 8192;

// Segments from this length on are divided. Divided rows have a counter each, so their number is limited. kLongestRun:
// elements of the longest run; a warp's sum of 32-bit integers then fits 64 bits.
constexpr int64_t kLongSegment = 16 * kLeafTerms;
constexpr int64_t kMostCutRows = 16380;
constexpr int64_t kLongestRun = int64_t{1} << 30;

// Elements of the longest line that does not need its own warp: 8, 16, ..., 256 or 512. 0: a warp per line. A longer
// segment takes the whole warp. Powers of 64-bit integers always have whole warps, because their sums have 256 bits,
// and products to keep code small.
constexpr bool wide_powers(gpumem_dtype dtype, gpumem_reduce_op op) noexcept {
  return node_kind(dtype, op) == NodeKind::integer && element_bytes(dtype) == 8 && is_power(addend_of(op));
}
constexpr bool by_whole_warps(gpumem_dtype dtype, gpumem_reduce_op op) noexcept {
  return wide_powers(dtype, op) || is_product(node_kind(dtype, op));
}
// Small elements whose order does not matter. Only rows that are not aligned to words take single elements.
constexpr bool by_words(int bytes, LeafKind kind) noexcept {
  return bytes <= 2 && !kind.ordered && !kind.wide && !kind.search;
}
constexpr int longest_of_elements(int bytes, LeafKind kind) noexcept {
  return bytes == 4 && !kind.ordered && !kind.wide ? 512 : 256;
}
constexpr int longest_row(gpumem_dtype dtype, gpumem_reduce_op op, int64_t cols) noexcept {
  const int bytes = element_bytes(dtype);
  const LeafKind kind = leaf_kind(dtype, op);
  if (by_whole_warps(dtype, op) || cols > longest_of_elements(bytes, kind)) return 0;
  int longest = 8;
  while (longest < cols) longest *= by_words(bytes, kind) && longest < 128 ? 4 : 2;
  return longest;
}
// Words of 4 bytes of the longest line, if all rows begin at a word and are longer than 8 elements; otherwise 0. By
// words, rows of 384 i8 take a quarter of the time, and rows of 384 f16 half.
constexpr int longest_words(uint64_t address, int64_t cols, int64_t ld, int64_t batch_stride, int bytes,
                            LeafKind kind) noexcept {
  if (!by_words(bytes, kind) || cols <= 8 || cols > 4096 / bytes) return 0;
  if (address % 4 != 0 || (cols | ld | batch_stride) % (4 / bytes) != 0) return 0;
  const int64_t words = cols * bytes / 4;
  return words <= 8 ? 8 : static_cast<int>(std::bit_ceil(static_cast<uint64_t>(words)));
}
// Whether a warp can take four segments of up to 128 elements at a time. To keep code small, others take a warp each.
// H200, 6,000,000 f64, us by four and by one: mean of 24 63 and 120, 48 36 and 64, 100 22 and 35.
constexpr bool has_middle_segments(gpumem_dtype dtype, gpumem_reduce_op op) noexcept {
  return op == GPUMEM_SUM && (dtype == GPUMEM_F32 || dtype == GPUMEM_F64);
}
constexpr int longest_segment(gpumem_dtype dtype, gpumem_reduce_op op, int64_t average) noexcept {
  if (by_whole_warps(dtype, op)) return 0;
  return average <= 5 ? 8 : average <= 20 ? 32 : average <= 100 && has_middle_segments(dtype, op) ? 128 : 0;
}

// The longest run of 2^k pieces that still gives `wanted` runs in total, and no more than `most`.
constexpr int64_t run_pieces(int64_t lines, int64_t pieces, int64_t wanted, int64_t most) noexcept {
  auto run = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(pieces > 1 ? pieces : 1)));
  if (lines > most / 2) return run;
  const auto runs = [&](int64_t of) { return lines * ((pieces + of - 1) / of); };
  while (run > 1 && runs(run) < wanted && runs(run / 2) <= most) run /= 2;
  return run;
}

struct ColumnExtents {
  int64_t rows;
  int64_t cols;
  int64_t batches;
};

// Columns that a thread loads as one word, if all rows begin at a word and columns suffice.
constexpr int columns_of_word(int bytes, bool few_rows) noexcept { return bytes == 4 && few_rows ? 2 : 4; }
constexpr bool has_column_words(int bytes, LeafKind kind) noexcept {
  return bytes <= 2 || (bytes == 4 && kind.ordered);
}
// strides: of rows and matrices, or'ed.
constexpr bool column_words(uint64_t address, const ColumnExtents& e, int64_t strides, int bytes, LeafKind kind,
                            bool few_rows) noexcept {
  const int count = columns_of_word(bytes, few_rows);
  return has_column_words(bytes, kind) && address % static_cast<uint64_t>(count * bytes) == 0 &&
         (e.cols | strides) % count == 0 && e.cols >= 8 * count &&
         e.rows * e.cols * e.batches * bytes >= int64_t{4} << 20;
}

// With at most this many rows, a thread has a whole column. With up to kLeafLanes rows, it has one if the columns are
// enough for the device. A run of fewer rows than a leaf indicates this.
constexpr int kFewRows = 16;
constexpr int kFewRowsThreads = 256;
constexpr bool few_rows(int64_t rows, int64_t columns, int bytes, bool words, int64_t multiprocessors) noexcept {
  return rows <= kFewRows || (rows <= kLeafLanes && (bytes > 1 || words) && columns * bytes >= 2560 * multiprocessors);
}
// Words of 16 bytes are copied to shared memory ahead of their additions.
constexpr int kColumnStages = 2;
constexpr bool staged_columns(int bytes, int count) noexcept { return bytes * count == 16; }
// Rows of each 128 that a thread takes per pass.
constexpr int kColumnRows = 8;
constexpr int column_rows(int count, int bytes, LeafKind kind) noexcept {
  if (staged_columns(bytes, count)) return kColumnRows / 2;
  return count > 1 || kind.ordered || kind.search || bytes > 2 ? kColumnRows : 2 * kColumnRows;
}
// Whether a thread loads the next rows, across passes too, while it adds up the current ones. That needs registers.
// H200: sums of 32768 x 4096 i8 take 56 us instead of 72; sums of 262144 x 512 f64 would take 289 instead of 255.
constexpr bool rows_ahead(bool words, int bytes, NodeKind node, LeafKind leaf) noexcept {
  return has_empty_value(node) && (words ? !leaf.ordered : bytes == 4 && !leaf.wide);
}
// kColumnThreads: threads that small units fill. most_column_threads(): maximum of a single unit. With 56 registers per
// thread, a multiprocessor holds four blocks of two times 129 columns.
constexpr int kColumnThreads = 256;
constexpr int most_column_threads(int bytes, LeafKind kind) noexcept {
  return bytes > 2 && (kind.ordered || kind.wide) ? 512 : 384;
}

constexpr int column_blocks(bool words, int bytes, LeafKind kind) noexcept {
  return !words && most_column_threads(bytes, kind) == 384 ? 3 : 2;
}
constexpr int64_t resident_column_threads(bool words, int bytes, LeafKind kind) noexcept {
  return int64_t{words ? kColumnThreads : most_column_threads(bytes, kind)} * column_blocks(words, bytes, kind);
}

// Windows are lines that begin one element apart. A block has window_places() places in x, which give fewer windows.
// The two nodes per place fit 32 KiB of shared memory.
constexpr int kWindowThreads = 256;
constexpr int kFewestWindows = 32;
constexpr bool window_operation(gpumem_dtype dtype, gpumem_reduce_op op) noexcept {
  return (op == GPUMEM_SUM || op == GPUMEM_SUM_SQUARES || op == GPUMEM_PROD ||
          node_kind(dtype, op) == NodeKind::range) &&
         !wide_powers(dtype, op);
}
constexpr int window_places(LeafKind kind) noexcept { return kind.wide ? 1024 : 2048; }
constexpr int64_t windows_of_block(LeafKind kind) noexcept { return window_places(kind) - kLeafLanes; }

// How columns are divided. Widths are in words, the columns that a thread loads at once.
struct ColumnCut {
  int64_t width = 1;   // threads per row of the unit
  int64_t groups = 1;  // neighbouring units
  int64_t side = 1;    // threads per column
  int64_t passes = 1;  // per thread over its column
  int64_t units = 1;   // per block
  int64_t runs = 1;    // runs of leaves per column
  int64_t all = 1;     // units in total

  constexpr int64_t block() const noexcept { return width * side * units; }
  constexpr int64_t grid() const noexcept { return (all + units - 1) / units; }
};

constexpr int64_t most_column_sides(int64_t rows, int rows_each) noexcept {
  const auto lanes = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(rows < kLeafLanes ? rows : kLeafLanes)));
  return lanes > rows_each ? lanes / rows_each : 1;
}

// count: columns per word. rows_each: column_rows(). most: most_column_threads(). side: threads per column. tile: rows
// per run.
constexpr ColumnCut column_cut(const ColumnExtents& e, int64_t count, int rows_each, int most, int64_t side,
                               int64_t tile) noexcept {
  const auto divide = [](int64_t a, int64_t b) { return a / b + (a % b != 0 ? 1 : 0); };
  ColumnCut cut;
  cut.side = side;
  cut.passes = most_column_sides(e.rows, rows_each) / side;
  const int64_t words = divide(e.cols, count);
  const bool as_one = count == 1 && words * side <= most;
  cut.groups = as_one ? 1 : divide(words, kColumnThreads / side);
  cut.width = divide(words, cut.groups);
  cut.runs = divide(e.rows, tile);
  cut.all = e.batches * cut.groups * cut.runs;
  const int64_t room = kColumnThreads / (cut.width * cut.side);
  cut.units = room < 1 ? 1 : room < cut.all ? room : cut.all;
  return cut;
}

// The decisions of a plan for many lines, besides the grid.
struct LineConfig {
  bool words = false;     // elements are read in words
  int32_t longest = 0;    // elements or words of the longest line that does not need its own warp; 0: a warp per line
  bool few_rows = false;  // of columns: one thread or a few have a whole column
  ColumnCut cut{};        // of other columns
};

}  // namespace gpumem
