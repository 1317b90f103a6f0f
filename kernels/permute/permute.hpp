// Launchers of the permutations of axes, which come fused.
#pragma once

#include <span>

#include "kernels/config.hpp"
#include "kernels/launch.hpp"
#include "kernels/permute/params.hpp"
#include "kernels/permute/pieces.hpp"

namespace gpumem::kernels {

// All but strided_scalar: elements at a multiple of their own size on both sides.
Execute<PermuteParams> permute_copy;              // PermuteForm::copy
Execute<PermuteParams> permute_tiled;             // PermuteForm::planes
Execute<PermuteParams> permute_contiguous_boxes;  // where line_tile() fits
Execute<PermuteParams> permute_packed;            // where packed_tile() fits
Execute<PermuteParams> permute_strided_scalar;    // any

// All of them, on either side in memory that the device reaches.
LaunchResult permute_pieces(std::span<const MovedPiece> pieces, Stream stream);

LaunchResult permute_preload();
// Load the kernels' code now instead of at the first launch.
LaunchResult permute_contiguous_boxes_preload();
LaunchResult permute_packed_preload();

}  // namespace gpumem::kernels
