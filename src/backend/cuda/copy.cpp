// Copies on a CUDA device: one launcher a variant, in the order of the table's CUDA rows.
#include "kernels/copy/copy.hpp"
#include "backend/cuda/cuda_backend.hpp"
#include "backend/cuda/driver_copy.hpp"

namespace gpumem {
namespace {

cudaError_t by_driver(const CopyParams& params, const LaunchShape&, kernels::Stream stream) {
  return copy_by_driver(params, stream);
}

constexpr CudaLauncher<CopyParams> kCopy[] = {
    {"rows", kernels::copy_rows},
    {"vec16", kernels::copy_vec16},
    {"driver", by_driver},
    {"rings", nullptr},  // of host threads and the driver's copies: src/ops/copy/ring_copy.cpp
    {"vec4", kernels::copy_vec4},
    {"vec2", kernels::copy_vec2},
    {"scalar", kernels::copy_scalar},
    {"bytes", kernels::copy_bytes},
};

}  // namespace

CudaLaunchers<CopyParams> CopyFamily::on_cuda() noexcept { return {kCopy, kernels::copy_preload}; }

}  // namespace gpumem
