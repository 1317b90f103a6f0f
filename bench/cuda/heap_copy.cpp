// Copies between heap memory and the device, by the host's clock, with few and many host threads. The baselines of
// gpumem_copy are cudaMemcpy and a copy of pinned memory. The baseline of gpumem_copy_async with a wait is gpumem_copy.
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>

#include "cuda/cuda_cases.hpp"
#include "cuda/kernels.hpp"
#include "measure/host_clock.hpp"

namespace bench {
namespace {

constexpr HostClock kClock{};
constexpr std::size_t kKiB = 1024;
constexpr std::size_t kMiB = 1024 * kKiB;
constexpr std::size_t kGiB = 1024 * kMiB;
constexpr std::size_t kLong = 256 * kMiB;
constexpr std::size_t kMostPinned = kGiB;
// Longer results on the host are checked at every kStep-th word only.
constexpr std::size_t kLookedAtWhole = 16 * kMiB;
constexpr std::size_t kStep = 1021;

Case heap_case(std::size_t bytes, bool to_device, int threads, const char* peer) {
  std::string name = (to_device ? "to_device/" : "from_device/") + size_name(bytes, 30);
  if (threads > 0) name.append("/").append(std::to_string(threads)).append(threads == 1 ? " thread" : " threads");
  return {
      .family = "heap_copy", .name = name, .peer = peer, .bar = {}, .bytes = static_cast<double>(bytes), .open = {}};
}

// The program's memory, touched once and shared by all cases that are alive.
class Heap {
 public:
  char* get(std::size_t bytes) {
    if (bytes > bytes_) {
      p_.reset();
      p_.reset(static_cast<char*>(std::aligned_alloc(4096, bytes)));
      if (p_ == nullptr) throw Skip("it needs " + std::to_string(bytes / kMiB) + " MiB of host memory");
      std::memset(p_.get(), 1, bytes);
      bytes_ = bytes;
    }
    return p_.get();
  }

 private:
  struct Free {
    void operator()(char* p) const { std::free(p); }
  };
  std::unique_ptr<char, Free> p_;
  std::size_t bytes_ = 0;
};

struct Problem {
  GpuPtr gpu;
  std::size_t bytes;
  bool to_device;
  void *src, *dst;  // of the device

  std::size_t words() const { return bytes / 4; }
  std::size_t step() const { return bytes > kLookedAtWhole ? kStep : 1; }

