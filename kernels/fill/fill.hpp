// Launchers of the fills.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/fill/params.hpp"
#include "kernels/launch_shape.hpp"
#include "kernels/stream.hpp"

namespace gpumem::kernels {

using FillLauncher = cudaError_t(const FillParams& params, const LaunchShape& shape, Stream stream);
FillLauncher fill_vec16;
FillLauncher fill_bytes;
FillLauncher fill_rows;
cudaError_t fill_preload();

}  // namespace gpumem::kernels
