// The families on a CUDA device: one launcher a variant, in the order of the table's CUDA rows.
#include <cstring>

#include "backend/cuda/cuda_backend.hpp"
#include "backend/launchers.hpp"
#include "kernels/fill/fill.hpp"
#include "kernels/transpose/transpose.hpp"

namespace gpumem {
namespace {

cudaStream_t native(NativeStream stream) noexcept { return static_cast<cudaStream_t>(stream); }

cudaError_t fill_memset(const kernels::FillLaunch& launch, cudaStream_t stream) {
  return cudaMemsetAsync(launch.dst, launch.word[0], static_cast<size_t>(launch.bytes), stream);
}

constexpr Launcher<decltype(&kernels::fill_vec16)> kFill[] = {
    {"memset", fill_memset},
    {"vec16", kernels::fill_vec16},
    {"bytes", kernels::fill_bytes},
};

}  // namespace

LauncherNames cuda_launcher_names() {
  LauncherNames names;
  add_reduce_launcher_names(names);
  add_transpose_launcher_names(names);
  add_names<FillFamily>(names, kFill);
  return names;
}

void CudaBackend::warmup() {
  const DeviceScope scope = enter();
  warm_up_reductions();
  GPUMEM_CUDA(kernels::transpose_preload());
  GPUMEM_CUDA(kernels::fill_preload());
}

void CudaBackend::fill(NativeStream stream, const FillArgs& args, Until until) {
  const DeviceScope scope = enter();
  const auto launcher = launch_of<FillFamily>(kFill, args.variant);
  require_open(stream);
  kernels::FillLaunch launch{args.dst, args.bytes, {}, args.shape.grid};
  std::memcpy(launch.word, args.word, sizeof launch.word);
  GPUMEM_CUDA(launcher(launch, native(stream)));
  finish(native(stream), until);
}

}  // namespace gpumem
