// Launchers for gathers and scatters of a matrix's rows.
#pragma once

#include "kernels/config.hpp"
#include "kernels/gather_scatter/params.hpp"
#include "kernels/launch.hpp"

namespace gpumem::kernels {

// Scratch memory of one launch at a time. pending and done are 0 before and after.
struct GatherScatterScratch {
  unsigned long long* pending;  // 0, or the complement of the first bad place so far
  unsigned* done;               // blocks that have checked their part
  unsigned long long* verdict;  // the final value of pending
  BadIndex* report;             // may be nullptr
};

// Two kernels each: the first checks the whole index, and the second moves the rows only if it is valid.
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

LaunchResult gather_scatter_preload();

}  // namespace gpumem::kernels
