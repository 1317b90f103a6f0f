// Traces of allocations and frees: gpumem's device memory, cudaMallocAsync, and RMM's pool and arena where its headers
// are found. Prints JSON. Each thread has a stream, and no other work runs.
//   bench_pool_traces [--operations=40000] [--only=PART OF A TRACE'S NAME] [--side=NAME] [--threads=N]
#include <cuda_runtime.h>
#include <gpumem.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "support/pool_traces.hpp"

#ifdef BENCH_HAS_RMM
#include <rmm/cuda_stream_view.hpp>
#include <rmm/mr/arena_memory_resource.hpp>
#include <rmm/mr/cuda_memory_resource.hpp>
#include <rmm/mr/pool_memory_resource.hpp>
#endif

namespace {

constexpr double kGiB = 0x1p30;

void check(bool ok, const char* what) {
  if (ok) return;
  char message[512] = "";
  gpumem_last_error(message, sizeof message, nullptr);
  std::fprintf(stderr, "bench_pool_traces: %s failed: %s; %s\n", what, cudaGetErrorString(cudaGetLastError()), message);
  std::exit(1);
}

size_t free_bytes() {
  size_t free = 0;
  size_t total = 0;
  check(cudaDeviceSynchronize() == cudaSuccess && cudaMemGetInfo(&free, &total) == cudaSuccess, "cudaMemGetInfo");
  return free;
}

// One allocator with a stream for each thread.
class Pool {
 public:
  Pool() = default;
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  virtual ~Pool() = default;
  virtual void* allocate(int thread, size_t bytes) = 0;
  virtual void release(int thread, void* p, size_t bytes) = 0;
  virtual long long misses() const { return -1; }  // -1: unknown
};

class GpumemPool final : public Pool {
 public:
  explicit GpumemPool(int threads) : streams_(static_cast<size_t>(threads)) {
    gpumem_ctx_options options;
    check(gpumem_ctx_options_init(&options, sizeof options) == GPUMEM_OK, "gpumem_ctx_options_init");
    options.device = GPUMEM_DEVICE_CUDA;
    check(gpumem_ctx_create(&options, &ctx_) == GPUMEM_OK, "gpumem_ctx_create");
    for (gpumem_stream*& stream : streams_) {
      check(gpumem_stream_create(ctx_, &stream) == GPUMEM_OK, "gpumem_stream_create");
    }
  }
  ~GpumemPool() override {
    for (gpumem_stream* stream : streams_) gpumem_stream_destroy(stream);
    gpumem_ctx_destroy(ctx_);
  }
  void* allocate(int thread, size_t bytes) override {
    void* p = nullptr;
    const auto size = static_cast<int64_t>(bytes);
    return gpumem_alloc_async(ctx_, size, 256, streams_[static_cast<size_t>(thread)], &p) == GPUMEM_OK ? p : nullptr;
  }
  void release(int thread, void* p, size_t) override {
    check(gpumem_free_async(ctx_, p, streams_[static_cast<size_t>(thread)]) == GPUMEM_OK, "gpumem_free_async");
  }
  long long misses() const override {
    gpumem_memory_stats_info stats;
    check(gpumem_memory_stats_init(&stats, sizeof stats) == GPUMEM_OK, "gpumem_memory_stats_init");
    check(gpumem_memory_stats(ctx_, &stats) == GPUMEM_OK, "gpumem_memory_stats");
    return stats.device_misses;
  }

 private:
  gpumem_ctx* ctx_ = nullptr;
  std::vector<gpumem_stream*> streams_;
};

class CudaStreams {
 public:
  explicit CudaStreams(int threads) : streams_(static_cast<size_t>(threads)) {
    for (cudaStream_t& stream : streams_) {
      check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess, "cudaStreamCreateWithFlags");
    }
  }
  ~CudaStreams() {
    for (cudaStream_t stream : streams_) static_cast<void>(cudaStreamDestroy(stream));
  }
  CudaStreams(const CudaStreams&) = delete;
  CudaStreams& operator=(const CudaStreams&) = delete;
  cudaStream_t of(int thread) const { return streams_[static_cast<size_t>(thread)]; }

 private:
  std::vector<cudaStream_t> streams_;
};

// A pool of its own that keeps freed memory.
class DriverPool final : public Pool {
 public:
  explicit DriverPool(int threads) : streams_(threads) {
    cudaMemPoolProps props{};
    props.allocType = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice;
    check(cudaMemPoolCreate(&pool_, &props) == cudaSuccess, "cudaMemPoolCreate");
    uint64_t all = UINT64_MAX;
    check(cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &all) == cudaSuccess,
          "cudaMemPoolSetAttribute");
  }
  ~DriverPool() override {
    static_cast<void>(cudaDeviceSynchronize());
    static_cast<void>(cudaMemPoolDestroy(pool_));
  }
  void* allocate(int thread, size_t bytes) override {
    void* p = nullptr;
    return cudaMallocFromPoolAsync(&p, bytes, pool_, streams_.of(thread)) == cudaSuccess ? p : nullptr;
  }
  void release(int thread, void* p, size_t) override {
    check(cudaFreeAsync(p, streams_.of(thread)) == cudaSuccess, "cudaFreeAsync");
  }

 private:
  CudaStreams streams_;
  cudaMemPool_t pool_ = nullptr;
};

