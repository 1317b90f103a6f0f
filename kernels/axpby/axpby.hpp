// z = alpha x + beta y.
#pragma once

#include "kernels/axpby/params.hpp"
#include "kernels/config.hpp"
#include "kernels/launch.hpp"

namespace gpumem::kernels {

// Weak: builds without CUDA have none.
using AxpbyExecute = LaunchResult(const AxpbyParams& params, const Config& config, const Launch& launch);
[[gnu::weak]] AxpbyExecute axpby_vec16;
[[gnu::weak]] AxpbyExecute axpby_vec16_store;
[[gnu::weak]] AxpbyExecute axpby_coalesced;
[[gnu::weak]] AxpbyExecute axpby_strided;
[[gnu::weak]] AxpbyExecute axpby_bytes;

// Loads the kernels' code now instead of at the first launch.
LaunchResult axpby_preload();

}  // namespace gpumem::kernels
