// The outcome of a launch whose blocks have all seen the whole index.
#pragma once

#include <cuda_runtime.h>

#include "kernels/reduce_by_index/params.hpp"

namespace gpumem::kernels {
namespace {

// first_bad: n if there is none. Called by one thread.
__device__ __forceinline__ void write_outcome(const ReduceByIndexParams& p, int64_t first_bad) {
  const bool good = first_bad == p.n;
  if (p.status != nullptr) *p.status = good ? GPUMEM_OK : GPUMEM_OUT_OF_RANGE;
  if (p.report == nullptr) return;
  p.report->at = good ? -1 : first_bad;
  p.report->bits = good                               ? uint64_t{GPUMEM_OK}
                   : element_bytes(p.index_type) == 8 ? static_cast<const uint64_t*>(p.index)[first_bad]
                                                      : static_cast<const uint32_t*>(p.index)[first_bad];
}

}  // namespace
}  // namespace gpumem::kernels
