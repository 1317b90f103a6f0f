// What a device's memory can do at most.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/launch.hpp"

namespace gpumem::kernels {

// Reads all bytes (a multiple of 16, x aligned to as many) once, at the device's full rate, and keeps nothing; L2 then has them, in clean
// lines, and nothing else. sink: a word of device memory that is not used otherwise.
cudaError_t read_all(const void* x, int64_t bytes, unsigned int* sink, int blocks, Stream stream);

}  // namespace gpumem::kernels
