// The whole blocking call that returns a scalar, by the host's clock: gpumem_reduce_i32 against cub::DeviceReduce::Sum, the
// copy of its four bytes into pinned memory and the wait for its stream.
#include <cstring>
#include <utility>

#include "cuda/peers_cub.hpp"
#include "cuda/scalar.hpp"
#include "measure/host_clock.hpp"
#include "support/random.hpp"

namespace bench {
namespace {

constexpr HostClock kCallClock{std::chrono::milliseconds(0), std::chrono::microseconds(500)};

struct Problem {
  GpuPtr gpu;
  Input in;
  CubReduce cub;
  int64_t result = 0;
  PinnedBytes cub_result{8};

  Problem(const GpuPtr& g, const Input& input) : gpu(g), in(input), cub(CubOp::sum, in.dtype, in.x, in.n) {}

  void call() {
    check(gpumem_reduce_i32(gpu->ctx.get(), GPUMEM_SUM, static_cast<const int32_t*>(in.x), in.n, 1, &result));
  }
  void cub_call() {
    const cudaStream_t stream = gpu->peer_stream.get();
    cub.enqueue(stream);
    check_cuda(cudaMemcpyAsync(cub_result.as(), cub.result(), 4, cudaMemcpyDeviceToHost, stream));
    check_cuda(cudaStreamSynchronize(stream));
  }
};

Pair open_call(const GpuPtr& gpu, int64_t n, bool cold) {
  const auto p = std::make_shared<Problem>(gpu, make_input(GPUMEM_I32, gpu->src(bytes_of(GPUMEM_I32, n)), nullptr, n));
  const auto sampler = [&](std::function<void()> call) {
    return cold ? cold_host_sampler(gpu->timer, std::move(call)) : host_sampler(std::move(call), kCallClock);
  };
  Pair pair;
  pair.ours = {sampler([p] { p->call(); }), [p] { std::memset(&p->result, kPoison, sizeof p->result); },
               [p] { return p->in.sum.compare(&p->result, GPUMEM_I64); }};
  pair.peer = {sampler([p] { p->cub_call(); }), [p] { std::memset(p->cub_result.as(), kPoison, 4); },
               [p] { return p->in.sum.compare(p->cub_result.as(), GPUMEM_I32); }};
  return pair;
}

Case call_case(const GpuPtr& gpu, int log2, bool cold) {
  const int64_t n = int64_t{1} << log2;
  Case c = scalar_case("reduce_call", "sum/i32/" + power_name(log2), "CUB Sum, copy, synchronize",
                       static_cast<double>(bytes_of(GPUMEM_I32, n)), cold);
  c.device_timed = false;
  c.effort = 1;
  if (log2 <= 16) c.bar = at_least(1.8);
  c.quick = log2 == 12 || log2 == 20;
  c.open = [=] { return open_call(gpu, n, cold); };
  return c;
}

}  // namespace

void add_cuda_reduce_call(std::vector<Case>& cases, const GpuPtr& gpu) {
  for (const int log2 : {10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 24, 28}) {
    add_warm_and_cold(cases, static_cast<double>(bytes_of(GPUMEM_I32, int64_t{1} << log2)),
                      [&](bool cold) { return call_case(gpu, log2, cold); });
  }
}

}  // namespace bench
