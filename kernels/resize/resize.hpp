// Launchers for resizes.
#pragma once

#include "kernels/config.hpp"
#include "kernels/launch.hpp"
#include "kernels/resize/coordinates.hpp"
#include "kernels/resize/params.hpp"

namespace gpumem::kernels {

// config.tile: rows of dst per thread.
Execute<ResizeParams> resize_words;
Execute<ResizeParams> resize_global;
Execute<ResizeParams> resize_bytes;
Execute<ResizeParams> resize_texture;  // uses launch.textures; 1, 2 or 4 channels

LaunchResult resize_preload();

}  // namespace gpumem::kernels
