// Launchers for conversions between element types.
#pragma once

#include "kernels/config.hpp"
#include "kernels/convert/params.hpp"
#include "kernels/launch.hpp"

namespace gpumem::kernels {

Execute<ConvertParams> convert_vec16;
Execute<ConvertParams> convert_scalar;
Execute<ConvertParams> convert_bytes;

LaunchResult convert_preload();

}  // namespace gpumem::kernels
