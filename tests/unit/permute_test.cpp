// The fused form of permutations, and the division that takes numbers apart into indices.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "kernels/division.hpp"
#include "kernels/permute/contiguous_boxes.hpp"
#include "kernels/permute/packed.hpp"
#include "ops/permute/permute_fuse.hpp"

namespace gpumem {
namespace {

// Where a byte comes from and where it goes.
using Move = std::pair<int64_t, int64_t>;

std::vector<Move> moves_of(const PermuteAxes& axes) {
  std::vector<Move> moves;
  for (int64_t i = 0; i < axes.elements(); ++i) {
    int64_t rest = i;
    int64_t from = 0;
    int64_t to = 0;
    for (int32_t d = 0; d < axes.rank; ++d) {
      from += rest % axes.extent[d] * axes.src_stride[d];
      to += rest % axes.extent[d] * axes.dst_stride[d];
      rest /= axes.extent[d];
    }
    for (int64_t byte = 0; byte < axes.element_bytes; ++byte) {
      moves.emplace_back(from * axes.element_bytes + byte, to * axes.element_bytes + byte);
    }
  }
  std::sort(moves.begin(), moves.end());
  return moves;
}

// The axes of dst of a row-major permutation, as the engine hands them over.
PermuteAxes permuted(int64_t element_bytes, const std::vector<int64_t>& extents, const std::vector<int32_t>& order) {
  std::vector<int64_t> src_strides(extents.size(), 1);
  for (size_t d = extents.size(); d-- > 1;) src_strides[d - 1] = src_strides[d] * extents[d];
  PermuteAxes axes;
  axes.element_bytes = element_bytes;
  for (const int32_t axis : order) {
    axes.add(extents[static_cast<size_t>(axis)], src_strides[static_cast<size_t>(axis)], 0);
  }
  int64_t stride = 1;
  for (int32_t d = axes.rank; d-- > 0;) {
    axes.dst_stride[d] = stride;
    stride *= axes.extent[d];
  }
  return axes;
}

// Any strides that send distinct elements to distinct places, in any order of the axes.
PermuteAxes random_axes(std::mt19937_64& random) {
  const auto below = [&](uint64_t bound) { return static_cast<int64_t>(random() % bound); };
  PermuteAxes axes;
  axes.element_bytes = int64_t{1} << below(5);
  const auto rank = static_cast<int32_t>(below(9));
  int64_t dst_stride = below(4) == 0 ? 2 : 1;
  int64_t src_stride = 1;
  for (int32_t d = 0; d < rank; ++d) {
    const int64_t extent = 1 + below(4);
    axes.add(extent, below(6) == 0 ? below(4) : src_stride, dst_stride);
    dst_stride = dst_stride * extent + (below(5) == 0 ? below(9) : 0);
    src_stride = src_stride * extent + (below(5) == 0 ? below(9) : 0);
  }
  if (rank > 1 && below(2) == 0) {
    std::swap(axes.src_stride[0], axes.src_stride[static_cast<size_t>(below(static_cast<uint64_t>(rank)))]);
  }
  for (int32_t d = rank; d > 1; --d) {
    const auto other = static_cast<int32_t>(below(static_cast<uint64_t>(d)));
    for (int64_t* values : {axes.extent, axes.src_stride, axes.dst_stride}) std::swap(values[d - 1], values[other]);
  }
  return axes;
}

// No element of any axis is left out, and no box leaves the array.
void expect_boxes(const PermuteBox& t, const PermuteAxes& axes) {
  for (int32_t d = 0; d < axes.rank; ++d) {
    ASSERT_GE(t.extent[d], t.step[d]);
    ASSERT_GE(t.step[d], 1);
    const int64_t last = axes.extent[d] - t.extent[d];
    ASSERT_GE(last, 0);
    ASSERT_LE(last, (t.boxes[d] - 1) * t.step[d]) << "a gap before the last box";
    ASSERT_TRUE(t.boxes[d] == 1 || last > (t.boxes[d] - 2) * t.step[d]) << "a box too many";
    ASSERT_TRUE(d == t.cut_axis || t.extent[d] == t.step[d]);
  }
}

// That the tables hold the tile, and that each place in shared memory holds one element.
void expect_covering(const PackedTile& t, const PermuteAxes& axes) {
  ASSERT_LE(t.shared_elements(axes.element_bytes) * axes.element_bytes, kPackedBytes);
  ASSERT_LE(t.rows_at_once * t.rows_each, kPackedRows);
  ASSERT_GE(t.rows_at_once * t.rows_each, t.rows);
  ASSERT_LE(t.rows_at_once * t.cols, t.threads);
  ASSERT_LE(t.threads, kPackedThreads);
  ASSERT_LE(t.pieces * t.lines, kPackedPieces);
  ASSERT_EQ(t.threads % 32, 0);
  ASSERT_EQ(t.cols * t.rows, t.volume);
  ASSERT_EQ(t.run * t.lines, t.volume);
  expect_boxes(t, axes);
  std::vector<bool> taken(static_cast<size_t>(t.lines * t.pitch));
  for (int64_t i = 0; i < t.volume; ++i) {
    int64_t rest = i;
    int64_t place = 0;
    for (int32_t d = 0; d < axes.rank; ++d) {
      place += rest % t.extent[d] * t.weight(d);
      rest /= t.extent[d];
    }
    ASSERT_LT(place, static_cast<int64_t>(taken.size()));
    ASSERT_FALSE(taken[static_cast<size_t>(place)]);
    taken[static_cast<size_t>(place)] = true;
  }
}

TEST(Packed, TilesCoverEveryElementOfAnyProblem) {
  std::mt19937_64 random(12);
  int tiles = 0;
  for (int i = 0; i < 4000; ++i) {
    PermuteAxes axes = random_axes(random);
    for (int32_t d = 0; d < axes.rank; ++d) {
      if (random() % 3 == 0) axes.extent[d] *= 1 + static_cast<int64_t>(random() % 150);
    }
    const PermuteAxes fused = fuse(axes, 0, 0);
    const PackedTile t = packed_tile(fused);
    if (!t.fits) continue;
    ++tiles;
    expect_covering(t, fused);
    if (testing::Test::HasFatalFailure()) return;
  }
  EXPECT_GT(tiles, 1000);
}

TEST(Lines, TilesCoverEveryLineOfAnyProblem) {
  std::mt19937_64 random(13);
  int tiles = 0;
  for (int i = 0; i < 4000; ++i) {
    PermuteAxes axes;
    axes.element_bytes = int64_t{1} << (random() % 5);
    axes.add(1 + static_cast<int64_t>(random() % (random() % 4 == 0 ? 100000 : 700)), 1, 1);
    for (uint64_t d = random() % 7; d-- > 0;) {
      axes.add(2 + static_cast<int64_t>(random() % 200), 1 + static_cast<int64_t>(random() % 100000),
               axes.dst_stride[axes.rank - 1] * axes.extent[axes.rank - 1] + static_cast<int64_t>(random() % 3));
    }
    const LineTile t = line_tile(axes);
    if (!t.fits) continue;
    ++tiles;
    expect_boxes(t, axes);
    ASSERT_LE(t.pieces * t.lines, kLinePieces);
    ASSERT_GE(t.pieces * kLinePiece, t.extent[0] + t.sector_mask);
    ASSERT_EQ(t.lines * t.extent[0], t.volume);
    if (testing::Test::HasFatalFailure()) return;
  }
  EXPECT_GT(tiles, 1000);
}

TEST(Packed, RunsAreLongWhereTheAxesAreShort) {
  struct Expected {
    PermuteAxes axes;
    int64_t src_run;  // at least
    int64_t run;
  };
  const Expected all[] = {
      {permuted(4, {7264, 7296}, {1, 0}), 64, 64},
      {permuted(4, {9973, 10007}, {1, 0}), 64, 64},
      {permuted(4, {20, 16, 24, 14, 18, 26}, {5, 4, 3, 2, 1, 0}), 100, 40},
      {permuted(4, {20, 16, 24, 14, 18, 26}, {0, 3, 1, 4, 2, 5}), 50, 50},
      {permuted(4, {8, 24, 10, 12, 64, 40}, {5, 1, 3, 2, 4, 0}), 320, 64},
      {permuted(4, {5, 101, 6, 197, 101}, {3, 1, 4, 0, 2}), 101, 1000},
      {permuted(4, {4, 3001, 5003}, {1, 2, 0}), 256, 1024},
      {permuted(1, {1000000, 3}, {1, 0}), 192, 192},
      {permuted(16, {1000, 1000}, {1, 0}), 16, 16},
      {permuted(2, {512, 512, 512}, {2, 1, 0}), 64, 64},
  };
  for (const Expected& e : all) {
    const PermuteAxes fused = fuse(e.axes, 0, 0);
    const PackedTile t = packed_tile(fused);
    ASSERT_TRUE(t.fits);
    expect_covering(t, fused);
    EXPECT_GE(t.src_run, e.src_run);
    EXPECT_GE(t.run, e.run);
    EXPECT_LE(packing::conflicts(t, fused), 4);
  }
}

TEST(Fuse, KeepsEveryPairOfPlaces) {
  std::mt19937_64 random(10);
  int fewer = 0;
  int wider = 0;
  for (int i = 0; i < 1500; ++i) {
    const PermuteAxes axes = random_axes(random);
    const auto src_misalignment = static_cast<int32_t>(random() % 4 == 0 ? random() % 16 : 0);
    const auto dst_misalignment = static_cast<int32_t>(random() % 4 == 0 ? random() % 16 : 0);
    const PermuteAxes fused = fuse(axes, src_misalignment, dst_misalignment);
    ASSERT_EQ(moves_of(fused), moves_of(axes)) << i;
    ASSERT_GE(fused.rank, 1);
    for (int32_t d = 1; d < fused.rank; ++d) {
      ASSERT_GT(fused.extent[d], 1);
      ASSERT_GT(fused.dst_stride[d], fused.dst_stride[d - 1]);
    }
    if (fused.element_bytes > axes.element_bytes) {
      ++wider;
      ASSERT_EQ(src_misalignment % fused.element_bytes, 0);
      ASSERT_EQ(dst_misalignment % fused.element_bytes, 0);
      ASSERT_LE(fused.element_bytes, 16);
    }
    const auto longer = std::count_if(axes.extent, axes.extent + axes.rank, [](int64_t e) { return e > 1; });
    fewer += fused.rank < longer ? 1 : 0;
    // Fused once, nothing is left to fuse.
    const PermuteAxes again = fuse(fused, src_misalignment, dst_misalignment);
    ASSERT_EQ(again.rank, fused.rank);
    ASSERT_EQ(again.element_bytes, fused.element_bytes);
  }
  EXPECT_GT(fewer, 100);
  EXPECT_GT(wider, 100);
}

TEST(Fuse, LeavesTheAxesThatTheMoveNeeds) {
  struct Expected {
    PermuteAxes axes;
    PermuteForm form;
    int64_t element_bytes;
    std::vector<int64_t> extents;
  };
  const Expected all[] = {
      {permuted(4, {}, {}), PermuteForm::copy, 4, {1}},
      {permuted(4, {1, 1}, {1, 0}), PermuteForm::copy, 4, {1}},
      {permuted(4, {6, 7, 8}, {0, 1, 2}), PermuteForm::copy, 16, {84}},
      {permuted(4, {6, 7, 5}, {0, 1, 2}), PermuteForm::copy, 8, {105}},
      {permuted(4, {5, 7, 9}, {2, 0, 1}), PermuteForm::planes, 4, {35, 9}},
      {permuted(4, {5, 7, 9}, {1, 0, 2}), PermuteForm::rows, 4, {9, 5, 7}},
      {permuted(4, {5, 7, 12}, {1, 0, 2}), PermuteForm::rows, 16, {3, 5, 7}},
      {permuted(4, {5, 7, 4}, {1, 0, 2}), PermuteForm::planes, 16, {5, 7}},
      {permuted(1, {5, 7, 3}, {1, 0, 2}), PermuteForm::rows, 1, {3, 5, 7}},
      {permuted(1, {5, 7, 8}, {1, 0, 2}), PermuteForm::planes, 8, {5, 7}},
      {permuted(2, {5, 1, 7, 9, 1}, {3, 4, 0, 1, 2}), PermuteForm::planes, 2, {35, 9}},
      {permuted(8, {3, 4, 5, 6}, {2, 3, 0, 1}), PermuteForm::planes, 8, {12, 30}},
      {permuted(16, {3, 4, 5, 6}, {3, 2, 1, 0}), PermuteForm::planes, 16, {3, 4, 5, 6}},
  };
  for (const Expected& e : all) {
    const PermuteAxes fused = fuse(e.axes, 0, 0);
    EXPECT_EQ(form_of(fused), e.form);
    EXPECT_EQ(fused.element_bytes, e.element_bytes);
    EXPECT_EQ(std::vector<int64_t>(fused.extent, fused.extent + fused.rank), e.extents);
  }
}

TEST(Fuse, IsAConstantExpressionAndOverflowsNothing) {
  constexpr int64_t kHuge = int64_t{1} << 62;
  constexpr PermuteAxes kAxes = [] {
    PermuteAxes axes;
    axes.add(2, kHuge, kHuge);  // 2 * kHuge leaves 64 bits
    axes.add(1, INT64_MAX, INT64_MAX);
    axes.add(3, 1, 1);
    axes.add(2, 0, 3);
    return axes;
  }();
  constexpr PermuteAxes kFused = fuse(kAxes, 0, 0);
  static_assert(kFused.rank == 3 && kFused.extent[0] == 3 && kFused.dst_stride[2] == kHuge);
}

TEST(Fuse, WidensAsFarAsRunsStridesAndAddressesAllow) {
  // Runs of 12 elements of 2 bytes, some elements apart on either side.
  const auto wide = [](int64_t src_pitch, int64_t dst_pitch, int32_t src_misalignment, int32_t dst_misalignment) {
    PermuteAxes axes;
    axes.element_bytes = 2;
    axes.add(12, 1, 1);
    axes.add(5, src_pitch, dst_pitch);
    return fuse(axes, src_misalignment, dst_misalignment).element_bytes;
  };
  EXPECT_EQ(wide(24, 16, 0, 0), 8) << "runs of 24 bytes";
  EXPECT_EQ(wide(24, 16, 8, 8), 8);
  EXPECT_EQ(wide(24, 16, 4, 8), 4);
  EXPECT_EQ(wide(24, 16, 8, 2), 2);
  EXPECT_EQ(wide(24, 16, 1, 8), 2) << "what is misaligned stays";
  EXPECT_EQ(wide(26, 16, 0, 0), 4);
  EXPECT_EQ(wide(24, 13, 0, 0), 2);
}

template <class Word>
void expect_quotients(Word divisor, std::mt19937_64& random) {
  const Divisor<Word> fast(divisor);
  const auto check = [&](Word n) { ASSERT_EQ(fast.quotient(n), n / divisor) << n << " / " << divisor; };
  for (Word n = 0; n < 70; ++n) {
    check(n);
    check(static_cast<Word>(~n));
    check(static_cast<Word>(divisor * n));
    check(static_cast<Word>(divisor * n - 1));
  }
  for (int i = 0; i < 40; ++i) check(static_cast<Word>(random() >> (random() % 64)));
}

TEST(Division, ByMultiplicationIsDivision) {
  std::mt19937_64 random(11);
  for (uint32_t d = 1; d < 300; ++d) {
    expect_quotients<uint32_t>(d, random);
    expect_quotients<uint64_t>(d, random);
  }
  for (int bit = 0; bit < 64; ++bit) {
    for (const uint64_t d : {(uint64_t{1} << bit) - 1, uint64_t{1} << bit, (uint64_t{1} << bit) + 1, random() >> bit}) {
      if (d != 0) expect_quotients<uint64_t>(d, random);
      if (static_cast<uint32_t>(d) != 0) expect_quotients<uint32_t>(static_cast<uint32_t>(d), random);
    }
  }
  expect_quotients<uint32_t>(UINT32_MAX, random);
  expect_quotients<uint64_t>(UINT64_MAX, random);
}

}  // namespace
}  // namespace gpumem
