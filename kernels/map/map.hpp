// Launchers for elementwise functions, comparisons, selections and scaled conversions.
#pragma once

#include "kernels/config.hpp"
#include "kernels/launch.hpp"
#include "kernels/map/params.hpp"

namespace gpumem::kernels {

Execute<MapParams> map_vectors;
Execute<MapParams> map_table_lookup;
Execute<MapParams> map_elements;

LaunchResult map_preload();

}  // namespace gpumem::kernels
