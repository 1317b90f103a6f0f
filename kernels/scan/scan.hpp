// Launchers for scans.
#pragma once

#include "kernels/config.hpp"
#include "kernels/launch.hpp"
#include "kernels/scan/params.hpp"

namespace gpumem::kernels {

Execute<ScanParams> scan_ordered;       // sums and products of floating-point elements
Execute<ScanParams> scan_ordered_rows;  // the same, of short sequences
Execute<ScanParams> scan_look_back;     // all others
// config.per_thread: lanes per line, or 0 for a warp per line. config.own: whether scan_sums_of_lines() does the work.
Execute<ScanParams> scan_lines;
Execute<ScanParams> scan_sums_of_lines;  // of floating-point elements
// config.per_thread: lanes of the fold of a floating-point sum. config.own: whether sums are tried that do not round.
Execute<ScanParams> scan_columns;
Execute<ScanParams> scan_each_line;  // config.own: ScanEachLine

LaunchResult scan_preload();

}  // namespace gpumem::kernels
