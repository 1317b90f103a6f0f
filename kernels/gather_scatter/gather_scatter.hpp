// Launchers of gathers and scatters: rows of a matrix by index.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "gpumem.h"
#include "kernels/stream.hpp"

namespace gpumem::kernels {

// The first index that names no row, as it is reported to the host: its place (-1: there is none) and its value.
struct RowsReport {
  int64_t at;
  uint64_t bits;
};

struct GatherScatterLaunch {
  int64_t row_bytes;
  const void* src;
  int64_t src_pitch;    // bytes
  int32_t index_bytes;  // 4 or 8
  uint64_t limit;       // an index of this or more, read as an unsigned number, names no row
  const void* index;
  int64_t n;  // >= 1
  void* dst;
  int64_t dst_pitch;
  int64_t grid;  // blocks that move; each takes every grid-th tile
  // Scratch of one launch at a time. pending and done are 0 before and after.
  unsigned long long* pending;  // 0, or the complement of the first bad place so far
  unsigned* done;               // blocks that have checked their part
  unsigned long long* verdict;  // what pending was in the end
  gpumem_status* status;        // may be nullptr, as the next
  RowsReport* report;
};

// Two kernels each: all of the index is checked, then the rows are moved if all of it is good.
using GatherScatterLauncher = cudaError_t(const GatherScatterLaunch&, Stream);

GatherScatterLauncher gather_vec16;
GatherScatterLauncher gather_words;
GatherScatterLauncher gather_bytes;
GatherScatterLauncher scatter_vec16;
GatherScatterLauncher scatter_words;
GatherScatterLauncher scatter_bytes;

// Loads the kernels' code now instead of at the first launch.
cudaError_t gather_scatter_preload();

}  // namespace gpumem::kernels
