// gpumem_reduce_i32 on the device against cub::DeviceReduce: the whole blocking call by the host's clock (reduce_call), and
// the device's time alone (reduce_kernel).
#include <cstring>
#include <utility>

#include "cuda/cuda_cases.hpp"
#include "cuda/device_kernels.hpp"
#include "cuda/peers_cub.hpp"
#include "support/host_clock.hpp"

namespace bench {
namespace {

constexpr uint32_t kCubeLimit = 1500;  // 1500^3 * 2^28 < 2^63: CUB's 64-bit sum of cubes is exact too
constexpr int64_t kPoisoned = 0x5A5A5A5A5A5A5A5A;
constexpr HostClock kCallClock{std::chrono::milliseconds(0), std::chrono::microseconds(500)};

struct Op {
  gpumem_reduce_op op;
  const char* name;
  uint32_t limit;
  int64_t Reference::*expected;
};

constexpr Op kSum{GPUMEM_SUM, "sum", 0, &Reference::sum};
constexpr Op kMin{GPUMEM_MIN, "min", 0, &Reference::min};
constexpr Op kSquares{GPUMEM_SUM_SQUARES, "sum_squares", kCubeLimit, &Reference::sum_squares};
constexpr Op kCubes{GPUMEM_SUM_CUBES, "sum_cubes", kCubeLimit, &Reference::sum_cubes};

struct Peer {
  CubOp op;
  const char* name;
};

constexpr Peer kCubSum{CubOp::sum_i32, "CUB Sum int32"};
constexpr Peer kCubWideSum{CubOp::sum_i64, "CUB Sum int64"};
constexpr Peer kCubMin{CubOp::min, "CUB Min int32"};
constexpr Peer kCubSquares{CubOp::sum_squares, "CUB TransformReduce int64"};
constexpr Peer kCubCubes{CubOp::sum_cubes, "CUB TransformReduce int64"};

// The results of both sides lie where each puts them: ours in host memory, CUB's on the device and, after a call, in
// pinned memory.
struct Problem {
  GpuPtr gpu;
  const int32_t* x;
  int64_t n;
  gpumem_reduce_op op;
  int64_t expected;
  int64_t result = kPoisoned;
  CubReduce cub;
  PinnedBytes cub_result{8};

  Problem(const GpuPtr& g, const Op& o, CubOp peer, int64_t count)
      : gpu(g),
        x(input(*g, count, o.limit)),
        n(count),
        op(o.op),
        expected(reference_reduce(x, count).*o.expected),
        cub(peer, x, count) {}

  static const int32_t* input(const Gpu& gpu, int64_t n, uint32_t limit) {
    auto* x = static_cast<int32_t*>(gpu.src(static_cast<std::size_t>(n) * 4));
    generate_i32(x, n, limit);
    return x;
  }

  gpumem_status ours() { return gpumem_reduce_i32(gpu->ctx.get(), op, x, n, 1, &result); }

  void cub_call() {
    const cudaStream_t stream = gpu->peer_stream.get();
    cub.enqueue(stream);
    check_cuda(cudaMemcpyAsync(cub_result.as(), cub.result(), cub.result_bytes(), cudaMemcpyDeviceToHost, stream));
    check_cuda(cudaStreamSynchronize(stream));
  }

  std::string verify(int64_t got) const {
    return got == expected ? "" : "got " + std::to_string(got) + ", expected " + std::to_string(expected);
  }

  // A 32-bit result holds the low half of the sum.
  std::string verify_cub(const void* bytes) const {
    if (cub.result_bytes() == 8) {
      int64_t got = 0;
      std::memcpy(&got, bytes, 8);
      return verify(got);
    }
    int32_t got = 0;
    std::memcpy(&got, bytes, 4);
    const auto low = static_cast<int32_t>(static_cast<uint32_t>(static_cast<uint64_t>(expected)));
    return got == low ? "" : "got " + std::to_string(got) + ", expected " + std::to_string(low);
  }

