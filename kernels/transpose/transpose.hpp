// Launchers of the transposes: dst[j * dst_ld + i] = src[i * src_ld + j].
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace gpumem::kernels {

struct TransposeLaunch {
  const void* src;
  int64_t src_ld;  // elements
  void* dst;
  int64_t dst_ld;
  int64_t rows;  // of src
  int64_t cols;
  int64_t grid;  // blocks; each takes every grid-th tile
};

// element_bytes is 1, 2, 4, 8 or 16.
cudaError_t transpose_tile_vec16(int64_t element_bytes, const TransposeLaunch& launch, cudaStream_t stream);
cudaError_t transpose_tile_padded(int64_t element_bytes, const TransposeLaunch& launch, cudaStream_t stream);
cudaError_t transpose_tile_bytes(int64_t element_bytes, const TransposeLaunch& launch, cudaStream_t stream);

// Loads the kernels' code now instead of at the first launch.
cudaError_t transpose_preload();

}  // namespace gpumem::kernels
