// Launchers for transposes: dst[j * dst_ld + i] = src[i * src_ld + j] in each of `batches` matrices.
#pragma once

#include <cstdint>

#include "kernels/config.hpp"
#include "kernels/launch.hpp"
#include "kernels/transpose/params.hpp"

namespace gpumem::kernels {

Execute<TransposeParams> transpose_tile_vec16;
Execute<TransposeParams> transpose_tile_bytes;
Execute<TransposeParams> transpose_aos_soa;
Execute<TransposeParams> transpose_byte_perm_vec16;  // elements of 1 and 2 bytes, otherwise as tile_vec16
Execute<TransposeParams> transpose_tile_realigned;   // of 4 and 8
Execute<TransposeParams> transpose_chunks;           // at their natural alignment, if chunk_plan() fits
Execute<TransposeParams>
    transpose_batched_scalar;  // at their natural alignment, of matrices of at most kBatchedScalarElements
Execute<TransposeParams> transpose_naive;
Execute<TransposeParams> transpose_shared;
Execute<TransposeParams> transpose_shared_padded;
Execute<TransposeParams> transpose_in_place_tiles_vec16;  // of elements of 4, 8 and 16 bytes
Execute<TransposeParams> transpose_in_place_tiles;        // square matrices
Execute<TransposeParams> transpose_in_place_shared;       // others without padding, of up to config.shared_bytes
Execute<TransposeParams> transpose_in_place_c2r;          // others, if a line and some columns fit that
Execute<TransposeParams> transpose_in_place_scratch;      // without padding, through scratch memory of the same size
Execute<TransposeParams> transpose_in_place_slots;        // any without padding, through some scratch memory

LaunchResult transpose_preload();

}  // namespace gpumem::kernels
