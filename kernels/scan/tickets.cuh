// Blocks that take their tiles in order, and words by which they tell each other about them. A block that waits for a
// tile can't wait forever, because a running block has every earlier tile.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/config.hpp"
#include "kernels/enqueue.cuh"
#include "kernels/scan/limits.hpp"

namespace gpumem::kernels {
namespace {

// The only communication is by whole words, so their accesses need no order among each other.
__device__ __forceinline__ uint64_t read_word(const uint64_t* p) { return *static_cast<const volatile uint64_t*>(p); }
__device__ __forceinline__ void write_word(uint64_t* p, uint64_t v) { *static_cast<volatile uint64_t*>(p) = v; }

// counters: nullptr if there is only one tile. Called by one thread.
__device__ __forceinline__ unsigned next_tile(ScanCounters* counters) {
  return counters == nullptr ? 0 : atomicAdd(&counters->ticket, 1u) + 1;
}

// All workspace to ones. The counters are nullptr if there is only one tile.
inline LaunchResult reset(const Config& config, const Launch& launch, ScanCounters*& counters) {
  counters = static_cast<ScanCounters*>(config.grid > 1 ? launch.workspace : nullptr);
  return counters == nullptr ? cudaSuccess : set_bytes(counters, config.workspace_bytes, 0xff, launch);
}

}  // namespace
}  // namespace gpumem::kernels
