// Conversions between element types.
#pragma once

#include "kernels/config.hpp"
#include "kernels/convert/params.hpp"
#include "kernels/launch.hpp"

namespace gpumem::kernels {

using ConvertExecute = LaunchResult(const ConvertParams& params, const Config& config, const Launch& launch);
ConvertExecute convert_vec16;
ConvertExecute convert_scalar;
ConvertExecute convert_bytes;

// Loads the kernels' code now instead of at the first launch.
LaunchResult convert_preload();

}  // namespace gpumem::kernels
