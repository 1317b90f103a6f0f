// Launchers of the transposes: dst[j * dst_ld + i] = src[i * src_ld + j] in each of `batches` matrices.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/launch_shape.hpp"
#include "kernels/stream.hpp"
#include "kernels/transpose/params.hpp"

namespace gpumem::kernels {

using TransposeLauncher = cudaError_t(const TransposeParams& params, const LaunchShape& shape, Stream stream);
TransposeLauncher transpose_tile_vec16;
TransposeLauncher transpose_tile_bytes;
TransposeLauncher transpose_aos_soa;
TransposeLauncher transpose_byte_perm_vec16;  // elements of 1 and 2 bytes, as tile_vec16
TransposeLauncher transpose_tile_realigned;   // of 4 and 8
TransposeLauncher transpose_chunks;           // at their natural alignment, where chunk_plan() fits
TransposeLauncher
    transpose_batched_scalar;  // at their natural alignment, of matrices of kBatchedScalarElements at most
// The textbook's.
TransposeLauncher transpose_naive;
TransposeLauncher transpose_shared;
TransposeLauncher transpose_shared_padded;
// In place.
TransposeLauncher transpose_in_place_tiles_vec16;  // of elements of 4, 8 and 16 bytes
TransposeLauncher transpose_in_place_tiles;        // square matrices
TransposeLauncher transpose_in_place_shared;       // others without gaps, of up to shape.shared_bytes
TransposeLauncher transpose_in_place_c2r;          // of which a line and some columns do
// Any without gaps. scratch: transpose_in_place_slots_scratch() bytes, until the work is done.
cudaError_t transpose_in_place_slots(const TransposeParams& params, const LaunchShape& shape, void* scratch,
                                     Stream stream);
int64_t transpose_in_place_slots_scratch(const TransposeParams& params, const LaunchShape& shape);

// Loads the kernels' code now instead of at the first launch.
cudaError_t transpose_preload();

}  // namespace gpumem::kernels
