// The transposes on a CUDA device: one launcher a variant, in the order of the table's CUDA rows.
#include "kernels/transpose/transpose.hpp"
#include "backend/cuda/cuda_backend.hpp"
#include "backend/launchers.hpp"

namespace gpumem {
namespace {

constexpr Launcher<kernels::TransposeLauncher*> kTranspose[] = {
    {"in_place_tiles_vec16", kernels::transpose_in_place_tiles_vec16},
    {"in_place_tiles", kernels::transpose_in_place_tiles},
    {"in_place_shared", kernels::transpose_in_place_shared},
    {"in_place_c2r", kernels::transpose_in_place_c2r},
    {"aos_soa", kernels::transpose_aos_soa},
    {"byte_perm_vec16", kernels::transpose_byte_perm_vec16},
    {"tile_vec16", kernels::transpose_tile_vec16},
    {"tile_realigned", kernels::transpose_tile_realigned},
    {"byte_perm_words", kernels::transpose_byte_perm_words},
    {"tile_padded", kernels::transpose_tile_padded},
    {"shared_padded", kernels::transpose_shared_padded},
    {"shared", kernels::transpose_shared},
    {"naive", kernels::transpose_naive},
    {"tile_bytes", kernels::transpose_tile_bytes},
};

}  // namespace

void add_transpose_launcher_names(LauncherNames& names) { add_names<TransposeFamily>(names, kTranspose); }

void CudaBackend::transpose(NativeStream stream, const TransposeArgs& args, Until until) {
  const DeviceScope scope = enter();
  const auto launcher = launch_of<TransposeFamily>(kTranspose, args.variant);
  require_open(stream);
  const kernels::Stream on = kernel_stream(stream);
  kernels::TransposeLaunch launch{args.src,
                                  args.src_ld,
                                  args.dst,
                                  args.dst_ld,
                                  args.rows,
                                  args.cols,
                                  args.batches,
                                  args.src_batch_stride,
                                  args.dst_batch_stride,
                                  args.shape.grid,
                                  props_.shared_bytes_per_block};
  const int64_t bytes = launcher == kernels::transpose_in_place_c2r
                            ? kernels::transpose_in_place_c2r_scratch(args.element_bytes, launch)
                            : 0;
  {
    const StreamMemory::Block scratch(stream_memory_, props_.ordinal, static_cast<size_t>(bytes), on);
    launch.scratch = scratch.get();
    GPUMEM_CUDA(launcher(args.element_bytes, launch, on));
  }
  finish(on, until);
}

}  // namespace gpumem
