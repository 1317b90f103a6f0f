// Launchers for scans.
#pragma once

#include "kernels/config.hpp"
#include "kernels/launch.hpp"
#include "kernels/scan/params.hpp"

namespace gpumem::kernels {

Execute<ScanParams> scan_ordered;    // sums and products of floating-point elements
Execute<ScanParams> scan_look_back;  // all others
// config.per_thread: lanes per line, or 0 for a warp per line. config.own: whether lines are next to each other, a bool.
Execute<ScanParams> scan_lines;
Execute<ScanParams> scan_each_line;  // config.own: ScanEachLine

LaunchResult scan_preload();

}  // namespace gpumem::kernels
