// z = alpha x + beta y.
#pragma once

#include "kernels/axpby/params.hpp"
#include "kernels/config.hpp"
#include "kernels/launch.hpp"

namespace gpumem::kernels {

using AxpbyExecute = LaunchResult(const AxpbyParams& params, const Config& config, const Launch& launch);
AxpbyExecute axpby_vec16;
AxpbyExecute axpby_vec16_store;
AxpbyExecute axpby_coalesced;
AxpbyExecute axpby_strided;
AxpbyExecute axpby_bytes;

// Loads the kernels' code now instead of at the first launch.
LaunchResult axpby_preload();

}  // namespace gpumem::kernels
