// Launchers of sorts.
#pragma once

#include "kernels/config.hpp"
#include "kernels/launch.hpp"
#include "kernels/sort/params.hpp"

namespace gpumem::kernels {

Execute<SortParams> sort_tiles;
Execute<SortParams> sort_radix;
Execute<SortParams> sort_segments;
Execute<SortParams> sort_segment_tiles;

LaunchResult sort_preload();
LaunchResult sort_segments_preload();
LaunchResult sort_tiles_preload();

}  // namespace gpumem::kernels
