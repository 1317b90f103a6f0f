// Copies of rows that the driver makes, between any two addresses it knows.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/copy/params.hpp"

namespace gpumem {

// Enqueues the copy; in as few calls as the driver's own rules for pitches allow.
cudaError_t copy_by_driver(const CopyParams& block, cudaStream_t stream);

}  // namespace gpumem
