// The pools on the device, compared with the driver's pool with a raised release threshold.
#include "support/pool_cases.hpp"

#include <chrono>
#include <cstdint>
#include <functional>

#include "cuda/cuda_cases.hpp"

namespace bench {
namespace {

// The device's default pool keeps freed memory. Otherwise the baseline would ask the system at each synchronisation.
void keep_all(int device) {
  cudaMemPool_t pool = nullptr;
  check_cuda(cudaDeviceGetDefaultMemPool(&pool, device));
  uint64_t all = UINT64_MAX;
  check_cuda(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all));
}

// The driver's pinned memory, which it allocates anew each time.
std::function<double()> cold_by_driver(int64_t bytes) {
  return [bytes] {
    void* p = nullptr;
    const auto begin = std::chrono::steady_clock::now();
    check_cuda(cudaMallocHost(&p, static_cast<std::size_t>(bytes)));
    const double taken = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    check_cuda(cudaFreeHost(p));
    return taken;
  };
}

}  // namespace

void add_cuda_pool(std::vector<Case>& cases, const GpuPtr& gpu) {
  add_pinned_pairs(cases, gpu->ctx, {"cudaMallocHost", cold_by_driver});
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
