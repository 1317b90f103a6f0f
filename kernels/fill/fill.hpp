// Fills.
#pragma once

#include "kernels/config.hpp"
#include "kernels/fill/params.hpp"
#include "kernels/launch.hpp"

namespace gpumem::kernels {

// Weak: builds without CUDA have none.
using FillExecute = LaunchResult(const FillParams& params, const Config& config, const Launch& launch);
[[gnu::weak]] FillExecute fill_by_memset;
[[gnu::weak]] FillExecute fill_vec16;
[[gnu::weak]] FillExecute fill_rows;

// Loads the kernels' code now instead of at the first launch.
LaunchResult fill_preload();

}  // namespace gpumem::kernels
