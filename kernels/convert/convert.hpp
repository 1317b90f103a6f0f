// Conversions between element types.
#pragma once

#include "kernels/config.hpp"
#include "kernels/convert/params.hpp"
#include "kernels/launch.hpp"

namespace gpumem::kernels {

Execute<ConvertParams> convert_vec16;
Execute<ConvertParams> convert_scalar;
Execute<ConvertParams> convert_bytes;

// Loads the kernels' code now instead of at the first launch.
LaunchResult convert_preload();

}  // namespace gpumem::kernels
