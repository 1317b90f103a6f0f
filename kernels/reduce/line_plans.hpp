// How the reductions of many lines are cut: into groups of lanes and runs of warps where lines are contiguous, into blocks of columns
// where they are not. Plain functions, for the tables and the launchers. Figures: one H200.
#pragma once

#include <bit>
#include <cstdint>

#include "kernels/division.hpp"
#include "kernels/reduce/limits.hpp"

namespace gpumem {

// Threads of a block of the kernels by warps.
constexpr int kLineThreads = 256;

// How a warp takes lines of at most so many elements: the lanes that share a line, the elements of each, and the lines that a lane has
// under way.
struct LineCut {
  int lanes;
  int each;
  int lines;

  constexpr int at_once() const noexcept { return 32 / lanes * lines; }
};
constexpr LineCut line_cut(int longest) noexcept {
  if (longest == 8) return {4, 2, 8};
  if (longest == 32) return {8, 4, 4};
  return {32, longest / 32, 4};
}

// Runs into which segments are cut that are longer than such a run, at most.
constexpr int64_t kMostLongRuns = 8192;

// Segments of so many elements are cut. Runs of all rows or columns at most, each with a counter; elements of the longest: a warp's sum
// of integers of 32 bits is exact in 64.
constexpr int64_t kLongSegment = 64 * kLeafTerms;
constexpr int64_t kMostRowRuns = 16380;
constexpr int64_t kLongestRun = int64_t{1} << 30;

// Elements of the longest line of those that share a warp: 8, 32, 128 or 256; 0 where a warp has a line by itself. A segment that is
// longer takes its warp's time. Powers of integers of 64 bits, whose sums take 256, go by whole warps.
constexpr bool by_whole_warps(gpumem_dtype dtype, gpumem_reduce_op op) noexcept {
  return node_kind(dtype, op) == NodeKind::integer && element_bytes(dtype) == 8 &&
         (op == GPUMEM_SUM_SQUARES || op == GPUMEM_SUM_CUBES);
}
constexpr int longest_row(gpumem_dtype dtype, gpumem_reduce_op op, int64_t cols) noexcept {
  if (by_whole_warps(dtype, op)) return 0;
  for (const int longest : {8, 32, 128, 256}) {
    if (cols <= longest) return longest;
  }
  return 0;
}
constexpr int longest_segment(gpumem_dtype dtype, gpumem_reduce_op op, int64_t average) noexcept {
  if (by_whole_warps(dtype, op)) return 0;
  return average <= 5 ? 8 : average <= 20 ? 32 : 0;
}

// The longest run of 2^k pieces that still gives so many runs in all, and no more than `most`.
constexpr int64_t run_pieces(int64_t lines, int64_t pieces, int64_t wanted, int64_t most) noexcept {
  auto run = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(pieces > 1 ? pieces : 1)));
  if (lines > most / 2) return run;
  const auto runs = [&](int64_t of) { return lines * ((pieces + of - 1) / of); };
  while (run > 1 && runs(run) < wanted && runs(run / 2) <= most) run /= 2;
  return run;
}

// Threads of a block of columns, at most, by how they load, and what several small units fill.
constexpr int most_column_threads(bool words) noexcept { return words ? 256 : 512; }
constexpr int kColumnThreads = 256;
// Rows of each 128 that a thread takes: many, or few where that brings the rows of narrow matrices together.
constexpr int kColumnRows = 8;
constexpr int kFewColumnRows = 4;
// Neighbouring columns that a thread loads as one word of up to 16 bytes, and whether all rows begin with one.
constexpr int columns_of_word(int bytes) noexcept { return bytes == 8 ? 2 : 4; }
constexpr bool column_words(uint64_t address, int64_t cols, int64_t ld, int64_t batch_stride, int bytes) noexcept {
  const int count = columns_of_word(bytes);
  return address % static_cast<uint64_t>(count * bytes) == 0 && (cols | ld | batch_stride) % count == 0;
}

// Columns as they are cut. Widths are in words: `count` columns of a thread.
struct ColumnCut {
  int64_t width = 1;   // threads of a row of the unit
  int64_t groups = 1;  // units side by side
  int64_t side = 1;    // threads of a column
  int64_t units = 1;   // of a block
  int64_t runs = 1;    // of leaves
  int64_t all = 1;     // units

  constexpr int64_t block() const noexcept { return width * side * units; }
  constexpr int64_t grid() const noexcept { return (all + units - 1) / units; }
};

struct ColumnExtents {
  int64_t rows;
  int64_t cols;
  int64_t batches;
  int64_t count;  // columns that a thread loads at once
};

// rows_each: rows of each 128 (or fewer, where columns are shorter) that a thread takes; tile: rows of a run.
constexpr ColumnCut column_cut(const ColumnExtents& e, int64_t rows_each, int64_t tile) noexcept {
  const auto divide = [](int64_t a, int64_t b) { return a / b + (a % b != 0 ? 1 : 0); };
  ColumnCut cut;
  const int64_t lanes =
      e.rows < kLeafLanes ? static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(e.rows))) : kLeafLanes;
  cut.side = lanes > rows_each ? lanes / rows_each : 1;
  const int64_t words = divide(e.cols, e.count);
  const int64_t most = (cut.side == 1 ? kColumnThreads : most_column_threads(e.count > 1)) / cut.side;
  cut.groups = divide(words, most);
  cut.width = divide(words, cut.groups);
  cut.runs = divide(e.rows, tile);
  cut.all = e.batches * cut.groups * cut.runs;
  const int64_t room = kColumnThreads / (cut.width * cut.side);
  cut.units = room < 1 ? 1 : room < cut.all ? room : cut.all;
  return cut;
}

}  // namespace gpumem
