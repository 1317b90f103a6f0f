// Launchers for fills.
#pragma once

#include "kernels/config.hpp"
#include "kernels/fill/params.hpp"
#include "kernels/launch.hpp"

namespace gpumem::kernels {

Execute<FillParams> fill_by_memset;
Execute<FillParams> fill_vec16;
Execute<FillParams> fill_rows;

LaunchResult fill_preload();

}  // namespace gpumem::kernels
