// Where a kernel is launched.
#pragma once

#include <cuda_runtime_api.h>

namespace gpumem::kernels {

// A stream, and whether kernels on it may start before the one before them has ended (programmatic dependent launch).
struct Stream {
  cudaStream_t native = nullptr;
  bool starts_early = false;

  Stream(cudaStream_t stream = nullptr, bool early = false) noexcept : native(stream), starts_early(early) {}
  operator cudaStream_t() const noexcept { return native; }
};

// Whether the code for the current device is of compute capability 9.0 or newer, where kernels may start early. An error where
// there is no code for the device at all.
cudaError_t code_starts_early(bool& answer);

}  // namespace gpumem::kernels
