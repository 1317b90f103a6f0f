// Launchers of the copies within a device's memory.
#pragma once

#include "kernels/config.hpp"
#include "kernels/copy/params.hpp"
#include "kernels/launch.hpp"

namespace gpumem::kernels {

// The sides share no byte.
// One range each; vec16: src and dst equally misaligned; the others: both aligned to the words of 16, 8 and 4 bytes.
Execute<CopyParams> copy_vec16;
Execute<CopyParams> copy_vec4;
Execute<CopyParams> copy_vec2;
Execute<CopyParams> copy_scalar;

Execute<CopyParams> copy_by_driver;  // any, between any two addresses that the driver knows
Execute<CopyParams> copy_realigned;  // any

// Loads the kernels' code now instead of at the first launch.
LaunchResult copy_preload();

}  // namespace gpumem::kernels