#ifdef BENCH_HAS_RMM
template <class Resource>
class RmmPool final : public Pool {
 public:
  RmmPool(int threads, size_t bytes) : streams_(threads), resource_(rmm::mr::cuda_memory_resource{}, bytes) {}
  void* allocate(int thread, size_t bytes) override {
    try {
      return resource_.allocate(rmm::cuda_stream_view{streams_.of(thread)}, bytes, 256);
    } catch (const std::exception&) {
      return nullptr;
    }
  }
  void release(int thread, void* p, size_t bytes) override {
    resource_.deallocate(rmm::cuda_stream_view{streams_.of(thread)}, p, bytes, 256);
  }

 private:
  CudaStreams streams_;
  Resource resource_;
};
#endif

struct NamedPool {
  const char* name;
  std::function<std::unique_ptr<Pool>(const bench::Trace&, int threads)> open;
};

// RMM's pool begins with room for what the traces need, as programs configure it.
std::vector<NamedPool> pools() {
  std::vector<NamedPool> all{
      {"gpumem", [](const bench::Trace&, int threads) { return std::make_unique<GpumemPool>(threads); }},
      {"cudaMallocAsync", [](const bench::Trace&, int threads) { return std::make_unique<DriverPool>(threads); }}};
#ifdef BENCH_HAS_RMM
  static constexpr size_t kSmall = size_t{1} << 30;
  static constexpr size_t kLarge = size_t{32} << 30;
  static constexpr size_t kArena = size_t{30} << 30;
  all.push_back({"rmm pool", [](const bench::Trace& trace, int threads) -> std::unique_ptr<Pool> {
                   const size_t bytes = trace.shared ? kLarge : kSmall;
                   return std::make_unique<RmmPool<rmm::mr::pool_memory_resource>>(threads, bytes);
                 }});
  all.push_back({"rmm arena", [](const bench::Trace&, int threads) {
                   return std::make_unique<RmmPool<rmm::mr::arena_memory_resource>>(threads, kArena);
                 }});
#endif
  return all;
}

void print_row(const bench::Trace& trace, int threads, const char* side, int operations, bool first) {
  for (const NamedPool& named : pools()) {
    if (std::strcmp(named.name, side) != 0) continue;
    const size_t before = free_bytes();
    const auto pool = named.open(trace, threads);
    double held = 0;
    long long misses = 0;
    const bench::TraceResult run = bench::run_trace(
        trace, threads, operations, [&](int thread, size_t bytes) { return pool->allocate(thread, bytes); },
        [&](int thread, void* p, size_t bytes) { pool->release(thread, p, bytes); },
        [&] {
          held = static_cast<double>(before) - static_cast<double>(free_bytes());
          misses = pool->misses();
        });
    std::printf(
        "%s  {\"trace\": \"%s\", \"threads\": %d, \"side\": \"%s\", \"us_per_operation\": %.3f, "
        "\"held_gib\": %.2f, \"live_gib\": %.2f, \"longest_us\": %.0f, \"misses\": %lld, \"failures\": %lld, "
        "\"allocating_s\": %.3f, \"freeing_s\": %.3f}",
        first ? "" : ",\n", trace.name, threads, side, run.seconds / operations * 1e6, held / kGiB,
        run.live_peak / kGiB, run.longest_seconds * 1e6, misses, static_cast<long long>(run.failures), run.allocating,
        run.freeing);
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  int operations = 40000;
  int only_threads = 0;
  std::string only;
  std::string only_side;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const std::string value = argument.substr(argument.find('=') + 1);
    if (argument.rfind("--operations=", 0) == 0) operations = std::stoi(value);
    if (argument.rfind("--threads=", 0) == 0) only_threads = std::stoi(value);
    if (argument.rfind("--only=", 0) == 0) only = value;
    if (argument.rfind("--side=", 0) == 0) only_side = value;
  }
  check(cudaFree(nullptr) == cudaSuccess, "cudaFree");
  std::printf("[\n");
  bool first = true;
  for (const bench::Trace& trace : bench::kTraces) {
    if (std::strstr(trace.name, only.c_str()) == nullptr) continue;
    for (const int threads : {1, 8}) {
      if (only_threads != 0 && threads != only_threads) continue;
      for (const NamedPool& named : pools()) {
        if (!only_side.empty() && only_side != named.name) continue;
        print_row(trace, threads, named.name, operations, first);
        first = false;
      }
    }
  }
  std::printf("\n]\n");
  return 0;
}
