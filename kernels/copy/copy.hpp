// Launchers of the copies within a device's memory.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/copy/params.hpp"
#include "kernels/launch_shape.hpp"
#include "kernels/stream.hpp"

namespace gpumem::kernels {

// The sides share no byte.
using CopyLauncher = cudaError_t(const CopyParams& params, const LaunchShape& shape, Stream stream);
// One range each; vec16: src and dst equally misaligned; the others: both aligned to the words of 16, 8 and 4 bytes.
CopyLauncher copy_vec16;
CopyLauncher copy_vec4;
CopyLauncher copy_vec2;
CopyLauncher copy_scalar;

CopyLauncher copy_realigned;  // any

// The rows of one slice by the driver, between any two addresses it knows: in one call, or one for each row where it does not take
// their pitch, or params say so.
cudaError_t copy_rows_by_driver(const CopyParams& params, Stream stream);

// Loads the kernels' code now instead of at the first launch.
cudaError_t copy_preload();

}  // namespace gpumem::kernels
