// The families on a CUDA device: one launcher a variant, in the order of the table's CUDA rows.
#include <cstring>

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

cudaError_t fill_memset(const kernels::FillLaunch& launch, kernels::Stream stream) {
  constexpr int64_t kMaxPitch = 0x7fffffff;  // the driver takes no pitch above
  const auto bytes = static_cast<size_t>(launch.bytes);
  if (launch.rows > 1 && launch.pitch <= kMaxPitch) {
    return cudaMemset2DAsync(launch.dst, static_cast<size_t>(launch.pitch), launch.word[0], bytes,
                             static_cast<size_t>(launch.rows), stream);
  }
  for (int64_t row = 0; row < launch.rows; ++row) {
    auto* dst = static_cast<unsigned char*>(launch.dst) + row * launch.pitch;
    const cudaError_t error = cudaMemsetAsync(dst, launch.word[0], bytes, stream);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

constexpr Launcher<decltype(&kernels::fill_vec16)> kFill[] = {
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
  add_names<FillFamily>(names, kFill);
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

void CudaBackend::fill(NativeStream stream, const FillArgs& args, Until until) {
  const DeviceScope scope = enter();
  const auto launcher = launch_of<FillFamily>(kFill, args.variant);
  require_open(stream);
  kernels::FillLaunch launch{args.dst, args.bytes, {}, args.shape.grid, args.rows, args.pitch};
  std::memcpy(launch.word, args.word, sizeof launch.word);
  GPUMEM_CUDA(launcher(launch, kernel_stream(stream)));
  finish(native(stream), until);
}

}  // namespace gpumem
