// The transposes on a CUDA device: one launcher a variant, in the order of the table's CUDA rows.
#include "kernels/transpose/transpose.hpp"
#include "backend/cuda/cuda_backend.hpp"
#include "backend/launchers.hpp"

namespace gpumem {
namespace {

constexpr Launcher<kernels::TransposeLauncher*> kTranspose[] = {
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
    {"tile_padded", kernels::transpose_tile_padded},
    {"shared_padded", kernels::transpose_shared_padded},
    {"shared", kernels::transpose_shared},
    {"naive", kernels::transpose_naive},
    {"tile_bytes", kernels::transpose_tile_bytes},
};

}  // namespace

void add_transpose_launcher_names(LauncherNames& names) { add_names(names, GPUMEM_FAMILY_TRANSPOSE, kTranspose); }

void CudaBackend::transpose(NativeStream stream, const TransposeParams& params, const Choice& choice, Until until) {
  const DeviceScope scope = enter();
  require_open(stream);
  const kernels::Stream on = kernel_stream(stream);
  if (auto* const launch = kTranspose[choice.launcher].launch; launch != nullptr) {
    GPUMEM_CUDA(launch(params, choice.shape, on));
  } else {
    const int64_t bytes = kernels::transpose_in_place_c2r_scratch(params, choice.shape);
    const StreamMemory::Block scratch(stream_memory_, props_.ordinal, static_cast<size_t>(bytes), on);
    GPUMEM_CUDA(kernels::transpose_in_place_c2r(params, choice.shape, scratch.get(), on));
  }
  finish(on, until);
}

}  // namespace gpumem
