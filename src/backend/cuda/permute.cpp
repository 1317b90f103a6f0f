// Permutations of axes on a CUDA device.
#include "kernels/permute/permute.hpp"
#include "backend/cuda/cuda_backend.hpp"

namespace gpumem {
namespace {

cudaError_t permute_copy(const PermuteParams& params, const LaunchShape&, kernels::Stream stream) {
  const auto bytes = static_cast<size_t>(params.axes.elements() * params.axes.element_bytes);
  return cudaMemcpyAsync(params.dst, params.src, bytes, cudaMemcpyDefault, stream);
}

constexpr CudaLauncher<PermuteParams> kPermute[] = {
    {"copy", permute_copy},
    {"contiguous_boxes", kernels::permute_contiguous_boxes},
    {"transpose", nullptr},  // the engine hands it over to the transposes
    {"packed", kernels::permute_packed},
    {"contiguous_runs", kernels::permute_contiguous_runs},
    {"tiled", kernels::permute_tiled},
    {"strided_scalar", kernels::permute_strided_scalar},
};

}  // namespace

CudaLaunchers<PermuteParams> PermuteFamily::on_cuda() noexcept { return {kPermute, kernels::permute_preload}; }

}  // namespace gpumem
