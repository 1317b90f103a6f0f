// The transposes on a CUDA device: one launcher a variant, in the order of the table's CUDA rows.
#include "kernels/transpose/transpose.hpp"

#include <string_view>

#include "backend/cuda/cuda_backend.hpp"
#include "kernels/copy/copy.hpp"
#include "kernels/copy/limits.hpp"
#include "kernels/transpose/limits.hpp"

namespace gpumem {
namespace {

constexpr CudaLauncher<TransposeParams> kTranspose[] = {
    {"in_place_chunks", kernels::transpose_chunks},
    {"in_place_tiles_vec16", kernels::transpose_in_place_tiles_vec16},
    {"in_place_tiles", kernels::transpose_in_place_tiles},
    {"in_place_shared", kernels::transpose_in_place_shared},
    {"in_place_scratch", nullptr},  // takes scratch memory, as in_place_slots does
    {"in_place_c2r", kernels::transpose_in_place_c2r},
    {"in_place_slots", nullptr},
    {"batched_scalar", kernels::transpose_batched_scalar},
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

// By WayApart.
constexpr kernels::TransposeLauncher* kApart[] = {kernels::transpose_aos_soa, kernels::transpose_chunks,
                                                  kernels::transpose_tile_realigned, kernels::transpose_tile_vec16};

}  // namespace

CudaLaunchers<TransposeParams> TransposeFamily::on_cuda() noexcept { return {kTranspose, kernels::transpose_preload}; }

void CudaBackend::launch_other(const TransposeParams& params, const Choice& choice, const kernels::Stream& on) {
  const bool apart = kTranspose[choice.launcher].name == std::string_view("in_place_scratch");
  const int64_t all = params.elements() * params.element_bytes;
  const int64_t bytes = apart ? all : kernels::transpose_in_place_slots_scratch(params, choice.shape);
  if (!props_.memory_pools && capturing(on)) {
    fail(GPUMEM_UNSUPPORTED,
         "%s takes scratch memory, which a device without memory pools can't give a graph; the capture is still valid",
         kTranspose[choice.launcher].name);
  }
  const StreamMemory::Block scratch(stream_memory_, props_, static_cast<size_t>(bytes), on);
  if (!apart) {
    GPUMEM_CUDA(kernels::transpose_in_place_slots(params, choice.shape, scratch.get(), on));
    return;
  }
  TransposeParams out = params;
  out.dst = scratch.get();
  GPUMEM_CUDA(kApart[static_cast<size_t>(way_apart(out))](out, choice.shape, on));
  const CopyParams back = one_range(params.dst, scratch.get(), all);
  GPUMEM_CUDA(kernels::copy_vec16(back, {.grid = ceil_div(all, int64_t{16} * kCopyThreads)}, on));
}

}  // namespace gpumem
