// Sums of scaled operands and products.
#pragma once

#include "kernels/arithmetic/params.hpp"
#include "kernels/config.hpp"
#include "kernels/launch.hpp"

namespace gpumem::kernels {

using ArithmeticExecute = LaunchResult(const ArithmeticParams& params, const Config& config, const Launch& launch);
ArithmeticExecute arithmetic_coalesced;
ArithmeticExecute arithmetic_bytes;

// Loads the kernels' code now instead of at the first launch.
LaunchResult arithmetic_preload();

}  // namespace gpumem::kernels
