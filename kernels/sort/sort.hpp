// Launchers of sorts.
#pragma once

#include "kernels/config.hpp"
#include "kernels/launch.hpp"
#include "kernels/sort/params.hpp"

namespace gpumem::kernels {

Execute<SortParams> sort_block;
Execute<SortParams> sort_radix;

LaunchResult sort_preload();

}  // namespace gpumem::kernels
