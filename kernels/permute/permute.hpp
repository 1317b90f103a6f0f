// Launchers of the permutations of axes, which come fused.
#pragma once

#include <cuda_runtime_api.h>

#include <span>

#include "kernels/launch_shape.hpp"
#include "kernels/permute/params.hpp"
#include "kernels/permute/pieces.hpp"
#include "kernels/stream.hpp"

namespace gpumem::kernels {

using PermuteLauncher = cudaError_t(const PermuteParams& params, const LaunchShape& shape, Stream stream);

// All but strided_scalar: elements at a multiple of their own size on both sides.
PermuteLauncher permute_tiled;             // PermuteForm::planes
PermuteLauncher permute_contiguous_boxes;  // where line_tile() fits
PermuteLauncher permute_packed;            // where packed_tile() fits
PermuteLauncher permute_strided_scalar;    // any

// All of them, on either side in memory that the device reaches.
cudaError_t permute_pieces(std::span<const MovedPiece> pieces, Stream stream);

// Load the kernels' code now instead of at the first launch.
cudaError_t permute_contiguous_boxes_preload();
cudaError_t permute_packed_preload();

}  // namespace gpumem::kernels
