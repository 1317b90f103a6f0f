// Measures the peak read bandwidth of a device.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/launch.hpp"

namespace gpumem::kernels {

// Reads all bytes once at the device's full rate and discards them. Afterwards L2 holds only these bytes, in clean
// lines. bytes: a multiple of 16. x: 16-byte aligned. sink: a word of device memory that is not used otherwise.
cudaError_t read_all(const void* x, int64_t bytes, unsigned int* sink, int blocks, Stream stream);

}  // namespace gpumem::kernels
