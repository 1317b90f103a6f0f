// Launchers of the resizes.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/launch_shape.hpp"
#include "kernels/resize/coordinates.hpp"
#include "kernels/resize/params.hpp"
#include "kernels/stream.hpp"

namespace gpumem::kernels {

// shape.tile: rows of dst a thread.
using ResizeLauncher = cudaError_t(const ResizeParams& params, const LaunchShape& shape, Stream stream);
ResizeLauncher resize_words;
ResizeLauncher resize_global;
ResizeLauncher resize_bytes;

// What the texture of src is to be made from, and how it is to be read. 1, 2 or 4 channels.
cudaResourceDesc resize_texture_resource(const ResizeParams& params);
cudaTextureDesc resize_texture_reading(const ResizeParams& params);
cudaError_t resize_texture(const ResizeParams& params, const LaunchShape& shape, cudaTextureObject_t texture,
                           Stream stream);

cudaError_t resize_preload();

}  // namespace gpumem::kernels
