// Launchers for sums of scaled operands and for products.
#pragma once

#include "kernels/arithmetic/params.hpp"
#include "kernels/config.hpp"
#include "kernels/launch.hpp"

namespace gpumem::kernels {

Execute<ArithmeticParams> arithmetic_coalesced;
Execute<ArithmeticParams> arithmetic_general;
Execute<ArithmeticParams> arithmetic_bytes;

LaunchResult arithmetic_preload();

}  // namespace gpumem::kernels
