// Sums of scaled operands and products.
#pragma once

#include "kernels/arithmetic/params.hpp"
#include "kernels/config.hpp"
#include "kernels/launch.hpp"

namespace gpumem::kernels {

Execute<ArithmeticParams> arithmetic_coalesced;
Execute<ArithmeticParams> arithmetic_bytes;

// Loads the kernels' code now instead of at the first launch.
LaunchResult arithmetic_preload();

}  // namespace gpumem::kernels
