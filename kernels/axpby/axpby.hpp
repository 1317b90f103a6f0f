// Launchers of z = alpha x + beta y.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/axpby/params.hpp"
#include "kernels/launch_shape.hpp"
#include "kernels/stream.hpp"

namespace gpumem::kernels {

// All but the last want operands that are aligned to their elements.
using AxpbyLauncher = cudaError_t(const AxpbyParams& params, const LaunchShape& shape, Stream stream);
AxpbyLauncher axpby_vec16;
AxpbyLauncher axpby_coalesced;
AxpbyLauncher axpby_strided;
AxpbyLauncher axpby_bytes;

// Loads the kernels' code now instead of at the first launch.
cudaError_t axpby_preload();

}  // namespace gpumem::kernels
