// The pools on the device, beside the driver's own with its release threshold raised.
#include "support/pool_cases.hpp"

#include <cstdint>

#include "cuda/cuda_cases.hpp"

namespace bench {
namespace {

// The device's default pool keeps what is freed: without it the peer would ask the system with each synchronisation.
void keep_all(int device) {
  cudaMemPool_t pool = nullptr;
  check_cuda(cudaDeviceGetDefaultMemPool(&pool, device));
  uint64_t all = UINT64_MAX;
  check_cuda(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all));
}

}  // namespace

void add_cuda_pool(std::vector<Case>& cases, const GpuPtr& gpu) {
  add_pool_pairs(cases, gpu->ctx,
                 {"cudaMallocAsync, cudaFreeAsync", [gpu](int64_t bytes) {
                    keep_all(gpu->info.device);
                    return [gpu, bytes] {
                      void* p = nullptr;
                      check_cuda(cudaMallocAsync(&p, static_cast<std::size_t>(bytes), gpu->peer_stream.get()));
                      check_cuda(cudaFreeAsync(p, gpu->peer_stream.get()));
                    };
                  }});
}

}  // namespace bench
