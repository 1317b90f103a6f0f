// Launchers of the i32 reductions: plain arguments in, one or two launches on a stream out.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "gpumem.h"

namespace gpumem::kernels {

// What the host waits for, in pinned memory that the device has mapped.
struct ReduceResult {
  uint64_t low;  // the exact value, 128 bits, two's complement
  uint64_t high;
  uint32_t ticket;  // written last: equal to the launch's ticket when the value is there
};

constexpr int64_t kReducePartialBytes = 16;

struct ReduceLaunch {
  const void* x;
  int64_t n;       // >= 1
  int64_t stride;  // elements
  int64_t grid;
  int64_t tile;          // elements a block takes
  void* partials;        // kMaxReduceBlocks x kReducePartialBytes, device memory
  unsigned* counter;     // 0 before and after
  ReduceResult* result;  // as the device sees it
  uint32_t ticket;
};

cudaError_t reduce_one_block(gpumem_reduce_op op, const ReduceLaunch& launch, cudaStream_t stream);
cudaError_t reduce_last_block(gpumem_reduce_op op, const ReduceLaunch& launch, cudaStream_t stream);
cudaError_t reduce_two_pass(gpumem_reduce_op op, const ReduceLaunch& launch, cudaStream_t stream);
cudaError_t reduce_two_pass_elements(gpumem_reduce_op op, const ReduceLaunch& launch, cudaStream_t stream);

// Loads the kernels' code now instead of at the first launch.
cudaError_t reduce_preload();

}  // namespace gpumem::kernels
