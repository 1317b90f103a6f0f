// The host's time to enqueue a small operation, against the raw call or launch that does the same work.
#include <chrono>
#include <cstring>
#include <utility>

#include "cuda/cuda_cases.hpp"
#include "cuda/device_kernels.hpp"
#include "measure/host_clock.hpp"
#include "support/random.hpp"

namespace bench {
namespace {

constexpr std::size_t kBytes = 4096;  // the device is done before the host has enqueued the next
constexpr int kCalls = 256;           // well below the depth at which a stream's queue makes the host wait
constexpr double kAddedUs = 1.5;

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
  Case c;
  c.family = "dispatch";
  c.name = name;
  c.peer = peer;
  c.bar = at_most_added_us(kAddedUs);
  c.quick = true;
  c.open = std::move(open);
  return c;
}

Pair open_device_copy(const GpuPtr& gpu) {
  void *src = gpu->src(kBytes), *dst = gpu->dst(kBytes);
  generate_elements(src, kBytes / 8, 8);
  const auto poison = [dst] { check_cuda(cudaMemset(dst, kPoison, kBytes)); };
  const auto verify = [dst] { return wrong_count(count_wrong_copied(dst, kBytes / 8, 8)); };
  return {
      {enqueue_sampler([=] { check(gpumem_copy_async(gpu->ctx.get(), dst, src, kBytes, nullptr)); }), poison, verify},
      {enqueue_sampler(
           [=] { check_cuda(cudaMemcpyAsync(dst, src, kBytes, cudaMemcpyDeviceToDevice, gpu->peer_stream.get())); }),
       poison, verify}};
}

Pair open_pinned_copy(const GpuPtr& gpu) {
  void* pinned = nullptr;
  check(gpumem_alloc_pinned(gpu->ctx.get(), kBytes, &pinned));
  const std::shared_ptr<void> src(pinned, [ctx = gpu->ctx](void* p) { gpumem_free(ctx.get(), p); });
  auto* words = static_cast<uint64_t*>(pinned);
  for (std::size_t i = 0; i < kBytes / 8; ++i) words[i] = random_element<uint64_t>(i);
  void* dst = gpu->dst(kBytes);
  const auto poison = [dst] { check_cuda(cudaMemset(dst, kPoison, kBytes)); };
  const auto verify = [dst] { return wrong_count(count_wrong_copied(dst, kBytes / 8, 8)); };
  return {{enqueue_sampler([=] { check(gpumem_copy_async(gpu->ctx.get(), dst, src.get(), kBytes, nullptr)); }), poison,
           verify},
          {enqueue_sampler([=] {
             check_cuda(cudaMemcpyAsync(dst, src.get(), kBytes, cudaMemcpyHostToDevice, gpu->peer_stream.get()));
           }),
           poison, verify}};
}

Pair open_fill(const GpuPtr& gpu, int pattern_bytes, std::function<void(void*)> peer) {
  void* dst = gpu->dst(kBytes);
  const auto poison = [dst] { check_cuda(cudaMemset(dst, kPoison, kBytes)); };
  const auto verify = [dst, pattern_bytes] {
    return wrong_count(count_wrong_filled(dst, kBytes, kPattern, pattern_bytes));
  };
  const auto ours = [=] {
    check(gpumem_fill_async(gpu->ctx.get(), dst, kPattern, pattern_bytes, int64_t{kBytes} / pattern_bytes, nullptr));
  };
  return {{enqueue_sampler(ours), poison, verify}, {enqueue_sampler([=] { peer(dst); }), poison, verify}};
}

}  // namespace

void add_cuda_dispatch(std::vector<Case>& cases, const GpuPtr& gpu) {
  cases.push_back(dispatch_case("copy_async/device", "cudaMemcpyAsync", [gpu] { return open_device_copy(gpu); }));
  cases.push_back(dispatch_case("copy_async/pinned", "cudaMemcpyAsync", [gpu] { return open_pinned_copy(gpu); }));
  cases.push_back(dispatch_case("fill_async/pattern1", "cudaMemsetAsync", [gpu] {
    return open_fill(
        gpu, 1, [gpu](void* dst) { check_cuda(cudaMemsetAsync(dst, kPattern[0], kBytes, gpu->peer_stream.get())); });
  }));
  cases.push_back(dispatch_case("fill_async/pattern16", "kernel launch", [gpu] {
    uint64_t words[2];
    std::memcpy(words, kPattern, sizeof words);
    return open_fill(gpu, 16, [gpu, low = words[0], high = words[1]](void* dst) {
      launch_small_fill(dst, low, high, kBytes / 16, gpu->peer_stream.get());
      check_cuda(cudaPeekAtLastError());
    });
  }));
}

}  // namespace bench
