// Managed memory that the host has written before each sample, by the host's clock. Prefetches are compared with the
// runtime's, and device work with the same work that faults its operand in.
#include <cstring>
#include <utility>

#include "cuda/cuda_cases.hpp"
#include "cuda/peers_cub.hpp"
#include "measure/host_clock.hpp"

namespace bench {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr int32_t kValue = 0x01010101;

void write_by_host(const tool::Operand& memory) {
  check_cuda(cudaDeviceSynchronize());
  std::memset(memory.get(), kValue & 0xff, static_cast<std::size_t>(memory.bytes()));
}

std::string verify(const tool::Operand& memory, int32_t value) {
  int64_t wrong = 0;
  for (int64_t i = 0; i < memory.bytes() / 4; i += 1021) wrong += memory.as<const int32_t>()[i] != value;
  return wrong_count(wrong);
}

OperandPtr managed(const GpuPtr& gpu, std::size_t bytes) {
  return std::make_shared<tool::Operand>(gpu->ctx.get(), "managed", static_cast<int64_t>(bytes), 0);
}

// One call per sample, because the next one would find its pages resident.
Side side_of(const OperandPtr& memory, int32_t value, std::function<void()> call) {
  return {one_call_sampler(std::move(call)), [memory] { write_by_host(*memory); },
          [memory, value] { return verify(*memory, value); }};
}

Case managed_case(const std::string& name, const char* peer, std::size_t bytes, Bar bar, std::function<Pair()> open) {
  const auto open_if_it_fits = [open = std::move(open), bytes] {
    std::size_t free = 0;
    std::size_t total = 0;
    check_cuda(cudaMemGetInfo(&free, &total));
    if (bytes > free / 4) throw Skip("it would take more than a quarter of what the device has free");
    return open();
  };
  return {.family = "managed",
          .name = name + "/" + std::to_string(bytes / kMiB) + "MiB",
          .peer = peer,
          .bar = bar,
          .bytes = static_cast<double>(bytes),
          .open = open_if_it_fits};
}

Case prefetch(const GpuPtr& gpu, std::size_t bytes) {
  return managed_case("prefetch", "cudaMemPrefetchAsync", bytes, at_least(0.98), [=] {
    const OperandPtr memory = managed(gpu, bytes);
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
    const OperandPtr memory = managed(gpu, bytes);
    const int64_t count = memory->bytes() / 4;
    const auto cub = std::make_shared<CubReduce>(CubOp::sum_wide, GPUMEM_I32, memory->get(), count);
    const auto sum = std::make_shared<int64_t>(0);
    Side ours = side_of(memory, kValue, [=] {
      check(gpumem_reduce_i32(gpu->ctx.get(), GPUMEM_SUM, memory->as<const int32_t>(), count, 1, sum.get()));
    });
    Side peer = side_of(memory, kValue, [=] {
      cub->enqueue(gpu->peer_stream.get());
      check_cuda(cudaStreamSynchronize(gpu->peer_stream.get()));
      check_cuda(cudaMemcpy(sum.get(), cub->result(), 8, cudaMemcpyDefault));
    });
    ours.verify = peer.verify = [=] { return wrong_count(*sum == count * kValue ? 0 : count); };
    return Pair{ours, peer};
  });
}

Case fill(const GpuPtr& gpu, std::size_t bytes) {
  return managed_case("fill", "cudaMemsetAsync by faults", bytes, {}, [=] {
    const OperandPtr memory = managed(gpu, bytes);
    return Pair{side_of(memory, 0,
                        [=] {
                          const int32_t zero = 0;
                          check(gpumem_fill(gpu->ctx.get(), memory->get(), &zero, 4, memory->bytes() / 4));
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
