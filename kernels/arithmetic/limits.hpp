// How a sum or a product over views is divided among threads, for the table and the kernels. Plain C++, no CUDA.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/arithmetic/params.hpp"

namespace gpumem {

constexpr int kArithmeticThreads = 256;
// Elements of each source that a thread keeps in flight.
constexpr int kArithmeticEach = 4;
// Elements of a row of z per block. They are few, so that a block's tile is tall. Then a source that is shifted by a
// row finds in L1 the elements that another source read.
constexpr int64_t kArithmeticLanes = 64;
// Axes along which a block extends.
constexpr int32_t kTileAxes = 3;
// Sources of the kernels that have their number as a constant.
constexpr int kFewTerms = 8;
constexpr int32_t kTermsInMemory = 3;  // the same with factors in memory
// Elements that a thread of the other kernels computes at a time.
constexpr int kArithmeticAtOnce = 8;

// Whether a thread takes elements of a row that are a warp apart. This needs many sources whose rows all have no
// padding: the distance is then a constant, which an access adds at no cost. Rows must keep at least half of a warp's
// loads and of a block's warps busy.
constexpr bool arithmetic_by_rows(const ArithmeticParams& p) noexcept {
  if (p.terms <= 3 || p.rank < 2) return false;
  const int64_t length = p.extents[p.rank - 1];
  if (length < 32 * kArithmeticEach / 2 || p.elements() / length < kArithmeticThreads / 32 / 2) return false;
  for (int32_t k = 0; k < p.terms; ++k) {
    if (p.x_strides[k][p.rank - 1] != 1) return false;
  }
  return p.z_strides[p.rank - 1] == 1;
}

// Elements, or rows of elements, per thread of a large problem. by_rows: arithmetic_by_rows(), if the kernel can do it. A thread first computes offsets for every source, so
// more steps spread that cost. Tiles that are too tall scatter the reads of few sources. H200, of a plain copy's rate:
// five points of f32 0.75 with 4 rows and 0.70 with 16; a product 0.88 with 8 elements and 0.77 with 16.
constexpr int64_t arithmetic_steps(const ArithmeticParams& p, int64_t element, bool by_rows) noexcept {
  return by_rows ? 4 : p.terms > 3 ? 16 : 32 / element;
}

// A block's threads extend along the first three axes, and each continues along one of them. A block has one index along
// each outer axis. Axis 0 has the shortest stride in z. Axes that the parameters lack have extent 1 and stride 0.
struct ViewTiles {
  int32_t rank = 0;
  int32_t axis[kMaxViewRank] = {};  // of the parameters
  int64_t extent[kMaxViewRank] = {1, 1, 1, 1, 1, 1, 1, 1};
  int64_t lanes[kTileAxes] = {};
  int64_t across = 1;  // elements per thread along axis 0, a warp apart
  int32_t along = kTileAxes - 1;
  int64_t steps = 1;

  constexpr int64_t length(int32_t a) const noexcept {
    return lanes[a] * (a == 0 ? across : 1) * (a == along ? steps : 1);
  }
  constexpr int64_t count(int32_t a) const noexcept { return (extent[a] - 1) / length(a) + 1; }
  constexpr int64_t elements() const noexcept { return length(0) * length(1) * length(2); }
  constexpr int64_t blocks() const noexcept {
    int64_t blocks = count(0) * count(1) * count(2);
    for (int32_t a = kTileAxes; a < rank; ++a) blocks *= extent[a];
    return blocks;
  }
  constexpr int64_t stride(const int64_t* strides, int32_t a) const noexcept { return a < rank ? strides[axis[a]] : 0; }
};

// If there are outer axes, they are the shortest ones, so that few threads of a block are idle. Lengths that fill a
// block are equal.
constexpr void choose_axes(ViewTiles& tiles, const ArithmeticParams& p) noexcept {
  constexpr int64_t kLong = 16;
  tiles.rank = p.rank;
  for (int32_t a = 0; a < p.rank; ++a) tiles.axis[a] = p.rank - 1 - a;
  const auto length = [&](int32_t a) { return p.extents[tiles.axis[a]] < kLong ? p.extents[tiles.axis[a]] : kLong; };
  for (int32_t left = p.rank - kTileAxes; left > 0; --left) {
    int32_t shortest = kTileAxes + left - 1;
    for (int32_t a = shortest - 1; a > 0; --a) {
      if (length(a) < length(shortest)) shortest = a;
    }
    const int32_t outer = tiles.axis[shortest];
    for (int32_t a = shortest; a + 1 < kTileAxes + left; ++a) tiles.axis[a] = tiles.axis[a + 1];
    tiles.axis[kTileAxes + left - 1] = outer;
  }
  for (int32_t a = 0; a < p.rank; ++a) tiles.extent[a] = p.extents[tiles.axis[a]];
}

// The length of the parts if `extent` is divided into the fewest parts of at most `most`, as evenly as possible.
constexpr int64_t even_part(int64_t extent, int64_t most) noexcept {
  const int64_t parts = (extent - 1) / most + 1;
  return (extent - 1) / parts + 1;
}

constexpr ViewTiles view_tiles(const ArithmeticParams& p, int64_t steps, bool by_rows) noexcept {
  ViewTiles best;
  choose_axes(best, p);
  best.steps = steps;
  if (by_rows) best.across = kArithmeticEach;
  int64_t left = kArithmeticThreads;
  for (int32_t a = 0; a < kTileAxes; ++a) {
    best.lanes[a] = a > 0     ? even_part(best.extent[a], left)
                    : by_rows ? 32
                              : even_part(best.extent[a], kArithmeticLanes);
    left /= best.lanes[a];
  }
  if (!by_rows) best.lanes[0] = even_part(best.extent[0], kArithmeticThreads / (best.lanes[1] * best.lanes[2]));
  // Threads continue along the outermost axis, unless another axis leaves far fewer threads idle.
  for (int32_t a = kTileAxes - 2; a >= (by_rows ? 1 : 0); --a) {
    ViewTiles other = best;
    other.along = a;
    if (other.blocks() < best.blocks() - best.blocks() / 5) best = other;
  }
  return best;
}

// Threads of a block that forms dot products. A leaf of kernels/order.hpp has a row per warp.
constexpr int kDotThreads = 256;

// z and the operands of a kernel with dot products have the strides of z, or one other list of strides.
struct StrideSets {
  bool fit = true;
  uint32_t other = 0;  // bit k: source k has the other strides; bit kMaxTerms + k: w[k]
  const int64_t* strides[2] = {};
};
constexpr StrideSets stride_sets(const ArithmeticParams& p) noexcept {
  StrideSets sets;
  sets.strides[0] = sets.strides[1] = p.z_strides;
  const auto enter = [&](const int64_t* strides, int32_t bit) {
    if (std::equal(strides, strides + p.rank, p.z_strides)) return;
    if (sets.other == 0) sets.strides[1] = strides;
    sets.other |= uint32_t{1} << bit;
    sets.fit = sets.fit && std::equal(strides, strides + p.rank, sets.strides[1]);
  };
  for (int32_t k = 0; k < p.terms; ++k) enter(p.x_strides[k], k);
  for (int32_t k = 0; k < p.dots; ++k) enter(p.w_strides[k], kMaxTerms + k);
  return sets;
}

// A launch, and the launches of view reductions that follow it if there are dot products.
struct GeneralConfig {
  ViewTiles tiles;
  int64_t dot_blocks = 0;
  int64_t dot_tile = 0;
  int32_t dot_threads = 0;
};

}  // namespace gpumem
