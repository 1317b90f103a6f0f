#include "kernels/launch.hpp"

#include <cuda_runtime_api.h>

namespace gpumem::kernels {
namespace {

__global__ void nothing_kernel() {}

}  // namespace

// The loaded code decides, not the device. Code compiled for an earlier architecture and translated for this device has
// no wait in synchronize_and_trigger(). `ptxVersion` is the architecture that it was compiled for.
LaunchResult code_has_programmatic_launch(bool& answer) {
  constexpr int kFirstArchitecture = 90;
  cudaFuncAttributes attributes;
  const cudaError_t error = cudaFuncGetAttributes(&attributes, nothing_kernel);
  answer = error == cudaSuccess && attributes.ptxVersion >= kFirstArchitecture;
  return error;
}

}  // namespace gpumem::kernels
