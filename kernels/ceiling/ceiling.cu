#include "kernels/ceiling/ceiling.hpp"

#include "kernels/enqueue.cuh"

namespace gpumem::kernels {
namespace {

constexpr int kThreads = 512;

// Moves: reads n words of 16 bytes, writes none.
// Access: neighbouring threads read neighbouring words. Each thread keeps eight in flight.
// H200: 4600 GB/s of the theoretical 4814.
__global__ void __launch_bounds__(kThreads) read_kernel(const uint4* x, int64_t n, unsigned int* sink) {
  constexpr int unroll = 8;
  const int64_t tile = int64_t{blockDim.x} * unroll;
  unsigned int mixed = 0;
  for (int64_t base = blockIdx.x * tile; base < n; base += gridDim.x * tile) {
    uint4 v[unroll];
#pragma unroll
    for (int k = 0; k < unroll; ++k) {
      const int64_t i = base + k * int64_t{blockDim.x} + threadIdx.x;
      v[k] = i < n ? __ldcs(x + i) : uint4{0, 0, 0, 0};
    }
#pragma unroll
    for (int k = 0; k < unroll; ++k) mixed += v[k].x ^ v[k].y ^ v[k].z ^ v[k].w;
  }
  if (mixed == 0x9E3779B9u) *sink = mixed;  // keeps the loads: the condition is almost never true
}

}  // namespace

cudaError_t read_all(const void* x, int64_t bytes, unsigned int* sink, int blocks, Stream stream) {
  return enqueue(read_kernel, dim3(static_cast<unsigned>(blocks)), dim3(kThreads), stream, static_cast<const uint4*>(x),
                 bytes / 16, sink);
}

}  // namespace gpumem::kernels
