#include <algorithm>

#include "cuda/cuda_cases.hpp"
#include "cuda/device_kernels.hpp"
#include "kernels/ceiling/ceiling.hpp"

namespace bench {
namespace {

constexpr std::size_t kMostBytes = std::size_t{16} << 30;  // 2^31 eight-byte elements
constexpr std::size_t kAlignment = 256;
constexpr int kTries = 9;

// The best of a few runs by events: a ceiling is what the device can do.
template <class Enqueue>
double best_rate(double bytes, const Enqueue& enqueue) {
  const Event begin, end;
  double best = 0;
  for (int i = 0; i < kTries; ++i) {
    check_cuda(cudaEventRecord(begin.get(), cudaStreamLegacy));
    enqueue();
    check_cuda(cudaEventRecord(end.get(), cudaStreamLegacy));
    check_cuda(cudaEventSynchronize(end.get()));
    float ms = 0;
    check_cuda(cudaEventElapsedTime(&ms, begin.get(), end.get()));
    best = std::max(best, bytes / (static_cast<double>(ms) * 1e-3));
  }
  return best;
}

}  // namespace

Gpu::Gpu(const Context& context) : ctx(context), info(device_of(context.get())) {
  timer = std::make_shared<GatedTimer>(static_cast<std::size_t>(info.l2_bytes));
  if (Geam::built()) geam = std::make_unique<Geam>();
  if (Geam::built()) blas = std::make_unique<Blas>(peer_stream.get());
  check(gpumem_stream_wrap(ctx.get(), peer_stream.get(), &shared_stream));
  std::size_t free = 0, total = 0;
  check_cuda(cudaMemGetInfo(&free, &total));
  bytes_ = std::min(kMostBytes, free / 5 * 2 / kAlignment * kAlignment);
  check(gpumem_alloc_device(ctx.get(), static_cast<int64_t>(bytes_), &src_));
  check(gpumem_alloc_device(ctx.get(), static_cast<int64_t>(bytes_), &dst_));
  check(gpumem_alloc_device(ctx.get(), kResults * kResultStep, &results_));
}

Gpu::~Gpu() {
  cudaDeviceSynchronize();
  gpumem_stream_destroy(shared_stream);
  gpumem_free(ctx.get(), results_);
  gpumem_free(ctx.get(), src_);
  gpumem_free(ctx.get(), dst_);
}

void* Gpu::part(void* buffer, std::size_t bytes) const {
  if (bytes > bytes_)
    throw Skip("it needs " + std::to_string(bytes >> 20) + " MiB twice, more than this device has free");
  return buffer;
}

Ceilings measure_cuda_ceilings(const Gpu& gpu) {
  std::size_t bytes = std::size_t{4} << 30;
  void *src = nullptr, *dst = nullptr;
  for (; !src; bytes /= 2) {
    try {
      src = gpu.src(bytes);
      dst = gpu.dst(bytes);
      break;
    } catch (const Skip&) {
    }
  }
  const DeviceBytes sink(sizeof(unsigned int));
  generate_elements(src, static_cast<int64_t>(bytes / 8), 8);
  Ceilings c;
  c.theoretical = static_cast<double>(gpu.info.bandwidth_bytes_per_s);
  for (const int blocks_a_multiprocessor : {4, 16, 64}) {
    const int blocks = blocks_a_multiprocessor * gpu.info.multiprocessors;
    c.read = std::max(c.read, best_rate(static_cast<double>(bytes), [&] {
                        check_cuda(gpumem::kernels::read_all(src, static_cast<int64_t>(bytes), sink.as<unsigned int>(),
                                                             blocks, cudaStreamLegacy));
                      }));
  }
  c.write =
      best_rate(static_cast<double>(bytes), [&] { check_cuda(cudaMemsetAsync(dst, 0x3C, bytes, cudaStreamLegacy)); });
  c.copy = best_rate(2 * static_cast<double>(bytes),
                     [&] { check_cuda(cudaMemcpyAsync(dst, src, bytes, cudaMemcpyDeviceToDevice, cudaStreamLegacy)); });
  return c;
}

}  // namespace bench
