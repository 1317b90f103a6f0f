#include "bench/block_clock.hpp"

#include <cuda_runtime_api.h>

namespace tool {
namespace {

constexpr int kThreads = 512;

__global__ void __launch_bounds__(kThreads) sum_cubes(const ClockedSum in) {
  __shared__ int64_t s[kThreads];
  const int64_t begin = clock64();
  const int t = threadIdx.x;
  const int64_t threads = int64_t{gridDim.x} * kThreads;
  const int64_t me = int64_t{blockIdx.x} * kThreads + t;
  const int64_t share = (in.n + threads - 1) / threads;
  int64_t sum = 0;
  for (int64_t i = 0; i < share; ++i) {
    const int64_t at = in.coalesced ? i * threads + me : me * share + i;
    const int64_t x = at < in.n ? in.x[at] : 0;
    sum += x * x * x;
  }
  s[t] = sum;
  __syncthreads();
  for (int half = kThreads / 2; half > 0; half /= 2) {
    if (t < half) s[t] += s[t + half];
    __syncthreads();
  }
  if (t == 0) in.blocks[blockIdx.x] = {s[0], clock64() - begin};
}

}  // namespace

int blocks_that_fill(int device, int& blocks) {
  int multiprocessors = 0;
  int resident = 0;
  cudaError_t error = cudaSetDevice(device);
  if (error == cudaSuccess) error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  if (error == cudaSuccess) error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, sum_cubes, kThreads, 0);
  blocks = multiprocessors * resident;
  return error;
}

int enqueue_clocked_sum(int device, const ClockedSum& sum, int blocks, void* stream) {
  const cudaError_t error = cudaSetDevice(device);
  if (error != cudaSuccess) return error;
  sum_cubes<<<blocks, kThreads, 0, static_cast<cudaStream_t>(stream)>>>(sum);
  return cudaGetLastError();
}

}  // namespace tool
