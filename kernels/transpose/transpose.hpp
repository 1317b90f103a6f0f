// Launchers of the transposes: dst[j * dst_ld + i] = src[i * src_ld + j] in each of `batches` matrices.
#pragma once

#include <cstdint>

#include "kernels/config.hpp"
#include "kernels/launch.hpp"
#include "kernels/transpose/params.hpp"

namespace gpumem::kernels {

Execute<TransposeParams> transpose_tile_vec16;
Execute<TransposeParams> transpose_tile_bytes;
Execute<TransposeParams> transpose_aos_soa;
Execute<TransposeParams> transpose_byte_perm_vec16;  // elements of 1 and 2 bytes, as tile_vec16
Execute<TransposeParams> transpose_tile_realigned;   // of 4 and 8
Execute<TransposeParams> transpose_chunks;           // at their natural alignment, where chunk_plan() fits
Execute<TransposeParams>
    transpose_batched_scalar;  // at their natural alignment, of matrices of kBatchedScalarElements at most
// The textbook's.
Execute<TransposeParams> transpose_naive;
Execute<TransposeParams> transpose_shared;
Execute<TransposeParams> transpose_shared_padded;
// In place.
Execute<TransposeParams> transpose_in_place_tiles_vec16;  // of elements of 4, 8 and 16 bytes
Execute<TransposeParams> transpose_in_place_tiles;        // square matrices
Execute<TransposeParams> transpose_in_place_shared;       // others without gaps, of up to config.shared_bytes
Execute<TransposeParams> transpose_in_place_c2r;          // of which a line and some columns do
Execute<TransposeParams> transpose_in_place_scratch;      // without gaps, through as much scratch memory
Execute<TransposeParams> transpose_in_place_slots;        // any without gaps, through some scratch memory

// Loads the kernels' code now instead of at the first launch.
LaunchResult transpose_preload();

}  // namespace gpumem::kernels
