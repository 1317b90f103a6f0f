// The CUDA benchmarks: the functions that add cases, and their shared state.
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

// Shared by all cases: the library's context, the baselines' stream, the timer, and two large buffers of gpumem's
// device memory. Each case fills the buffers anew.
struct Gpu {
  Context ctx;
  gpumem_device_info info;
  Stream peer_stream;
  gpumem_stream* shared_stream = nullptr;  // peer_stream, for the library
  std::shared_ptr<GatedTimer> timer;
  std::unique_ptr<Blas> blas;  // null without cuBLAS

  explicit Gpu(const Context& context);
  ~Gpu();

  void* src(std::size_t bytes) const { return part(src_, bytes); }  // throws Skip if the buffer is smaller
  void* dst(std::size_t bytes) const { return part(dst_, bytes); }

  // The status target of asynchronous calls that may reject their input.
  gpumem_status* status() const { return static_cast<gpumem_status*>(status_); }

  // An array in the large buffers for an operand of a line: inputs in the first, results in the second. Memory of other
  // kinds is the library's. Each case starts at the beginning; `room` counts the bytes in use.
  struct Room {
    int64_t src = 0;
    int64_t dst = 0;
  };
  OperandPtr operand(Room& room, const std::string& key, const std::string& kind, int64_t bytes,
                     int64_t misaligned) const;

  // Both sides enqueue on this stream.
  Gated one_stream(bool cold, bool batch = true) const {
    return {.cold = cold, .batch = batch, .stream = peer_stream.get()};
  }
  std::function<double()> device_time(std::function<void()> call, Gated how) const {
    return gated_sampler(timer, std::move(call), how);
  }

 private:
  void* part(void* buffer, std::size_t bytes) const;

  std::size_t bytes_ = 0;
  void* src_ = nullptr;
  void* dst_ = nullptr;
  void* status_ = nullptr;
};

using GpuPtr = std::shared_ptr<Gpu>;

// Sizes that may fit L2 are measured both warm and cold.
inline constexpr int64_t kCacheableElements = int64_t{1} << 24;

void add_cuda_reductions(std::vector<Case>& cases, const GpuPtr& gpu);
void add_cuda_reduce_kinds(std::vector<Case>& cases,
                           const GpuPtr& gpu);  // other operations and layouts, and cuBLAS
std::vector<Summary> cuda_reduce_summaries();
void add_cuda_lines(std::vector<Case>& cases, const GpuPtr& gpu);
Summary cuda_permute_summary();
void add_cuda_heap_copy(std::vector<Case>& cases, const GpuPtr& gpu);
void add_cuda_managed(std::vector<Case>& cases, const GpuPtr& gpu);
void add_cuda_dispatch(std::vector<Case>& cases, const GpuPtr& gpu);
void add_cuda_pool(std::vector<Case>& cases, const GpuPtr& gpu);
void add_cuda_dist(std::vector<Case>& cases);

}  // namespace bench
