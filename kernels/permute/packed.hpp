// The packed tile of a permutation: a box over several axes that has long runs on both sides even if the fastest axes
// are short (A. Hynninen and D. Lyakh, "cuTT: A High-Performance Tensor Transpose Library for CUDA Compatible GPUs",
// 2017). A pure function of the axes. Plain C++.
// A block reads the box (kernels/permute/box.hpp) in the order of src and writes it in the order of dst. Shared memory
// holds runs that are contiguous in dst, one pitch apart.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "kernels/permute/box.hpp"
#include "kernels/permute/params.hpp"

namespace gpumem {

constexpr int32_t kPackedThreads = 320;  // maximum
constexpr int64_t kPackedBytes = 40960;  // of shared memory; with the tables, five blocks per multiprocessor of 228 KiB
constexpr int32_t kPackedResident = 4;   // blocks per multiprocessor that registers are reserved for
constexpr int32_t kPackedRows = 320;     // of the table of rows that are read
constexpr int32_t kPackedPieces = 256;   // of the table of pieces of lines that are written
constexpr int64_t kPackedMaxCols = 256;  // per thread
constexpr int64_t kPackedSpread = 256;   // minimum number of boxes, enough for all multiprocessors
constexpr int64_t kPackedLeast = 1024;   // minimum bytes per box if the problem has too few boxes
// Elements of a line per lane that a warp takes at a time.
constexpr int32_t kPackedPerLane = 4;
constexpr int64_t kPackedPiece = 32 * kPackedPerLane;

// A padded box skips one element after this many: 128 bytes, which are all banks. Elements below 4 bytes are not
// padded.
constexpr int32_t packed_pad(int64_t element_bytes) noexcept { return static_cast<int32_t>(128 / element_bytes); }

struct PackedTile : PermuteBox {
  double cost = 0;  // compared with other tiles: bytes moved per byte wanted, and idle lanes

  int64_t src_run = 1;  // contiguous elements in src
  // The first axes of src_order, along which each thread has a fixed place. The last one is folded if it is too long.
  int32_t col_axes = 0;
  int64_t folds = 1;
  int64_t cols = 1;
  int64_t rows = 1;  // volume / cols

  int32_t run_axes = 0;  // the number of first axes in a run
  int64_t run = 1;       // contiguous elements in dst
  int64_t lines = 1;     // volume / run
  int64_t pieces = 1;    // per line
  // Warps begin to write at sectors, at most this many elements before the line. 0: every line begins at a sector.
  int64_t sector_mask = 0;
  int64_t run_step = 0;  // elements of a line between boxes if it is divided

  int64_t pitch = 1;  // elements of shared memory between lines
  bool padded = false;
  int32_t threads = 32;
  int64_t rows_at_once = 1;
  int64_t rows_each = 2;  // maximum per thread, rounded up to an even number

