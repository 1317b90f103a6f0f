// Managed memory that the host has written before each sample, by the host's clock: prefetches beside the runtime's, and work on the
// device beside the same work that fetches its operand by faults.
#include <cstring>
#include <utility>

#include "cuda/cuda_cases.hpp"
#include "cuda/peers_cub.hpp"
#include "measure/host_clock.hpp"

namespace bench {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr int32_t kValue = 0x01010101;

class ManagedBytes {
 public:
  ManagedBytes(Context ctx, std::size_t bytes) : ctx_(std::move(ctx)), bytes_(bytes) {
    check(gpumem_alloc_managed(ctx_.get(), static_cast<int64_t>(bytes), &p_));
  }
  ~ManagedBytes() { gpumem_free(ctx_.get(), p_); }
  ManagedBytes(const ManagedBytes&) = delete;
  ManagedBytes& operator=(const ManagedBytes&) = delete;

  void* get() const { return p_; }
  int64_t bytes() const { return static_cast<int64_t>(bytes_); }
  int64_t count() const { return bytes() / 4; }
  void write() const {
    check_cuda(cudaDeviceSynchronize());
    std::memset(p_, kValue & 0xff, bytes_);
  }
  std::string verify(int32_t value) const {
    const auto* x = static_cast<const int32_t*>(p_);
    int64_t wrong = 0;
    for (int64_t i = 0; i < count(); i += 1021) wrong += x[i] != value;
    return wrong_count(wrong);
  }

 private:
  Context ctx_;
  std::size_t bytes_;
  void* p_ = nullptr;
};

using Managed = std::shared_ptr<ManagedBytes>;

// One call a sample: the next would find its pages in place.
Side side_of(const Managed& memory, int32_t value, std::function<void()> call) {
  return {one_call_sampler(std::move(call)), [memory] { memory->write(); },
          [memory, value] { return memory->verify(value); }};
}

Case managed_case(std::string name, std::string peer, std::size_t bytes, Bar bar, std::function<Pair()> open) {
  Case c;
  c.family = "managed";
  c.name = std::move(name);
  c.name.append("/").append(std::to_string(bytes / kMiB)).append("MiB");
  c.peer = std::move(peer);
  c.bar = bar;
  c.bytes = static_cast<double>(bytes);
  c.open = [open = std::move(open), bytes] {
    std::size_t free = 0;
    std::size_t total = 0;
    check_cuda(cudaMemGetInfo(&free, &total));
    if (bytes > free / 4) throw Skip("it would take more than a quarter of what the device has free");
    return open();
  };
  return c;
}

Case prefetch(const GpuPtr& gpu, std::size_t bytes) {
  return managed_case("prefetch", "cudaMemPrefetchAsync", bytes, at_least(0.98), [=] {
    const auto memory = std::make_shared<ManagedBytes>(gpu->ctx, bytes);
    return Pair{
        side_of(
            memory, kValue,
            [=] { check(gpumem_managed_prefetch(gpu->ctx.get(), memory->get(), memory->bytes(), gpu->info.device)); }),
        side_of(memory, kValue, [=] {
          const cudaMemLocation device{cudaMemLocationTypeDevice, {gpu->info.device}};
          check_cuda(cudaMemPrefetchAsync(memory->get(), bytes, device, 0, gpu->peer_stream.get()));
          check_cuda(cudaStreamSynchronize(gpu->peer_stream.get()));
        })};
  });
}

Case reduce(const GpuPtr& gpu, std::size_t bytes) {
  return managed_case("sum/i32", "CUB by faults", bytes, at_least(2.3), [=] {
    const auto memory = std::make_shared<ManagedBytes>(gpu->ctx, bytes);
    const auto cub = std::make_shared<CubReduce>(CubOp::sum_wide, GPUMEM_I32, memory->get(), memory->count());
    const auto sum = std::make_shared<int64_t>(0);
    Side ours = side_of(memory, kValue, [=] {
      check(gpumem_reduce_i32(gpu->ctx.get(), GPUMEM_SUM, static_cast<const int32_t*>(memory->get()), memory->count(),
                              1, sum.get()));
    });
    Side peer = side_of(memory, kValue, [=] {
      cub->enqueue(gpu->peer_stream.get());
      check_cuda(cudaStreamSynchronize(gpu->peer_stream.get()));
      check_cuda(cudaMemcpy(sum.get(), cub->result(), 8, cudaMemcpyDefault));
    });
    ours.verify = peer.verify = [=] { return wrong_count(*sum == memory->count() * kValue ? 0 : memory->count()); };
    return Pair{ours, peer};
  });
}

Case fill(const GpuPtr& gpu, std::size_t bytes) {
  return managed_case("fill", "cudaMemsetAsync by faults", bytes, {}, [=] {
    const auto memory = std::make_shared<ManagedBytes>(gpu->ctx, bytes);
    return Pair{side_of(memory, 0,
                        [=] {
                          const int32_t zero = 0;
                          check(gpumem_fill(gpu->ctx.get(), memory->get(), &zero, 4, memory->count()));
                        }),
                side_of(memory, 0, [=] {
                  check_cuda(cudaMemsetAsync(memory->get(), 0, bytes, gpu->peer_stream.get()));
                  check_cuda(cudaStreamSynchronize(gpu->peer_stream.get()));
                })};
  });
}

}  // namespace

void add_cuda_managed(std::vector<Case>& cases, const GpuPtr& gpu) {
  if (gpu->info.concurrent_managed == 0) return;
  for (const std::size_t bytes : {512 * kMiB, 1024 * kMiB, 2048 * kMiB}) {
    cases.push_back(prefetch(gpu, bytes));
    cases.push_back(reduce(gpu, bytes));
    cases.push_back(fill(gpu, bytes));
  }
}

}  // namespace bench
