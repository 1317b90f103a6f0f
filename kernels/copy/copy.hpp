// Launchers of the copies within a device's memory: row r of slice s lies at p + s * slice + r * pitch.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/stream.hpp"

namespace gpumem::kernels {

// In bytes. The sides share none; every extent is 1 or more. One row in one slice is one range.
struct CopyLaunch {
  void* dst;
  int64_t dst_pitch;
  int64_t dst_slice;
  const void* src;
  int64_t src_pitch;
  int64_t src_slice;
  int64_t row_bytes;
  int64_t rows;  // of a slice
  int64_t slices;
  int64_t grid;    // blocks; each takes every grid-th piece
  int64_t access;  // of copy_rows: the widest power of two up to 16 at which every row begins, on both sides
};

// One range each; vec16: src and dst equally misaligned; the others: both aligned to the words of 16, 8 and 4 bytes.
cudaError_t copy_vec16(const CopyLaunch& launch, Stream stream);
cudaError_t copy_vec4(const CopyLaunch& launch, Stream stream);
cudaError_t copy_vec2(const CopyLaunch& launch, Stream stream);
cudaError_t copy_scalar(const CopyLaunch& launch, Stream stream);

cudaError_t copy_rows(const CopyLaunch& launch, Stream stream);
cudaError_t copy_bytes(const CopyLaunch& launch, Stream stream);

// Loads the kernels' code now instead of at the first launch.
cudaError_t copy_preload();

}  // namespace gpumem::kernels
