// Launchers for scans.
#pragma once

#include "kernels/config.hpp"
#include "kernels/launch.hpp"
#include "kernels/scan/params.hpp"

namespace gpumem::kernels {

Execute<ScanParams> scan_ordered;    // sums and products of floating-point elements
Execute<ScanParams> scan_look_back;  // all others

LaunchResult scan_preload();

}  // namespace gpumem::kernels
