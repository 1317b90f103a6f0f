// What the files of the transpose share.
#pragma once

#include "ops/plan.hpp"

namespace gpumem {

// Whether one of the operands lies on the other side of the link to the device, and goes over it in pieces.
inline bool crosses(const Placement& placement) noexcept { return placement.stage_src || placement.bring_dst; }

// What fits a buffer of the device at a time of a matrix that lies in host memory: whole matrices, or a block of one, counted as in
// src. Such a block has whole rows of the matrix in host memory where they are short enough; and where it is not the last of its row or
// column, a multiple of 64 rows and columns, so that each begins as aligned as the first.
struct TransposePiece {
  int64_t batches;
  int64_t rows;
  int64_t cols;
};
TransposePiece transpose_piece(const TransposeParams& call, const Placement& placement) noexcept;

// The first piece of that size: the moved side without gaps between its rows, at the start of an allocation.
TransposeParams params_of_piece(const TransposeParams& whole, const TransposePiece& piece,
                                const Placement& placement) noexcept;

// Transposes between host and device, complete on return.
void transpose_across(Context& context, const TransposePlan& planned);

}  // namespace gpumem
