// Launchers for copies within a device's memory.
#pragma once

#include "kernels/config.hpp"
#include "kernels/copy/params.hpp"
#include "kernels/launch.hpp"

namespace gpumem::kernels {

// The sides do not overlap. All but the last two copy one range. vec16 needs equal misalignment of src and dst; the
// others need both sides aligned to words of 16, 8 or 4 bytes.
Execute<CopyParams> copy_vec16;
Execute<CopyParams> copy_vec4;
Execute<CopyParams> copy_vec2;
Execute<CopyParams> copy_scalar;

Execute<CopyParams> copy_by_driver;  // any, between any two addresses that the driver knows
Execute<CopyParams> copy_realigned;  // any

LaunchResult copy_preload();

}  // namespace gpumem::kernels
