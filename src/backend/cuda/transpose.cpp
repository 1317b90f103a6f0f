// The transposes on a CUDA device: one launcher a variant, in the order of the table's CUDA rows.
#include "kernels/transpose/transpose.hpp"
#include "backend/cuda/cuda_backend.hpp"

namespace gpumem {
namespace {

constexpr CudaLauncher<TransposeParams> kTranspose[] = {
    {"in_place_chunks", kernels::transpose_chunks},
    {"in_place_tiles_vec16", kernels::transpose_in_place_tiles_vec16},
    {"in_place_tiles", kernels::transpose_in_place_tiles},
    {"in_place_shared", kernels::transpose_in_place_shared},
    {"in_place_c2r", nullptr},  // takes scratch memory
    {"chunks", kernels::transpose_chunks},
    {"aos_soa", kernels::transpose_aos_soa},
    {"byte_perm_vec16", kernels::transpose_byte_perm_vec16},
    {"tile_vec16", kernels::transpose_tile_vec16},
    {"tile_realigned", kernels::transpose_tile_realigned},
    {"shared_padded", kernels::transpose_shared_padded},
    {"shared", kernels::transpose_shared},
    {"naive", kernels::transpose_naive},
    {"tile_bytes", kernels::transpose_tile_bytes},
};

}  // namespace

CudaLaunchers<TransposeParams> TransposeFamily::on_cuda() noexcept { return {kTranspose, kernels::transpose_preload}; }

void CudaBackend::launch_other(const TransposeParams& params, const LaunchShape& shape, const kernels::Stream& on) {
  const int64_t bytes = kernels::transpose_in_place_c2r_scratch(params, shape);
  const StreamMemory::Block scratch(stream_memory_, props_.ordinal, static_cast<size_t>(bytes), on);
  GPUMEM_CUDA(kernels::transpose_in_place_c2r(params, shape, scratch.get(), on));
}

}  // namespace gpumem
