// The families on a CUDA device.
#include "backend/cuda/cuda_backend.hpp"
#include "backend/launchers.hpp"
#include "kernels/transpose/transpose.hpp"

namespace gpumem {

LauncherNames cuda_launcher_names() {
  LauncherNames names;
  add_reduce_launcher_names(names);
  add_rows_launcher_names(names);
  add_transpose_launcher_names(names);
  LaunchedFamilies::for_each([&]<class Family>() { add_names(names, Family::id, Family::on_cuda().all); });
  return names;
}

void CudaBackend::warmup() {
  const DeviceScope scope = enter();
  warm_up_reductions();
  GPUMEM_CUDA(kernels::transpose_preload());
  GPUMEM_CUDA(kernels::gather_scatter_preload());
  LaunchedFamilies::for_each([]<class Family>() { GPUMEM_CUDA(Family::on_cuda().preload()); });
}

void CudaBackend::launch(NativeStream stream, const AnyWork& work, const Choice& choice, Until until) {
  const DeviceScope scope = enter();
  require_open(stream);
  const kernels::Stream on = kernel_stream(stream);
  std::visit(
      [&]<class Family>(const Work<Family>& of) {
        const auto launch = Family::on_cuda().all[static_cast<size_t>(choice.launcher)].launch;
        if constexpr (std::is_same_v<Family, ResizeFamily>) {
          if (launch == nullptr) return resize_by_texture(of.params, choice.shape, on);
        }
        GPUMEM_CUDA(launch(of.params, choice.shape, on));
      },
      work);
  finish(on, until);
}

}  // namespace gpumem
