// Launchers of gathers and scatters: rows of a matrix by index.
#pragma once

#include <cuda_runtime_api.h>

#include <span>

#include "kernels/gather_scatter/params.hpp"
#include "kernels/launch_shape.hpp"
#include "kernels/stream.hpp"

namespace gpumem::kernels {

// Of one launch at a time. pending and done are 0 before and after.
struct GatherScatterScratch {
  unsigned long long* pending;  // 0, or the complement of the first bad place so far
  unsigned* done;               // blocks that have checked their part
  unsigned long long* verdict;  // what pending was in the end
  BadIndex* report;             // may be nullptr
};

// Two kernels each: all of the index is checked, then the rows are moved if all of it is good.
struct GatherScatterLauncher {
  const char* name;
  cudaError_t (*launch)(const GatherScatterParams& params, const LaunchShape& shape,
                        const GatherScatterScratch& scratch, Stream stream);
};

// In the order of the tables' CUDA rows.
std::span<const GatherScatterLauncher> gather_scatter_launchers(NamedRows named);

// Loads the kernels' code now instead of at the first launch.
cudaError_t gather_scatter_preload();

}  // namespace gpumem::kernels