  std::string verify_cub_device() const {
    int64_t bytes = 0;
    check_cuda(cudaMemcpy(&bytes, cub.result(), 8, cudaMemcpyDeviceToHost));
    return verify_cub(&bytes);
  }
};

Side our_side(const std::shared_ptr<Problem>& p, std::function<double()> sample) {
  return {std::move(sample), [p] { p->result = kPoisoned; }, [p] { return p->verify(p->result); }};
}

Pair open_call(const std::shared_ptr<Problem>& p, bool cold) {
  const auto sampler = [&](std::function<void()> call) {
    return cold ? cold_host_sampler(p->gpu->timer, std::move(call)) : host_sampler(std::move(call), kCallClock);
  };
  Pair pair;
  pair.ours = our_side(p, sampler([p] { check(p->ours()); }));
  pair.peer = {sampler([p] { p->cub_call(); }), [p] { std::memset(p->cub_result.as(), 0x5A, 8); },
               [p] { return p->verify_cub(p->cub_result.as()); }};
  return pair;
}

Pair open_kernel(const std::shared_ptr<Problem>& p, bool cold) {
  Gated ours, peer;
  ours.blocking = true;
  peer.batch = false;  // one call a sample on both sides
  ours.cold = peer.cold = cold;
  Pair pair;
  pair.ours = our_side(p, p->gpu->device_time([p] { check(p->ours()); }, ours));
  pair.peer.sample = p->gpu->device_time([p] { p->cub.enqueue(p->gpu->peer_stream.get()); }, peer);
  pair.peer.poison = [p] { check_cuda(cudaMemset(p->cub.result(), 0x5A, 8)); };
  pair.peer.verify = [p] { return p->verify_cub_device(); };
  return pair;
}

using Opener = Pair (*)(const std::shared_ptr<Problem>&, bool cold);

Case reduce_case(const GpuPtr& gpu, const char* family, Opener opener, const Op& op, const Peer& peer, int log2,
                 bool cold) {
  const int64_t n = int64_t{1} << log2;
  const bool cacheable = n <= kCacheableElements;
  Case c;
  c.family = family;
  c.device_timed = opener == open_kernel;
  c.name = std::string(op.name) + "/" + power_name(log2) + (cacheable ? (cold ? "/cold" : "/warm") : "");
  c.peer = peer.name;
  c.bytes = 4.0 * static_cast<double>(n);
  if (!cacheable || cold) c.ceiling = Ceiling::read;
  c.quick = log2 == 12 || log2 == 20 || log2 == 28;
  c.open = [=] { return opener(std::make_shared<Problem>(gpu, op, peer.op, n), cold); };
  return c;
}

// Cold as well as warm where L2 may hold the input.
void add_both(std::vector<Case>& cases, const GpuPtr& gpu, const char* family, Opener opener, const Op& op,
              const Peer& peer, int log2) {
  cases.push_back(reduce_case(gpu, family, opener, op, peer, log2, false));
  if ((int64_t{1} << log2) <= kCacheableElements) {
    cases.push_back(reduce_case(gpu, family, opener, op, peer, log2, true));
  }
}

Case ladder_case(const GpuPtr& gpu, const std::string& variant, int log2) {
  Case c = reduce_case(gpu, "ladder", open_kernel, kSum, kCubSum, log2, false);
  c.name = "reduce_i32/" + c.name + "/" + variant;
  c.quick = false;
  c.open = [=] {
    const auto p = std::make_shared<Problem>(gpu, kSum, kCubSum.op, int64_t{1} << log2);
    return with_variant(gpu->ctx, GPUMEM_FAMILY_REDUCE, variant, open_kernel(p, false), [p] { return p->ours(); });
  };
  return c;
}

}  // namespace

void add_cuda_reduce(std::vector<Case>& cases, const GpuPtr& gpu) {
  constexpr int first = 10, last = 31, barred = 28;
  for (int log2 = first; log2 <= last; ++log2) {
    add_both(cases, gpu, "reduce_kernel", open_kernel, kSum, kCubSum, log2);
    if (log2 == barred) cases.back().bar = at_least(0.97);
  }
  for (const int log2 : {20, 24, barred, last}) {
    add_both(cases, gpu, "reduce_kernel", open_kernel, kSum, kCubWideSum, log2);
    if (log2 == barred) cases.back().bar = at_least(0.97);
  }
  for (const int log2 : {14, 20, barred}) add_both(cases, gpu, "reduce_kernel", open_kernel, kMin, kCubMin, log2);
  add_both(cases, gpu, "reduce_kernel", open_kernel, kSquares, kCubSquares, barred);
  add_both(cases, gpu, "reduce_kernel", open_kernel, kCubes, kCubCubes, barred);
  for (int log2 = first; log2 <= last; ++log2) add_both(cases, gpu, "reduce_call", open_call, kSum, kCubSum, log2);
  for (const std::string& variant : variant_names(GPUMEM_FAMILY_REDUCE)) {
    for (const int log2 : {14, 20, barred}) cases.push_back(ladder_case(gpu, variant, log2));
  }
}

}  // namespace bench
