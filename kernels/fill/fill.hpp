// Fills.
#pragma once

#include "kernels/config.hpp"
#include "kernels/fill/params.hpp"
#include "kernels/launch.hpp"

namespace gpumem::kernels {

using FillExecute = LaunchResult(const FillParams& params, const Config& config, const Launch& launch);
FillExecute fill_by_memset;
FillExecute fill_vec16;
FillExecute fill_rows;

// Loads the kernels' code now instead of at the first launch.
LaunchResult fill_preload();

}  // namespace gpumem::kernels
