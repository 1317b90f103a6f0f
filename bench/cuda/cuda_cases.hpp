// The CUDA benchmarks: what each file registers, and what the files share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cuda/cuda_check.hpp"
#include "cuda/gated_timer.hpp"
#include "cuda/peers_cublas.hpp"
#include "support/case.hpp"
#include "support/library.hpp"
#include "support/report.hpp"

namespace bench {

// Everything that the cases share: the library's context, the peers' stream, the timer and two large buffers of gpumem's
// device memory, which each case fills anew.
struct Gpu {
  Context ctx;
  gpumem_device_info info;
  Stream peer_stream;
  std::shared_ptr<GatedTimer> timer;
  std::unique_ptr<Geam> geam;  // null without cuBLAS

  explicit Gpu(const Context& context);
  ~Gpu();

  void* src(std::size_t bytes) const { return part(src_, bytes); }  // throws Skip when the buffer is smaller
  void* dst(std::size_t bytes) const { return part(dst_, bytes); }

  // A blocking call of ours, or an enqueued one of either side, timed on the device.
  std::function<double()> device_time(std::function<void()> call, Gated how) const {
    return gated_sampler(timer, std::move(call), how);
  }

 private:
  void* part(void* buffer, std::size_t bytes) const;

  std::size_t bytes_ = 0;
  void* src_ = nullptr;
  void* dst_ = nullptr;
};

using GpuPtr = std::shared_ptr<Gpu>;

// Sizes that may lie in L2 are measured both ways.
inline constexpr int64_t kCacheableElements = int64_t{1} << 24;

inline std::string wrong_count(int64_t wrong) {
  return wrong == 0 ? "" : std::to_string(wrong) + " elements are wrong";
}

Ceilings measure_cuda_ceilings(const Gpu& gpu);

void add_cuda_reduce(std::vector<Case>& cases, const GpuPtr& gpu);
void add_cuda_transpose(std::vector<Case>& cases, const GpuPtr& gpu);
void add_cuda_movement(std::vector<Case>& cases, const GpuPtr& gpu);
void add_cuda_dispatch(std::vector<Case>& cases, const GpuPtr& gpu);

}  // namespace bench
