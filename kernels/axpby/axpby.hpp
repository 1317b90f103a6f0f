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

LaunchResult axpby_preload();

}  // namespace gpumem::kernels
