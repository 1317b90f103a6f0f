// Launchers for permutations of fused axes.
#pragma once

#include <span>

#include "kernels/config.hpp"
#include "kernels/launch.hpp"
#include "kernels/permute/params.hpp"
#include "kernels/permute/pieces.hpp"
#include "kernels/transpose/params.hpp"

namespace gpumem::kernels {

// All but strided_scalar need elements that are aligned to their own size on both sides.
Execute<PermuteParams> permute_copy;              // PermuteForm::copy
Execute<PermuteParams> permute_tiled;             // PermuteForm::planes
Execute<PermuteParams> permute_contiguous_boxes;  // if line_tile() fits
Execute<PermuteParams> permute_packed;            // if packed_tile() fits
Execute<PermuteParams> permute_strided_scalar;    // any
Execute<TransposeParams> transpose_tiled;         // the same for transposed_axes()

// Moves all pieces. Both sides are memory that the device can access.
LaunchResult permute_pieces(std::span<const MovedPiece> pieces, Stream stream);

LaunchResult permute_preload();
LaunchResult permute_contiguous_boxes_preload();
LaunchResult permute_packed_preload();
LaunchResult permute_pieces_preload();

}  // namespace gpumem::kernels
