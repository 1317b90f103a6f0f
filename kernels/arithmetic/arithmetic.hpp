// Launchers for sums of scaled operands and for products.
#pragma once

#include "kernels/arithmetic/limits.hpp"
#include "kernels/arithmetic/params.hpp"
#include "kernels/config.hpp"
#include "kernels/launch.hpp"

namespace gpumem::kernels {

Execute<ArithmeticParams> arithmetic_coalesced;
Execute<ArithmeticParams> arithmetic_general;
Execute<ArithmeticParams> arithmetic_bytes;
Execute<ArithmeticParams> lincomb_dot_fused;

// The dot products of z after a launch that writes it.
LaunchResult separate_dots(const ArithmeticParams& params, const GeneralConfig& config, const Launch& launch);

LaunchResult arithmetic_preload();

}  // namespace gpumem::kernels
