// Launchers of z = alpha x + beta y.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "gpumem.h"
#include "kernels/stream.hpp"

namespace gpumem::kernels {

struct AxpbyLaunch {
  gpumem_dtype dtype;  // f32 or f64
  uint64_t alpha;      // bits of that type
  const void* x;       // nullptr: not read
  uint64_t beta;
  const void* y;  // as x
  void* z;
  int64_t n;     // >= 1
  int64_t grid;  // blocks; each takes every grid-th piece
};

// All but the last want operands that are aligned to their elements.
cudaError_t axpby_vec16(const AxpbyLaunch& launch, Stream stream);
cudaError_t axpby_coalesced(const AxpbyLaunch& launch, Stream stream);
cudaError_t axpby_strided(const AxpbyLaunch& launch, Stream stream);
cudaError_t axpby_bytes(const AxpbyLaunch& launch, Stream stream);

// Loads the kernels' code now instead of at the first launch.
cudaError_t axpby_preload();

}  // namespace gpumem::kernels
