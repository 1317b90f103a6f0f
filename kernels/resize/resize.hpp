// Launchers of the resizes.
#pragma once

#include "kernels/config.hpp"
#include "kernels/launch.hpp"
#include "kernels/resize/coordinates.hpp"
#include "kernels/resize/params.hpp"

namespace gpumem::kernels {

// config.tile: rows of dst a thread.
using ResizeExecute = LaunchResult(const ResizeParams& params, const Config& config, const Launch& launch);
ResizeExecute resize_words;
ResizeExecute resize_global;
ResizeExecute resize_bytes;
ResizeExecute resize_texture;  // by launch.textures; 1, 2 or 4 channels

LaunchResult resize_preload();

}  // namespace gpumem::kernels
