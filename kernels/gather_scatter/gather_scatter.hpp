// Launchers of gathers and scatters: rows of a matrix by index.
#pragma once

#include "kernels/config.hpp"
#include "kernels/gather_scatter/params.hpp"
#include "kernels/launch.hpp"

namespace gpumem::kernels {

// Of one launch at a time. pending and done are 0 before and after.
struct GatherScatterScratch {
  unsigned long long* pending;  // 0, or the complement of the first bad place so far
  unsigned* done;               // blocks that have checked their part
  unsigned long long* verdict;  // what pending was in the end
  BadIndex* report;             // may be nullptr
};

// Two kernels each: all of the index is checked, then the rows are moved if all of it is good.
using GatherScatterExecute = LaunchResult(const GatherScatterParams& params, const Config& config,
                                          const GatherScatterScratch& scratch, const Launch& launch);
GatherScatterExecute gather_vec16;
GatherScatterExecute gather_vec8;
GatherScatterExecute gather_words;
GatherScatterExecute gather_bytes;
GatherScatterExecute scatter_vec16;
GatherScatterExecute scatter_vec8;
GatherScatterExecute scatter_words;
GatherScatterExecute scatter_bytes;

// Loads the kernels' code now instead of at the first launch.
LaunchResult gather_scatter_preload();

}  // namespace gpumem::kernels
