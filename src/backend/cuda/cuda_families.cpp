// The families on a CUDA device: one launcher a variant, in the order of the table's CUDA rows.
#include "backend/cuda/cuda_backend.hpp"
#include "backend/launchers.hpp"
#include "kernels/axpby/axpby.hpp"
#include "kernels/copy/copy.hpp"
#include "kernels/fill/fill.hpp"
#include "kernels/permute/permute.hpp"
#include "kernels/resize/resize.hpp"
#include "kernels/transpose/transpose.hpp"

namespace gpumem {
namespace {

cudaStream_t native(NativeStream stream) noexcept { return static_cast<cudaStream_t>(stream); }

cudaError_t fill_memset(const FillParams& params, const LaunchShape&, kernels::Stream stream) {
  constexpr int64_t kMaxPitch = 0x7fffffff;  // the driver takes no pitch above
  const auto bytes = static_cast<size_t>(params.row_bytes());
  if (params.rows > 1 && params.pitch <= kMaxPitch) {
    return cudaMemset2DAsync(params.dst, static_cast<size_t>(params.pitch), params.word[0], bytes,
                             static_cast<size_t>(params.rows), stream);
  }
  for (int64_t row = 0; row < params.rows; ++row) {
    auto* dst = static_cast<unsigned char*>(params.dst) + row * params.pitch;
    const cudaError_t error = cudaMemsetAsync(dst, params.word[0], bytes, stream);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

constexpr Launcher<kernels::FillLauncher*> kFill[] = {
    {"memset", fill_memset},
    {"vec16", kernels::fill_vec16},
    {"bytes", kernels::fill_bytes},
    {"rows", kernels::fill_rows},
};

}  // namespace

LauncherNames cuda_launcher_names() {
  LauncherNames names;
  add_reduce_launcher_names(names);
  add_rows_launcher_names(names);
  add_copy_launcher_names(names);
  add_transpose_launcher_names(names);
  add_names(names, GPUMEM_FAMILY_FILL, kFill);
  add_axpby_launcher_names(names);
  add_permute_launcher_names(names);
  add_resize_launcher_names(names);
  return names;
}

void CudaBackend::warmup() {
  const DeviceScope scope = enter();
  warm_up_reductions();
  GPUMEM_CUDA(kernels::transpose_preload());
  GPUMEM_CUDA(kernels::fill_preload());
  GPUMEM_CUDA(kernels::axpby_preload());
  GPUMEM_CUDA(kernels::gather_scatter_preload());
  GPUMEM_CUDA(kernels::permute_preload());
  GPUMEM_CUDA(kernels::copy_preload());
  GPUMEM_CUDA(kernels::resize_preload());
}

void CudaBackend::fill(NativeStream stream, const FillParams& params, const Choice& choice, Until until) {
  const DeviceScope scope = enter();
  require_open(stream);
  GPUMEM_CUDA(kFill[choice.launcher].launch(params, choice.shape, kernel_stream(stream)));
  finish(native(stream), until);
}

}  // namespace gpumem
