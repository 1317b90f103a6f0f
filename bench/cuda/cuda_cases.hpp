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
  gpumem_stream* shared_stream = nullptr;  // peer_stream, for the library
  std::shared_ptr<GatedTimer> timer;
  std::unique_ptr<Geam> geam;  // null without cuBLAS, like blas
  std::unique_ptr<Blas> blas;

  explicit Gpu(const Context& context);
  ~Gpu();

  void* src(std::size_t bytes) const { return part(src_, bytes); }  // throws Skip when the buffer is smaller
  void* dst(std::size_t bytes) const { return part(dst_, bytes); }

  // Places for small results, apart from each other.
  void* result(int index) const { return static_cast<char*>(results_) + index * kResultStep; }

  // A blocking call of ours, or an enqueued one of either side, timed on the device.
  std::function<double()> device_time(std::function<void()> call, Gated how) const {
    return gated_sampler(timer, std::move(call), how);
  }

 private:
  void* part(void* buffer, std::size_t bytes) const;

  static constexpr int kResultStep = 256;
  static constexpr int kResults = 16;

  std::size_t bytes_ = 0;
  void* src_ = nullptr;
  void* dst_ = nullptr;
  void* results_ = nullptr;
};

using GpuPtr = std::shared_ptr<Gpu>;

// Sizes that may lie in L2 are measured both ways.
inline constexpr int64_t kCacheableElements = int64_t{1} << 24;

inline std::string wrong_count(int64_t wrong) {
  return wrong == 0 ? "" : std::to_string(wrong) + " elements are wrong";
}

Ceilings measure_cuda_ceilings(const Gpu& gpu);

// Each adds its cases; these are the reductions.
void add_cuda_reduce(std::vector<Case>& cases, const GpuPtr& gpu);       // beside CUB
void add_cuda_reduce_call(std::vector<Case>& cases, const GpuPtr& gpu);  // blocking calls
void add_cuda_reduce_kinds(std::vector<Case>& cases,
                           const GpuPtr& gpu);                      // other operations and layouts, beside our own
void add_cuda_blas1(std::vector<Case>& cases, const GpuPtr& gpu);   // dot, nrm2
void add_cuda_ladder(std::vector<Case>& cases, const GpuPtr& gpu);  // every variant in turn
std::vector<Summary> cuda_reduce_summaries();

void add_cuda_transpose(std::vector<Case>& cases, const GpuPtr& gpu);
void add_cuda_transpose_across(std::vector<Case>& cases, const GpuPtr& gpu);  // between host and device
void add_cuda_permute(std::vector<Case>& cases, const GpuPtr& gpu);
Summary cuda_permute_summary();
void add_cuda_copy_rows(std::vector<Case>& cases, const GpuPtr& gpu);  // 2-D and 3-D, gather, scatter
void add_cuda_axpby(std::vector<Case>& cases, const GpuPtr& gpu);
void add_cuda_convert(std::vector<Case>& cases, const GpuPtr& gpu);
void add_cuda_resize(std::vector<Case>& cases, const GpuPtr& gpu);
void add_cuda_heap_copy(std::vector<Case>& cases, const GpuPtr& gpu);  // between heap memory and the device
void add_cuda_managed(std::vector<Case>& cases, const GpuPtr& gpu);
void add_cuda_movement(std::vector<Case>& cases, const GpuPtr& gpu);
void add_cuda_dispatch(std::vector<Case>& cases, const GpuPtr& gpu);
void add_cuda_pool(std::vector<Case>& cases, const GpuPtr& gpu);
void add_cuda_dist(std::vector<Case>& cases);  // over two devices

}  // namespace bench
