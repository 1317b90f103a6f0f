// Launchers of the transposes: dst[j * dst_ld + i] = src[i * src_ld + j] in each of `batches` matrices.
#pragma once

#include <cstdint>

#include "kernels/config.hpp"
#include "kernels/launch.hpp"
#include "kernels/transpose/params.hpp"

namespace gpumem::kernels {

using TransposeExecute = LaunchResult(const TransposeParams& params, const Config& config, const Launch& launch);
TransposeExecute transpose_tile_vec16;
TransposeExecute transpose_tile_bytes;
TransposeExecute transpose_aos_soa;
TransposeExecute transpose_byte_perm_vec16;  // elements of 1 and 2 bytes, as tile_vec16
TransposeExecute transpose_tile_realigned;   // of 4 and 8
TransposeExecute transpose_chunks;           // at their natural alignment, where chunk_plan() fits
TransposeExecute transpose_batched_scalar;  // at their natural alignment, of matrices of kBatchedScalarElements at most
// The textbook's.
TransposeExecute transpose_naive;
TransposeExecute transpose_shared;
TransposeExecute transpose_shared_padded;
// In place.
TransposeExecute transpose_in_place_tiles_vec16;  // of elements of 4, 8 and 16 bytes
TransposeExecute transpose_in_place_tiles;        // square matrices
TransposeExecute transpose_in_place_shared;       // others without gaps, of up to config.shared_bytes
TransposeExecute transpose_in_place_c2r;          // of which a line and some columns do
TransposeExecute transpose_in_place_scratch;      // without gaps, through as much scratch memory
TransposeExecute transpose_in_place_slots;        // any without gaps, through some scratch memory

// Loads the kernels' code now instead of at the first launch.
LaunchResult transpose_preload();

}  // namespace gpumem::kernels
