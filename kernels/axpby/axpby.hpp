// z = alpha x + beta y.
#pragma once

#include "kernels/axpby/params.hpp"
#include "kernels/config.hpp"
#include "kernels/launch.hpp"

namespace gpumem::kernels {

Execute<AxpbyParams> axpby_vec16;
Execute<AxpbyParams> axpby_vec16_store;
Execute<AxpbyParams> axpby_coalesced;
Execute<AxpbyParams> axpby_strided;
Execute<AxpbyParams> axpby_bytes;

// Loads the kernels' code now instead of at the first launch.
LaunchResult axpby_preload();

}  // namespace gpumem::kernels
