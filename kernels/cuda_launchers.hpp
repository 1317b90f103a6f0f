// What the kernels of a family that is only launched hand to the backend.
#pragma once

#include <cuda_runtime_api.h>

#include <span>

#include "kernels/families.hpp"
#include "kernels/launch_shape.hpp"
#include "kernels/stream.hpp"

namespace gpumem {

template <class Params>
struct CudaLauncher {
  const char* name;
  cudaError_t (*launch)(const Params& params, const LaunchShape& shape, kernels::Stream stream);
};

template <class Params>
struct CudaLaunchers {
  std::span<const CudaLauncher<Params>> all;  // in the order of the table's CUDA rows
  cudaError_t (*preload)();                   // loads the kernels' code now instead of at the first launch
};

}  // namespace gpumem
