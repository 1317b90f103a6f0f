// What the files of the transpose share.
#pragma once

#include "engine/plan.hpp"

namespace gpumem {

// What fits a staging buffer at a time of a matrix that lies elsewhere than the work: whole matrices, or a block of one. A block
// that is not the last of its row or column has a multiple of 64 rows and columns, so that each begins as aligned as the first.
struct TransposePiece {
  int64_t batches;
  int64_t rows;
  int64_t cols;
};
TransposePiece transpose_piece(const TransposeCall& call) noexcept;

// The problem of one piece: staged without gaps between its rows, at the start of an allocation.
TransposeProblem problem_of_piece(const TransposeProblem& whole, const TransposePiece& piece) noexcept;

// Transposes by pieces that are copied next to the work, complete on return. call is normal, and the plan is of its first piece.
void transpose_staged(Context& context, const Plan<TransposeFamily>& planned, const TransposeCall& call);

}  // namespace gpumem
