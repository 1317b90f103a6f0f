// Permutations of axes on a CUDA device.
#include "kernels/permute/permute.hpp"
#include "backend/cuda/cuda_backend.hpp"
#include "backend/launchers.hpp"
#include "ops/permute/permute_transpose.hpp"
#include "select/select.hpp"

namespace gpumem {
namespace {

cudaError_t permute_copy(const kernels::PermuteLaunch& launch, kernels::Stream stream) {
  const auto bytes = static_cast<size_t>(launch.axes.elements() * launch.axes.element_bytes);
  return cudaMemcpyAsync(launch.dst, launch.src, bytes, cudaMemcpyDefault, stream);
}

// Only a name: CudaBackend::permute() hands over to the transposes.
cudaError_t permute_transpose(const kernels::PermuteLaunch&, kernels::Stream) { return cudaErrorInvalidValue; }

constexpr Launcher<decltype(&kernels::permute_contiguous_runs)> kPermute[] = {
    {"copy", permute_copy},
    {"contiguous_boxes", kernels::permute_contiguous_boxes},
    {"transpose", permute_transpose},
    {"packed", kernels::permute_packed},
    {"contiguous_runs", kernels::permute_contiguous_runs},
    {"tiled", kernels::permute_tiled},
    {"strided_scalar", kernels::permute_strided_scalar},
};

// The same by the variant that the transposes' table has for it.
TransposeArgs transpose_args(const DeviceProps& props, const PermuteArgs& args) {
  const TransposeProblem t = transpose_of({Runs::cuda, args.axes, misalignment(args.src), misalignment(args.dst)});
  const Decision decision = select<TransposeFamily>(props, t, {}, {});
  return {decision.row, decision.shape,     t.element_bytes,   t.rows, t.cols, args.src, t.src_ld, args.dst, t.dst_ld,
          t.batches,    t.src_batch_stride, t.dst_batch_stride};
}

}  // namespace

void add_permute_launcher_names(LauncherNames& names) { add_names<PermuteFamily>(names, kPermute); }

void CudaBackend::permute(NativeStream stream, const PermuteArgs& args, Until until) {
  const DeviceScope scope = enter();
  const auto launcher = launch_of<PermuteFamily>(kPermute, args.variant);
  if (launcher == permute_transpose) return transpose(stream, transpose_args(props_, args), until);
  require_open(stream);
  const kernels::Stream on = kernel_stream(stream);
  GPUMEM_CUDA(launcher({args.axes, args.src, args.dst, args.shape.grid}, on));
  finish(on, until);
}

}  // namespace gpumem