  void poison(char* host) const {
    if (to_device) {
      check_cuda(cudaMemset(dst, kSpoiled, bytes));
      check_cuda(cudaDeviceSynchronize());
    } else {
      for (std::size_t i = 0; i < words(); i += step()) std::memset(host + 4 * i, kSpoiled, 4);
    }
  }
  std::string verify(const char* host) const {
    if (to_device) return wrong_count(count_different(dst, src, static_cast<int64_t>(bytes)));
    int64_t wrong = 0;
    for (std::size_t i = 0; i < words(); i += step()) {
      uint32_t word = 0;
      std::memcpy(&word, host + 4 * i, 4);
      wrong += word != elements(4).number(i);
    }
    return wrong_count(wrong);
  }
  void* to(char* host) const { return to_device ? dst : host; }
  const void* from(const char* host) const { return to_device ? host : src; }
};

std::function<double()> sampler(std::size_t bytes, std::function<void()> call) {
  return bytes < kLong ? host_sampler(std::move(call), kClock) : one_call_sampler(std::move(call));
}

Side side_of(const Problem& p, char* host, std::function<void()> call) {
  return {sampler(p.bytes, std::move(call)), [p, host] { p.poison(host); }, [p, host] { return p.verify(host); }};
}

Problem open_problem(const GpuPtr& gpu, std::size_t bytes, bool to_device, char* heap) {
  const Problem p{gpu, bytes, to_device, gpu->src(bytes), gpu->dst(bytes)};
  write_contents(p.src, static_cast<int64_t>(bytes), elements(4));
  check_cuda(cudaMemcpy(heap, p.src, bytes, cudaMemcpyDefault));
  return p;
}

Side ours(const Problem& p, const Context& ctx, const std::shared_ptr<Heap>& heap) {
  char* const host = heap->get(p.bytes);
  return side_of(p, host, [p, ctx, heap, host] {
    check(gpumem_copy(ctx.get(), p.to(host), p.from(host), static_cast<int64_t>(p.bytes)));
  });
}

using HeapPtr = std::shared_ptr<Heap>;

// threads: of the context's host backend; 0: all.
Case beside_memcpy(const GpuPtr& gpu, const HeapPtr& heap, const Context& ctx, std::size_t bytes, bool to_device,
                   int threads) {
  Case c = heap_case(bytes, to_device, threads, "cudaMemcpy");
  c.quick = threads == 0 && bytes == 16 * kMiB;
  c.bar = at_least(bytes < kMiB ? 0.9 : 0.98);
  if (threads == 0 && bytes >= kLong) c.bar = at_least(to_device ? 4 : 2.5);
  c.open = [=] {
    const int here = static_cast<int>(std::thread::hardware_concurrency());
    if (threads > here) throw Skip("fewer than " + std::to_string(threads) + " processors");
    if (threads == 0 && bytes >= kLong && here < 8) throw Skip("fewer than 8 processors");
    char* const host = heap->get(bytes);
    const Problem p = open_problem(gpu, bytes, to_device, host);
    return Pair{ours(p, threads == 0 ? gpu->ctx : ctx, heap), side_of(p, host, [p, heap, host] {
                  check_cuda(cudaMemcpy(p.to(host), p.from(host), p.bytes, cudaMemcpyDefault));
                })};
  };
  return c;
}

Case beside_pinned(const GpuPtr& gpu, const HeapPtr& heap, std::size_t bytes, bool to_device) {
  Case c = heap_case(bytes, to_device, 0, "pinned memory");
  if (bytes >= kLong) c.bar = at_least(0.9);
  c.open = [=] {
    const Problem p = open_problem(gpu, bytes, to_device, heap->get(bytes));
    const auto pinned = std::make_shared<PinnedBytes>(bytes);
    char* const host = static_cast<char*>(pinned->as());
    std::memcpy(host, heap->get(bytes), bytes);
    return Pair{
        ours(p, gpu->ctx, heap), side_of(p, host, [p, pinned, host] {
          check_cuda(cudaMemcpyAsync(p.to(host), p.from(host), p.bytes, cudaMemcpyDefault, p.gpu->peer_stream.get()));
          check_cuda(cudaStreamSynchronize(p.gpu->peer_stream.get()));
        })};
  };
  return c;
}

// In stream order, with a host callback per chunk, instead of at once.
Case enqueued(const GpuPtr& gpu, const HeapPtr& heap, std::size_t bytes, bool to_device) {
  Case c = heap_case(bytes, to_device, 0, "gpumem_copy");
  c.name += "/enqueued";
  c.open = [=] {
    char* const host = heap->get(bytes);
    const Problem p = open_problem(gpu, bytes, to_device, host);
    return Pair{side_of(p, host,
                        [p, heap, host] {
                          gpumem_ctx* const ctx = p.gpu->ctx.get();
                          const auto n = static_cast<int64_t>(p.bytes);
                          check(gpumem_copy_async(ctx, p.to(host), p.from(host), n, nullptr));
                          check(gpumem_stream_synchronize(ctx, nullptr));
                        }),
                ours(p, gpu->ctx, heap)};
  };
  return c;
}

}  // namespace

void add_cuda_heap_copy(std::vector<Case>& cases, const GpuPtr& gpu) {
  const auto heap = std::make_shared<Heap>();
  const auto sizes_up_to = [](std::size_t most, const auto& add) {
    for (std::size_t bytes = kKiB; bytes <= most; bytes *= 2) {
      for (const bool to_device : {true, false}) add(bytes, to_device);
    }
  };
  for (const int threads : {0, 1, 2, 4}) {
    const Context ctx = threads == 0 ? gpu->ctx : make_context(gpu->info.device, threads);
    sizes_up_to(4 * kGiB, [&](std::size_t bytes, bool to_device) {
      cases.push_back(beside_memcpy(gpu, heap, ctx, bytes, to_device, threads));
    });
  }
  sizes_up_to(kMostPinned,
              [&](std::size_t bytes, bool to_device) { cases.push_back(beside_pinned(gpu, heap, bytes, to_device)); });
  for (const std::size_t bytes : {64 * kKiB, kMiB, 16 * kMiB, 256 * kMiB, kGiB}) {
    for (const bool to_device : {true, false}) cases.push_back(enqueued(gpu, heap, bytes, to_device));
  }
}

}  // namespace bench
