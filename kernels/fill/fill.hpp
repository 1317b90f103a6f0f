// Launchers of the fills.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/stream.hpp"

namespace gpumem::kernels {

struct FillLaunch {
  void* dst;
  int64_t bytes;           // of a row, >= 1
  unsigned char word[16];  // the pattern, repeated: every row + 16 k begins with it
  int64_t grid;            // blocks; each takes every grid-th piece
  int64_t rows = 1;        // of fill_rows
  int64_t pitch = 0;       // bytes from row to row
};

cudaError_t fill_vec16(const FillLaunch& launch, Stream stream);
cudaError_t fill_bytes(const FillLaunch& launch, Stream stream);
cudaError_t fill_rows(const FillLaunch& launch, Stream stream);
cudaError_t fill_preload();

}  // namespace gpumem::kernels
