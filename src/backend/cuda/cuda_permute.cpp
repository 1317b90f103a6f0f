// Permutations of axes on a CUDA device.
#include "backend/cuda/cuda_backend.hpp"
#include "backend/launchers.hpp"
#include "kernels/permute/permute.hpp"

namespace gpumem {
namespace {

cudaError_t permute_copy(const kernels::PermuteLaunch& launch, cudaStream_t stream) {
  const auto bytes = static_cast<size_t>(launch.axes.elements() * launch.axes.element_bytes);
  return cudaMemcpyAsync(launch.dst, launch.src, bytes, cudaMemcpyDefault, stream);
}

constexpr Launcher<decltype(&kernels::permute_rows)> kPermute[] = {
    {"copy", permute_copy},          {"lines", kernels::permute_lines}, {"packed", kernels::permute_packed},
    {"rows", kernels::permute_rows}, {"tiles", kernels::permute_tiles}, {"elements", kernels::permute_elements},
};

}  // namespace

void add_permute_launcher_names(LauncherNames& names) { add_names<PermuteFamily>(names, kPermute); }

void CudaBackend::permute(NativeStream stream, const PermuteArgs& args, Until until) {
  const DeviceScope scope = enter();
  const auto launcher = launch_of<PermuteFamily>(kPermute, args.variant);
  require_open(stream);
  const auto native = static_cast<cudaStream_t>(stream);
  GPUMEM_CUDA(launcher({args.axes, args.src, args.dst, args.shape.grid}, native));
  finish(native, until);
}

}  // namespace gpumem
