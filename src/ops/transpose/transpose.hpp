// Pieces of transposes that cross PCIe or NVLink.
#pragma once

#include "ops/plan.hpp"

namespace gpumem {

// Whether one operand is in host memory and travels to or from the device in pieces.
inline bool crosses(const Placement& placement) noexcept { return placement.stage_src || placement.bring_dst; }

// A part of the host operand that fits a device buffer, in rows and columns of src: whole matrices, or a block of one.
// A block has whole rows of the matrix in host memory if they are short enough. Blocks before the last have a multiple
// of 64 rows and columns, so each block is as aligned as the first.
struct TransposePiece {
  int64_t batches;
  int64_t rows;
  int64_t cols;
};
TransposePiece transpose_piece(const TransposeParams& call, const Placement& placement) noexcept;

// The first piece of that size. The staged side has no padding and starts at the beginning of an allocation.
TransposeParams params_of_piece(const TransposeParams& whole, const TransposePiece& piece,
                                const Placement& placement) noexcept;

// Complete on return.
void transpose_across(Context& context, const TransposePlan& planned);

}  // namespace gpumem
