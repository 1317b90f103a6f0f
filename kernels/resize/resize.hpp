// Launchers of the resizes.
#pragma once

#include "kernels/config.hpp"
#include "kernels/launch.hpp"
#include "kernels/resize/coordinates.hpp"
#include "kernels/resize/params.hpp"

namespace gpumem::kernels {

// config.tile: rows of dst a thread.
// Weak: builds without CUDA have none.
using ResizeExecute = LaunchResult(const ResizeParams& params, const Config& config, const Launch& launch);
[[gnu::weak]] ResizeExecute resize_words;
[[gnu::weak]] ResizeExecute resize_global;
[[gnu::weak]] ResizeExecute resize_bytes;
[[gnu::weak]] ResizeExecute resize_texture;  // by launch.textures; 1, 2 or 4 channels

LaunchResult resize_preload();

}  // namespace gpumem::kernels
