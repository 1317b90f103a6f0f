// Launchers of the transposes: dst[j * dst_ld + i] = src[i * src_ld + j] in each of `batches` matrices.
#pragma once

#include <cstdint>

#include "kernels/config.hpp"
#include "kernels/launch.hpp"
#include "kernels/transpose/params.hpp"

namespace gpumem::kernels {

// Weak: builds without CUDA have none.
using TransposeExecute = LaunchResult(const TransposeParams& params, const Config& config, const Launch& launch);
[[gnu::weak]] TransposeExecute transpose_tile_vec16;
[[gnu::weak]] TransposeExecute transpose_tile_bytes;
[[gnu::weak]] TransposeExecute transpose_aos_soa;
[[gnu::weak]] TransposeExecute transpose_byte_perm_vec16;  // elements of 1 and 2 bytes, as tile_vec16
[[gnu::weak]] TransposeExecute transpose_tile_realigned;   // of 4 and 8
[[gnu::weak]] TransposeExecute transpose_chunks;           // at their natural alignment, where chunk_plan() fits
[[gnu::weak]] TransposeExecute
    transpose_batched_scalar;  // at their natural alignment, of matrices of kBatchedScalarElements at most
// The textbook's.
[[gnu::weak]] TransposeExecute transpose_naive;
[[gnu::weak]] TransposeExecute transpose_shared;
[[gnu::weak]] TransposeExecute transpose_shared_padded;
// In place.
[[gnu::weak]] TransposeExecute transpose_in_place_tiles_vec16;  // of elements of 4, 8 and 16 bytes
[[gnu::weak]] TransposeExecute transpose_in_place_tiles;        // square matrices
[[gnu::weak]] TransposeExecute transpose_in_place_shared;       // others without gaps, of up to config.shared_bytes
[[gnu::weak]] TransposeExecute transpose_in_place_c2r;          // of which a line and some columns do
[[gnu::weak]] TransposeExecute transpose_in_place_scratch;      // without gaps, through as much scratch memory
[[gnu::weak]] TransposeExecute transpose_in_place_slots;        // any without gaps, through some scratch memory

// Loads the kernels' code now instead of at the first launch.
LaunchResult transpose_preload();

}  // namespace gpumem::kernels
