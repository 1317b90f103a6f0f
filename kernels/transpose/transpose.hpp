// Launchers of the transposes: dst[j * dst_ld + i] = src[i * src_ld + j] in each of `batches` matrices.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/stream.hpp"

namespace gpumem::kernels {

struct TransposeLaunch {
  const void* src;
  int64_t src_ld;  // elements
  void* dst;
  int64_t dst_ld;
  int64_t rows;  // of src
  int64_t cols;
  int64_t batches;
  int64_t src_batch_stride;  // elements
  int64_t dst_batch_stride;
  int64_t grid;  // blocks; each takes every grid-th tile
  // Of those in place that are not square.
  int64_t shared_bytes = 0;  // what a block may have
  void* scratch = nullptr;   // transpose_in_place_c2r_scratch() bytes, until the launch is done
};

// element_bytes is 1, 2, 4, 8 or 16.
using TransposeLauncher = cudaError_t(int64_t element_bytes, const TransposeLaunch& launch, Stream stream);
TransposeLauncher transpose_tile_vec16;
TransposeLauncher transpose_tile_padded;
TransposeLauncher transpose_tile_bytes;
TransposeLauncher transpose_aos_soa;
TransposeLauncher transpose_byte_perm_vec16;  // elements of 1 and 2 bytes, as tile_vec16
TransposeLauncher transpose_byte_perm_words;  // elements of 1 and 2 bytes
TransposeLauncher transpose_tile_realigned;   // of 4 and 8
// The textbook's.
TransposeLauncher transpose_naive;
TransposeLauncher transpose_shared;
TransposeLauncher transpose_shared_padded;
// In place.
TransposeLauncher transpose_in_place_tiles_vec16;  // of elements of 4, 8 and 16 bytes
TransposeLauncher transpose_in_place_tiles;        // square matrices
TransposeLauncher transpose_in_place_shared;       // others without gaps, of up to shared_bytes
TransposeLauncher transpose_in_place_c2r;          // others without gaps
int64_t transpose_in_place_c2r_scratch(int64_t element_bytes, const TransposeLaunch& launch);

// Loads the kernels' code now instead of at the first launch.
cudaError_t transpose_preload();

}  // namespace gpumem::kernels
