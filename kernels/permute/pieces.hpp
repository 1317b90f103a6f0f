// Pieces of arrays of any shape that one launch moves, such as the faces, edges and corners of a box or the blocks of a
// cyclic layout. Each is words along up to four axes. Plain C++, no CUDA.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>

#include "kernels/limits.hpp"
#include "kernels/permute/params.hpp"

namespace gpumem {

constexpr int32_t kPieceAxes = 4;
// A block of a launch moves as many words of one piece.
constexpr int32_t kPieceThreads = 256;
constexpr int32_t kPieceAtOnce = 4;
constexpr uint32_t kPieceWords = kPieceThreads * kPieceAtOnce;

// A word is 2^shift bytes, at most 16. Strides are in words. Neighbouring threads take neighbours along the first axis.
struct MovedPiece {
  const char* src = nullptr;
  char* dst = nullptr;
  uint32_t words = 0;
  uint32_t first_block = 0;  // within the launch; set by the launcher
  int32_t shift = 0;
  int32_t rank = 0;  // at least 1
  uint32_t extent[kPieceAxes] = {};
  uint32_t src_stride[kPieceAxes] = {};
  uint32_t dst_stride[kPieceAxes] = {};
};

// One run without padding, and the axes that repeat it.
struct StridedRuns {
  int64_t bytes = 0;  // of a run
  int64_t all = 0;    // bytes of all runs
  int32_t rank = 0;
  int64_t extent[kMaxPermuteRank] = {};
  int64_t src_stride[kMaxPermuteRank] = {};  // bytes
  int64_t dst_stride[kMaxPermuteRank] = {};
};

// The runs as axes of the widest elements that divide all runs and strides, and also all numbers whose bits are or'ed
// together in `places`. Requires fewer than kMaxPermuteRank axes, or runs of one such element.
constexpr PermuteAxes axes_of(const StridedRuns& runs, uint64_t places = 0) noexcept {
  places |= static_cast<uint64_t>(runs.bytes);
  for (int32_t d = 0; d < runs.rank; ++d) places |= static_cast<uint64_t>(runs.src_stride[d] | runs.dst_stride[d]);
  PermuteAxes axes;
  axes.element_bytes = widest_access(places);
  const int64_t run = runs.bytes / axes.element_bytes;
  if (run > 1 || runs.rank == 0) axes.add(run, 1, 1);
  for (int32_t d = 0; d < runs.rank; ++d) {
    axes.add(runs.extent[d], runs.src_stride[d] / axes.element_bytes, runs.dst_stride[d] / axes.element_bytes);
  }
  return axes;
}

// nullopt: it has too many axes, or its sizes need more than 32 bits.
inline std::optional<MovedPiece> piece_of(const StridedRuns& runs, const void* src, void* dst) noexcept {
  if (runs.rank > kPieceAxes) return std::nullopt;
  const PermuteAxes axes = axes_of(runs, reinterpret_cast<uintptr_t>(src) | reinterpret_cast<uintptr_t>(dst));
  const int shift = std::countr_zero(static_cast<uint64_t>(axes.element_bytes));
  if (axes.rank > kPieceAxes || runs.all >> shift > INT32_MAX) return std::nullopt;
  MovedPiece piece{.src = static_cast<const char*>(src), .dst = static_cast<char*>(dst)};
  piece.words = static_cast<uint32_t>(runs.all >> shift);
  piece.shift = shift;
  piece.rank = axes.rank;
  for (int32_t d = 0; d < axes.rank; ++d) {
    if ((axes.src_stride[d] | axes.dst_stride[d]) > UINT32_MAX) return std::nullopt;
    piece.extent[d] = static_cast<uint32_t>(axes.extent[d]);
    piece.src_stride[d] = static_cast<uint32_t>(axes.src_stride[d]);
    piece.dst_stride[d] = static_cast<uint32_t>(axes.dst_stride[d]);
  }
  return piece;
}

// The same elements by way of memory without padding: from src into it, and out of it to dst.
struct RunsThrough {
  StridedRuns in;
  StridedRuns out;
};
constexpr RunsThrough through_tight(const StridedRuns& runs) noexcept {
  RunsThrough both{runs, runs};
  int64_t tight = runs.bytes;
  for (int32_t d = 0; d < runs.rank; ++d) {
    both.in.dst_stride[d] = both.out.src_stride[d] = tight;
    tight *= runs.extent[d];
  }
  return both;
}

}  // namespace gpumem
