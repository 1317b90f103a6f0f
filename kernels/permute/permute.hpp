// Launchers of the permutations of axes, which come fused.
#pragma once

#include <span>

#include "kernels/config.hpp"
#include "kernels/launch.hpp"
#include "kernels/permute/params.hpp"
#include "kernels/permute/pieces.hpp"

namespace gpumem::kernels {

using PermuteExecute = LaunchResult(const PermuteParams& params, const Config& config, const Launch& launch);

// All but strided_scalar: elements at a multiple of their own size on both sides.
PermuteExecute permute_copy;              // PermuteForm::copy
PermuteExecute permute_tiled;             // PermuteForm::planes
PermuteExecute permute_contiguous_boxes;  // where line_tile() fits
PermuteExecute permute_packed;            // where packed_tile() fits
PermuteExecute permute_strided_scalar;    // any

// All of them, on either side in memory that the device reaches.
LaunchResult permute_pieces(std::span<const MovedPiece> pieces, Stream stream);

LaunchResult permute_preload();
// Load the kernels' code now instead of at the first launch.
LaunchResult permute_contiguous_boxes_preload();
LaunchResult permute_packed_preload();

}  // namespace gpumem::kernels
