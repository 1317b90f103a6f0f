// How the elements of a sum or a product over views are shared out, for the table and the kernels. Plain C++, no CUDA.
#pragma once

#include <cstdint>

#include "kernels/arithmetic/params.hpp"

namespace gpumem {

constexpr int kArithmeticThreads = 256;
// Elements of each source that a thread has on their way at once.
constexpr int kArithmeticEach = 4;
// Neighbours in a row of z that a block takes: few, so that its tile is tall, and sources that are shifted by a row find in L1 what
// another one read.
constexpr int64_t kArithmeticLanes = 64;

// Whether threads take elements of a row that are a warp apart: of sums of many sources whose rows all lie without gaps, for there that distance
// is a constant, which an access adds by itself. And of rows that leave no more than half of a warp's loads and of a block's warps without
// work.
constexpr bool arithmetic_by_rows(const ArithmeticParams& p) noexcept {
  if (p.terms <= 3 || p.rank < 2) return false;
  const int64_t length = p.extents[p.rank - 1];
  if (length < 32 * kArithmeticEach / 2 || p.elements() / length < kArithmeticThreads / 32 / 2) return false;
  for (int32_t k = 0; k < p.terms; ++k) {
    if (p.x_strides[k][p.rank - 1] != 1) return false;
  }
  return p.z_strides[p.rank - 1] == 1;
}

// Elements, or rows of them, that a thread takes of a large problem: each has offsets to work out for every source first, and tiles that are
// too tall scatter what few sources read (H200, of a plain copy's rate: five points of f32 0.72, 0.75, 0.73 and 0.70 for 2, 4, 8 and 16 rows of 4,
// a product 0.87, 0.88, 0.77 and 0.69 for 4, 8, 16 and 32; of f64 0.97, 0.94, 0.88 and 0.82).
constexpr int64_t arithmetic_steps(const ArithmeticParams& p, int64_t element) noexcept {
  return arithmetic_by_rows(p) ? 4 : p.terms > 3 ? 16 : 32 / element;
}

// A block's threads lie along all three axes, and go on along one of them. Axis 0 is that of the shortest stride in z; axes that the
// parameters do not have are of extent 1 and stride 0.
struct ViewTiles {
  int32_t rank = 0;
  int64_t extent[kMaxViewRank] = {1, 1, 1};
  int64_t lanes[kMaxViewRank] = {};
  int64_t across = 1;  // elements of a thread along axis 0, a warp apart
  int32_t along = kMaxViewRank - 1;
  int64_t steps = 1;

  constexpr int64_t length(int32_t a) const noexcept {
    return lanes[a] * (a == 0 ? across : 1) * (a == along ? steps : 1);
  }
  constexpr int64_t count(int32_t a) const noexcept { return (extent[a] - 1) / length(a) + 1; }
  constexpr int64_t elements() const noexcept { return length(0) * length(1) * length(2); }
  constexpr int64_t blocks() const noexcept { return count(0) * count(1) * count(2); }
  constexpr int64_t stride(const int64_t* strides, int32_t a) const noexcept {
    return a < rank ? strides[rank - 1 - a] : 0;
  }
};

// The length of the fewest parts of at most `most`, as even as they can be.
constexpr int64_t even_part(int64_t extent, int64_t most) noexcept {
  const int64_t parts = (extent - 1) / most + 1;
  return (extent - 1) / parts + 1;
}

constexpr ViewTiles view_tiles(const ArithmeticParams& p, int64_t steps) noexcept {
  ViewTiles best;
  best.rank = p.rank;
  best.steps = steps;
  for (int32_t a = 0; a < p.rank; ++a) best.extent[a] = p.extents[p.rank - 1 - a];
  const bool by_rows = arithmetic_by_rows(p);
  if (by_rows) best.across = kArithmeticEach;
  int64_t left = kArithmeticThreads;
  for (int32_t a = 0; a < kMaxViewRank; ++a) {
    best.lanes[a] = a > 0     ? even_part(best.extent[a], left)
                    : by_rows ? 32
                              : even_part(best.extent[a], kArithmeticLanes);
    left /= best.lanes[a];
  }
  if (!by_rows) best.lanes[0] = even_part(best.extent[0], kArithmeticThreads / (best.lanes[1] * best.lanes[2]));
  // On along the outermost axis, unless another one leaves many fewer threads without work.
  for (int32_t a = kMaxViewRank - 2; a >= (by_rows ? 1 : 0); --a) {
    ViewTiles other = best;
    other.along = a;
    if (other.blocks() < best.blocks() - best.blocks() / 5) best = other;
  }
  return best;
}

}  // namespace gpumem
