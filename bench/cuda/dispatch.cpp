// The host's time to enqueue a small operation, compared with the raw call or launch that does the same work.
#include <chrono>
#include <utility>

#include "cuda/cuda_cases.hpp"
#include "cuda/kernels.hpp"
#include "measure/host_clock.hpp"

namespace bench {
namespace {

constexpr std::size_t kBytes = 4096;  // the device finishes before the host has enqueued the next call
constexpr int kCalls = 256;           // well below the queue depth that blocks the host
constexpr double kAddedUs = 1.5;
constexpr tool::Pattern kPattern = tool::fill_pattern(false);

std::function<double()> enqueue_sampler(std::function<void()> call) {
  return [call = std::move(call)] {
    call();
    check_cuda(cudaDeviceSynchronize());
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < kCalls; ++i) call();
    const double taken = Seconds(std::chrono::steady_clock::now() - begin).count();
    check_cuda(cudaDeviceSynchronize());
    return taken / kCalls;
  };
}

Case dispatch_case(const char* name, const char* peer, std::function<Pair()> open) {
  return {.family = "dispatch",
          .name = name,
          .peer = peer,
          .bar = at_most_added_us(kAddedUs),
          .quick = true,
          .open = std::move(open)};
}

// `expected` is device memory; dst must equal it afterwards.
Side side_of(std::function<void()> call, void* dst, const void* expected) {
  return {enqueue_sampler(std::move(call)), [dst] { check_cuda(cudaMemset(dst, kSpoiled, kBytes)); },
          [=] { return wrong_count(count_different(dst, expected, kBytes)); }};
}

// pinned: the source is pinned memory with the same contents.
Pair open_copy(const GpuPtr& gpu, bool pinned) {
  void *const dst = gpu->dst(kBytes), *const same = gpu->src(kBytes);
  write_contents(same, kBytes, elements(8));
  const auto source = std::make_shared<tool::Operand>(gpu->ctx.get(), "pinned", kBytes, 0);
  source->fill(elements(8));
  const void* const src = pinned ? source->get() : same;
  const auto ours = [=] {
    check(gpumem_copy_async(gpu->ctx.get(), dst, src, kBytes, nullptr));
    static_cast<void>(source);
  };
  const cudaMemcpyKind kind = pinned ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToDevice;
  const auto peer = [=] {
    check_cuda(cudaMemcpyAsync(dst, src, kBytes, kind, gpu->peer_stream.get()));
    static_cast<void>(source);
  };
  return {side_of(ours, dst, same), side_of(peer, dst, same)};
}

Pair open_fill(const GpuPtr& gpu, int pattern_bytes, const std::function<void(void*)>& peer) {
  void *const dst = gpu->dst(kBytes), *const expected = gpu->src(kBytes);
  fill_plainly(expected, kBytes, kPattern, pattern_bytes);
  const auto ours = [=] {
    check(gpumem_fill_async(gpu->ctx.get(), dst, kPattern.bytes, pattern_bytes, int64_t{kBytes} / pattern_bytes,
                            nullptr));
  };
  return {side_of(ours, dst, expected), side_of([=] { peer(dst); }, dst, expected)};
}

}  // namespace

void add_cuda_dispatch(std::vector<Case>& cases, const GpuPtr& gpu) {
  cases.push_back(dispatch_case("copy_async/device", "cudaMemcpyAsync", [gpu] { return open_copy(gpu, false); }));
  cases.push_back(dispatch_case("copy_async/pinned", "cudaMemcpyAsync", [gpu] { return open_copy(gpu, true); }));
  cases.push_back(dispatch_case("fill_async/pattern1", "cudaMemsetAsync", [gpu] {
    return open_fill(gpu, 1, [gpu](void* dst) {
      check_cuda(cudaMemsetAsync(dst, kPattern.bytes[0], kBytes, gpu->peer_stream.get()));
    });
  }));
  cases.push_back(dispatch_case("fill_async/pattern16", "kernel launch", [gpu] {
    return open_fill(gpu, 16, [gpu](void* dst) {
      launch_small_fill(dst, kPattern, kBytes / 16, gpu->peer_stream.get());
      check_cuda(cudaPeekAtLastError());
    });
  }));
}

}  // namespace bench
