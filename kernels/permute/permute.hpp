// Launchers of the permutations of axes, which come fused (kernels/permute/axes.hpp).
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/permute/axes.hpp"
#include "kernels/stream.hpp"

namespace gpumem::kernels {

struct PermuteLaunch {
  PermuteAxes axes;
  const void* src;
  void* dst;
  int64_t grid;  // blocks; each takes every grid-th piece
};

// All but strided_scalar: elements at a multiple of their own size on both sides.
cudaError_t permute_contiguous_runs(const PermuteLaunch& launch, Stream stream);   // PermuteForm::rows and copy
cudaError_t permute_tiled(const PermuteLaunch& launch, Stream stream);             // PermuteForm::planes
cudaError_t permute_contiguous_boxes(const PermuteLaunch& launch, Stream stream);  // where line_tile() fits
cudaError_t permute_packed(const PermuteLaunch& launch, Stream stream);            // where packed_tile() fits
cudaError_t permute_strided_scalar(const PermuteLaunch& launch, Stream stream);    // any

// Loads the kernels' code now instead of at the first launch.
cudaError_t permute_preload();
cudaError_t permute_contiguous_boxes_preload();
cudaError_t permute_packed_preload();

}  // namespace gpumem::kernels