  constexpr int64_t shared_elements(int64_t element_bytes) const noexcept {
    const int64_t last = lines * pitch - 1;
    return last + (padded ? last / packed_pad(element_bytes) : 0) + 1;
  }
  // Elements of shared memory between neighbours along an axis.
  constexpr int64_t weight(int32_t axis) const noexcept {
    int64_t product = 1;
    if (axis < run_axes) {
      for (int32_t d = 0; d < axis; ++d) product *= extent[d];
      return product;
    }
    product = pitch;
    for (int32_t k = 0; src_order[k] != axis; ++k) product *= src_order[k] >= run_axes ? extent[src_order[k]] : 1;
    return product;
  }
};

namespace packing {

using namespace boxes;

// Words of 4 bytes between lines, an odd number, which keeps the columns of a box in different banks.
constexpr int64_t odd_pitch(int64_t run, int64_t element_bytes) noexcept {
  if (element_bytes >= 4) return run | 1;
  const int64_t word = 4 / element_bytes;
  return (ceil_div(run, word) | 1) * word;
}

// Chooses the elements of a row of the box, one per thread. Lengthens an extent if it can then be folded.
inline void choose_cols(PackedTile& t, const PermuteAxes& axes, int64_t least) noexcept {
  while (t.col_axes < axes.rank && t.folds == 1) {
    const int32_t d = t.src_order[t.col_axes];
    const int64_t longer = t.cols * t.extent[d];
    if (longer > kPackedMaxCols) {
      const int64_t folds = ceil_div(t.extent[d], kPackedMaxCols / t.cols);
      if (t.cols >= least || up(t.extent[d], folds) > axes.extent[d]) return;
      t.folds = folds;
      const int64_t before = t.extent[d];
      t.extent[d] = up(before, t.folds);
      if (t.step[d] == before) t.step[d] = t.extent[d];
    }
    t.cols *= t.extent[d] / t.folds;
    ++t.col_axes;
  }
}

// Derives the rest of the tile from the extents of the box. Changes `t.extent` if the run is divided at sectors.
inline void judge(PackedTile& t, const PermuteAxes& axes, const int32_t* dst_order, int64_t least_cols) noexcept {
  const int64_t e = axes.element_bytes;
  const int64_t sector = sector_elements(e);
  std::copy_n(t.extent, kMaxPermuteRank, t.step);
  Run run = run_of(t, axes, dst_order, axes.dst_stride);
  if (run.axes == 0) return;
  if (!on_sectors(t, axes, dst_order, axes.dst_stride, run.axes, sector)) {
    t.sector_mask = sector - 1;
    const int32_t last = run.axes - 1;
    const int64_t inner = run.elements / t.extent[last];
    const int64_t shared = ceil_div(t.sector_mask, inner);
    if (t.extent[last] + shared < axes.extent[last] && shared * inner * 8 <= run.elements) {
      t.cut_axis = last;
      t.run_step = run.elements;
      t.extent[last] += shared;
      run.elements += shared * inner;
    }
  }
  choose_cols(t, axes, least_cols);
  run = run_of(t, axes, dst_order, axes.dst_stride);
  t.run_axes = run.axes;
  t.run = run.elements;
  const Run src_run = run_of(t, axes, t.src_order, axes.src_stride);
  t.src_run = src_run.elements;
  const bool src_on_sectors = on_sectors(t, axes, t.src_order, axes.src_stride, src_run.axes, sector);
  if (!count_boxes(t, axes) || t.volume * e > kPackedBytes) return;
  double read = 1;
  double written = 1;
  for (int32_t d = 0; d < axes.rank; ++d) {
    read *= static_cast<double>(t.boxes[d] * t.extent[d]) / static_cast<double>(axes.extent[d]);
    written *= static_cast<double>(t.boxes[d] * t.step[d]) / static_cast<double>(axes.extent[d]);
  }
  t.rows = t.volume / t.cols;
  t.lines = t.volume / t.run;
  t.rows_at_once = std::min(t.rows, kPackedThreads / t.cols);
  t.rows_each = up(ceil_div(t.rows, t.rows_at_once), 2);
  t.threads = static_cast<int32_t>(up(t.rows_at_once * t.cols, 32));
  t.pieces = ceil_div(t.run + t.sector_mask, kPackedPiece);
  t.pitch = odd_pitch(t.run, e);
  if (t.rows_at_once * t.rows_each > kPackedRows || t.pieces * t.lines > kPackedPieces ||
      t.shared_elements(e) * e > kPackedBytes || !spans_32_bits(t, axes.rank, axes.src_stride) ||
      !spans_32_bits(t, axes.rank, axes.dst_stride)) {
    return;
  }
  // Bytes that a run costs in addition to its own: the unused parts of its line, and of its first and last sector.
  const double src_loss = src_on_sectors ? 16 : 40;
  const double dst_loss = t.sector_mask == 0 ? 16 : t.cut_axis >= 0 ? 24 : 56;
  const double reading = static_cast<double>(t.threads * t.rows_each) / static_cast<double>(t.volume);
  const double writing = static_cast<double>(up(t.run + t.sector_mask, 32)) / static_cast<double>(t.run);
  t.cost = read * (1 + src_loss / static_cast<double>(t.src_run * e)) +
           written * (1 + dst_loss / static_cast<double>(t.run * e)) + 0.05 * (reading + writing) +
           0.3 * t.threads / static_cast<double>(t.volume);
  if (t.all_boxes < kPackedSpread) t.cost *= 0.5 + 0.5 * kPackedSpread / static_cast<double>(t.all_boxes);
  t.fits = true;
}

// The slowdown by bank conflicts if the first warps write a row of the box to shared memory.
inline double conflicts(const PackedTile& t, const PermuteAxes& axes) noexcept {
  const auto lanes = static_cast<int32_t>(std::min<int64_t>(32, 128 / axes.element_bytes));
  const int64_t element_words = std::max<int64_t>(axes.element_bytes / 4, 1);
  int64_t weight[kMaxPermuteRank];
  for (int32_t k = 0; k < axes.rank; ++k) weight[k] = t.weight(t.src_order[k]);
  int64_t at[kMaxPermuteRank] = {};
  int64_t place = 0;
  int32_t total = 0;
  const int32_t passes = static_cast<int32_t>(std::clamp<int64_t>(t.volume / lanes, 1, 4));
  for (int32_t pass = 0; pass < passes; ++pass) {
    int64_t word[32];
    int32_t most = 1;
    for (int32_t lane = 0; lane < lanes && pass * lanes + lane < t.volume; ++lane) {
      word[lane] =
          (place + (t.padded ? place / packed_pad(axes.element_bytes) : 0)) * axes.element_bytes / (4 * element_words);
      int32_t same = 1;
      for (int32_t i = 0; i < lane; ++i) same += word[i] != word[lane] && (word[i] - word[lane]) % lanes == 0 ? 1 : 0;
      most = std::max(most, same);
      for (int32_t k = 0; k < axes.rank; ++k) {
        place += weight[k];
        if (++at[k] < t.extent[t.src_order[k]]) break;
        place -= at[k] * weight[k];
        at[k] = 0;
      }
    }
    total += most;
  }
  return static_cast<double>(total) / passes;
}

inline void choose_pitch(PackedTile& t, const PermuteAxes& axes) noexcept {
  const int64_t e = axes.element_bytes;
  const int64_t banks = 128 / e;
  int64_t shared_axes = 1;  // elements of the fastest axes of src that are also in the run
  for (int32_t k = 0; k < axes.rank && t.src_order[k] < t.run_axes; ++k) shared_axes *= t.extent[t.src_order[k]];
  const int64_t odd = t.pitch;
  const int64_t in_step = t.run + ((shared_axes - t.run) % banks + banks) % banks;
  struct Choice {
    int64_t pitch;
    bool padded;
  };
  const Choice choices[] = {{odd, false}, {in_step, false}, {odd, e >= 4}, {in_step, e >= 4}};
  Choice best = choices[0];
  double least = 0;
  for (const Choice& c : choices) {
    t.pitch = c.pitch;
    t.padded = c.padded;
    if (t.shared_elements(e) * e > kPackedBytes) continue;
    const double now = conflicts(t, axes);
    if (least != 0 && now >= least) continue;
    least = now;
    best = c;
    if (now == 1) break;
  }
  t.pitch = best.pitch;
  t.padded = best.padded;
}

constexpr int64_t kPackedFilled = 15360;  // bytes

// Extends small boxes along axes that they do not have yet, so that more loads are in flight.
inline void fill(PackedTile& t, const PermuteAxes& axes) noexcept {
  int64_t volume = 1;
  for (int32_t d = 0; d < axes.rank; ++d) volume *= t.extent[d];
  const int64_t wanted = std::clamp(axes.elements() * axes.element_bytes / kPackedSpread, kPackedLeast, kPackedFilled);
  for (int32_t k = 0; k < axes.rank; ++k) {
    const int64_t more = wanted / axes.element_bytes / volume;
    if (more < 2) return;
    const int32_t d = t.src_order[k];
    if (t.extent[d] > 1) continue;
    t.extent[d] = axes.extent[d] <= more ? axes.extent[d] : ceil_div(axes.extent[d], ceil_div(axes.extent[d], more));
    volume *= t.extent[d];
  }
}

// The best box among those divided at multiples of `granule` elements, with rows of `least_cols` columns if possible.
inline PackedTile best_of(const PackedTile& empty, const PermuteAxes& axes, int64_t granule,
                          int64_t least_cols) noexcept {
  PackedTile best;
  int32_t dst_order[kMaxPermuteRank];
  std::iota(dst_order, dst_order + axes.rank, 0);
  const int64_t room = kPackedBytes * 9 / 10 / axes.element_bytes;
  for (const int64_t src_bytes : {128, 256, 384, 512, 1024}) {
    PackedTile along_src = empty;
    boxes::grow(along_src, axes, empty.src_order, axes.rank, std::min(src_bytes / axes.element_bytes, kPackedMaxCols),
                granule);
    int64_t reached = 1;
    for (int32_t d = 0; d < axes.rank; ++d) reached *= along_src.extent[d];
    for (const int64_t wanted : {room / reached, room / reached / 2, room / reached / 8, room / 2, room / 8,
                                 128 / axes.element_bytes, 256 / axes.element_bytes, 512 / axes.element_bytes}) {
      PackedTile t = along_src;
      boxes::grow(t, axes, dst_order, axes.rank, std::max<int64_t>(wanted, 2), granule);
      packing::fill(t, axes);
      packing::judge(t, axes, dst_order, least_cols);
      if (t.fits && (!best.fits || t.cost < best.cost)) best = t;
    }
  }
  return best;
}

inline PackedTile best_tile(const PermuteAxes& axes) noexcept {
  PackedTile best;
  if (axes.rank < 2 || axes.dst_stride[0] != 1) return best;
  PackedTile empty;
  boxes::sort_by_src(axes, empty.src_order);
  std::fill_n(empty.extent, axes.rank, 1);
  best = best_of(empty, axes, boxes::sector_elements(axes.element_bytes), 16);
  if (!best.fits) best = best_of(empty, axes, 1, 64);  // smaller boxes with fewer rows, so that the tables have room
  if (best.fits) packing::choose_pitch(best, axes);
  return best;
}

}  // namespace packing

// The tile for a fused problem that is contiguous along axis 0 in dst. The search takes up to 40 us.
inline PackedTile packed_tile(const PermuteAxes& axes) noexcept { return packing::best_tile(axes); }

}  // namespace gpumem
