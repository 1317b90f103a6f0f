// Launchers of the resizes.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "gpumem.h"
#include "kernels/resize/coordinates.hpp"
#include "kernels/stream.hpp"

namespace gpumem::kernels {

// Rows of dst and src along `down`, columns along `across`.
struct ResizeLaunch {
  gpumem_filter filter;
  gpumem_dtype dtype;
  int32_t channels;
  const void* src;
  int64_t src_pitch;  // bytes
  void* dst;
  int64_t dst_pitch;
  ResizeAxis down;
  ResizeAxis across;
  int64_t rows_per_thread;
  int64_t grid;                 // blocks; each takes every grid-th tile
  cudaTextureObject_t texture;  // of src, for resize_texture
};

cudaError_t resize_words(const ResizeLaunch& launch, Stream stream);
cudaError_t resize_global(const ResizeLaunch& launch, Stream stream);
cudaError_t resize_bytes(const ResizeLaunch& launch, Stream stream);

// What the texture of a launch is to be made from, and how it is to be read. 1, 2 or 4 channels.
cudaResourceDesc resize_texture_resource(const ResizeLaunch& launch);
cudaTextureDesc resize_texture_reading(const ResizeLaunch& launch);
cudaError_t resize_texture(const ResizeLaunch& launch, Stream stream);

cudaError_t resize_preload();

}  // namespace gpumem::kernels
