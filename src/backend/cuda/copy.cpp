// Copies on a CUDA device: one launcher a variant, in the order of the table's CUDA rows.
#include "kernels/copy/copy.hpp"
#include "backend/cuda/cuda_backend.hpp"
#include "backend/cuda/driver_copy.hpp"
#include "backend/launchers.hpp"

namespace gpumem {
namespace {

cudaStream_t native(NativeStream stream) noexcept { return static_cast<cudaStream_t>(stream); }

cudaError_t by_driver(const CopyParams& params, const LaunchShape&, kernels::Stream stream) {
  return copy_by_driver(params, stream);
}

constexpr Launcher<kernels::CopyLauncher*> kCopy[] = {
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

void add_copy_launcher_names(LauncherNames& names) { add_names(names, GPUMEM_FAMILY_COPY, kCopy); }

void CudaBackend::copy(NativeStream stream, const CopyParams& params, const Choice& choice, Until until) {
  const DeviceScope scope = enter();
  require_open(stream);
  GPUMEM_CUDA(kCopy[choice.launcher].launch(params, choice.shape, kernel_stream(stream)));
  finish(native(stream), until);
}

}  // namespace gpumem
