// The families on a CUDA device: one launcher a variant, in the order of the table's CUDA rows.
#include "backend/cuda/cuda_backend.hpp"
#include "backend/launchers.hpp"
#include "kernels/fill/fill.hpp"
#include "kernels/resize/resize.hpp"
#include "kernels/transpose/transpose.hpp"

namespace gpumem {
namespace {

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

constexpr CudaLauncher<FillParams> kFill[] = {
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
  add_transpose_launcher_names(names);
  add_resize_launcher_names(names);
  LaunchedFamilies::for_each([&]<class Family>() { add_names(names, Family::id, Family::on_cuda().all); });
  return names;
}

void CudaBackend::warmup() {
  const DeviceScope scope = enter();
  warm_up_reductions();
  GPUMEM_CUDA(kernels::transpose_preload());
  GPUMEM_CUDA(kernels::gather_scatter_preload());
  GPUMEM_CUDA(kernels::resize_preload());
  LaunchedFamilies::for_each([]<class Family>() { GPUMEM_CUDA(Family::on_cuda().preload()); });
}

CudaLaunchers<FillParams> FillFamily::on_cuda() noexcept { return {kFill, kernels::fill_preload}; }

void CudaBackend::launch(NativeStream stream, const AnyWork& work, const Choice& choice, Until until) {
  const DeviceScope scope = enter();
  require_open(stream);
  const kernels::Stream on = kernel_stream(stream);
  std::visit(
      [&]<class Family>(const Work<Family>& of) {
        GPUMEM_CUDA(Family::on_cuda().all[static_cast<size_t>(choice.launcher)].launch(of.params, choice.shape, on));
      },
      work);
  finish(on, until);
}

}  // namespace gpumem
