// Reductions of device data to a value in device memory, compared with cub::DeviceReduce and the device's measured
// peaks. Timed on the device, on an idle stream with launches, and as blocking calls by the host's clock. Then every
// implementation in turn.
#include <cstring>
#include <string_view>
#include <utility>

#include "cuda/peers_cub.hpp"
#include "cuda/peers_reproducible.hpp"
#include "cuda/scalar.hpp"
#include "measure/host_clock.hpp"

namespace bench {
namespace {

constexpr int kFirst = 10, kLast = 31;
constexpr gpumem_dtype kTypes[] = {GPUMEM_I32, GPUMEM_I64, GPUMEM_F32, GPUMEM_F64};

struct Peer {
  CubOp op;
  const char* name;
};

constexpr Peer kCubSum{CubOp::sum, "CUB Sum"};
constexpr Peer kCubMin{CubOp::min, "CUB Min"};
constexpr Peer kCubWideSum{CubOp::sum_wide, "CUB Sum, 64-bit result"};
constexpr Peer kCubSquares{CubOp::sum_squares, "CUB TransformReduce"};
constexpr Peer kCubCubes{CubOp::sum_cubes, "CUB TransformReduce"};

struct Power {
  const char* op;
  gpumem_dtype dtype;
  int log2;

  std::string line() const { return reduce_line(op, dtype, int64_t{1} << log2); }
  std::string name() const { return std::string(op) + "/" + kDtypes[dtype] + "/" + power_name(log2); }
};

Side cub_side(const ReductionPtr& r, CubOp op, const Gated& how) {
  const auto cub = std::make_shared<CubReduce>(op, r->dtype, r->x, r->n);
  return scalar_side(
      r->gpu, [r, cub] { cub->enqueue(r->gpu->peer_stream.get()); },
      {{cub->result(), cub->result_type(), r->expected(r->problem.op())}}, how);
}

// ------------------------------------------------------------------------------------------------------ against CUB

// Up to 2^20, the launch that is saved is a visible part of the time.
double bar_beside_cub(const Power& p) {
  if (p.log2 == 13 || p.log2 == 14) return 1.6;
  if (p.log2 >= 16 && p.log2 <= 18) return 1.2;
  if (p.log2 == 20) return kDtypeBytes[p.dtype] == 4 ? 1.15 : 1.0;
  return 0.98;
}

constexpr const char* kDeviceTime = "reduce";
constexpr const char* kStreamTime = "reduce_stream";

void add_beside_cub(std::vector<Case>& cases, const GpuPtr& gpu, const char* family, const Power& p, const Peer& peer,
                    Bar bar) {
  const bool quick = p.dtype == GPUMEM_I32 && (p.log2 == 12 || p.log2 == 20 || p.log2 == 28);
  const bool gate = std::string_view(family) == kDeviceTime;
  add_scalar(cases, gpu, {family, p.name(), p.line(), peer.name, bar, quick},
             [gate, op = peer.op](const ReductionPtr& r, Gated how) {
               how.gate = gate;
               return Pair{reduce_side(r, how), cub_side(r, op, how)};
             });
}

template <class T>
Side reproducible_side(const ReductionPtr& r, const Gated& how) {
  const auto cub = std::make_shared<CubReproducible>();
  auto* const result = reinterpret_cast<T*>(static_cast<double*>(r->result()) + 1);  // after our result
  const auto enqueue = [=] { cub->enqueue(static_cast<const T*>(r->x), r->n, result, r->gpu->peer_stream.get()); };
  return scalar_side(r->gpu, enqueue, {{result, r->dtype, r->sum}}, how);
}

Pair open_reproducible(const ReductionPtr& r, const Gated& how) {
  return {reduce_side(r, how),
          r->dtype == GPUMEM_F32 ? reproducible_side<float>(r, how) : reproducible_side<double>(r, how)};
}

// No baseline: the target is a rate.
void add_beside_ceiling(std::vector<Case>& cases, const GpuPtr& gpu, Ceiling ceiling, const char* name,
                        double fraction) {
  const std::string line = reduce_line("sum", GPUMEM_I32, int64_t{1} << 30);
  add_scalar(cases, gpu,
             {"ceiling", "sum_i32/2^30/" + std::string(name), line, "", at_least_of_ceiling(fraction), true},
             [](const ReductionPtr& r, const Gated& how) {
               return Pair{reduce_side(r, how), {}};
             });
  cases.back().ceiling = ceiling;
}

// ---------------------------------------------------------------------------------------------------- blocking calls

// The baseline is cub::DeviceReduce::Sum, a copy of its four bytes into pinned memory, and a wait for its stream.
struct Call {
  ReductionPtr r;
  CubReduce cub;
  int64_t result = 0;
  PinnedBytes cub_result{8};

  explicit Call(const ReductionPtr& of) : r(of), cub(CubOp::sum, r->dtype, r->x, r->n) {}

  void ours() { check(gpumem_reduce(r->gpu->ctx.get(), r->dtype, GPUMEM_SUM, r->x, r->n, 1, &result)); }
  void by_cub() {
    const cudaStream_t stream = r->gpu->peer_stream.get();
    cub.enqueue(stream);
    check_cuda(cudaMemcpyAsync(cub_result.as(), cub.result(), 4, cudaMemcpyDeviceToHost, stream));
    check_cuda(cudaStreamSynchronize(stream));
  }
};

Pair open_call(const ReductionPtr& r, const Gated& how) {
  constexpr HostClock kClock{std::chrono::milliseconds(0), std::chrono::microseconds(500)};
  const auto p = std::make_shared<Call>(r);
  const auto sampler = [&](std::function<void()> call) {
    return how.cold ? cold_host_sampler(r->gpu->timer, std::move(call)) : host_sampler(std::move(call), kClock);
  };
  return {{sampler([p] { p->ours(); }), [p] { std::memset(&p->result, kSpoiled, sizeof p->result); },
           [p] { return p->r->sum.compare(&p->result, GPUMEM_I64); }},
          {sampler([p] { p->by_cub(); }), [p] { std::memset(p->cub_result.as(), kSpoiled, 4); },
           [p] { return p->r->sum.compare(p->cub_result.as(), GPUMEM_I32); }}};
}

// ----------------------------------------------------------------------------------------------------------- ladder

// Most implementations are slow on purpose. `variant` is empty for the library's choice. `peer` is an implementation of
// ours, or empty for CUB.
void add_rung(std::vector<Case>& cases, const GpuPtr& gpu, const Power& p, const std::string& variant,
              const std::string& peer) {
  const bool cubes = p.op == std::string_view("sum_cubes");
  const Peer& cub = cubes ? kCubCubes : kCubSum;
  const std::size_t first = cases.size();
  add_scalar(cases, gpu,
             {"ladder", std::string("reduce_i32/") + p.op + "/" + power_name(p.log2), p.line(),
              peer.empty() ? cub.name : "gpumem " + peer},
             [=, op = cub.op](const ReductionPtr& r, const Gated& how) {
               const auto ours = [&](const std::string& name) {
                 const auto once = [&] { return r->enqueue(); };
                 return name.empty() ? reduce_side(r, how)
                                     : with_variant(r->gpu->ctx, GPUMEM_FAMILY_REDUCE, name, reduce_side(r, how), once);
               };
               return Pair{ours(variant), peer.empty() ? cub_side(r, op, how) : ours(peer)};
             });
  if (cubes && cases.size() - first > 1) cases.erase(cases.begin() + static_cast<std::ptrdiff_t>(first));  // only cold
  for (std::size_t i = first; i < cases.size(); ++i) {
    cases[i].name += "/" + (variant.empty() ? "chosen" : variant);
    cases[i].effort = 1;
  }
}

void add_reduce_ladder(std::vector<Case>& cases, const GpuPtr& gpu) {
  for (const int log2 : {24, 28}) {
    const Power sum{"sum", GPUMEM_I32, log2};
    for (const char* const variant : tool::variants_of(GPUMEM_FAMILY_REDUCE)) add_rung(cases, gpu, sum, variant, "");
    add_rung(cases, gpu, sum, "", "");
    const Power cubes{"sum_cubes", GPUMEM_I32, log2};
    for (const auto& [variant, peer] :
         {std::pair{"strided", ""}, {"coalesced", ""}, {"coalesced", "strided"}, {"", ""}}) {
      add_rung(cases, gpu, cubes, variant, peer);
    }
  }
}

}  // namespace

void add_cuda_reductions(std::vector<Case>& cases, const GpuPtr& gpu) {
  for (const auto& [op, peer] : {std::pair{"sum", kCubSum}, {"min", kCubMin}}) {
    for (int log2 = kFirst; log2 <= kLast; ++log2) {
      for (const gpumem_dtype dtype : kTypes) {
        const Power p{op, dtype, log2};
        add_beside_cub(cases, gpu, kDeviceTime, p, peer, at_least(0.98));
        add_beside_cub(cases, gpu, kStreamTime, p, peer, at_least(bar_beside_cub(p)));
      }
    }
  }
  for (const int log2 : {20, 24, 28, 31})
    add_beside_cub(cases, gpu, kDeviceTime, {"sum", GPUMEM_I32, log2}, kCubWideSum, {});
  add_beside_cub(cases, gpu, kDeviceTime, {"sum_squares", GPUMEM_I32, 28}, kCubSquares, {});
  add_beside_cub(cases, gpu, kDeviceTime, {"sum_cubes", GPUMEM_I32, 28}, kCubCubes, {});
  for (int log2 = 24; log2 <= 30 && CubReproducible::built(); ++log2) {
    for (const gpumem_dtype dtype : {GPUMEM_F32, GPUMEM_F64}) {
      const Power p{"sum", dtype, log2};
      add_scalar(cases, gpu, {"reproducible", p.name(), p.line(), "CUB Sum, gpu_to_gpu", at_least(1.15), log2 == 28},
                 open_reproducible);
    }
  }
  add_beside_ceiling(cases, gpu, Ceiling::read, "of_read", 0.985);
  add_beside_ceiling(cases, gpu, Ceiling::theoretical, "of_theoretical", 0.94);
  const std::size_t first = cases.size();
  for (const int log2 : {10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 24, 28}) {
    const Power p{"sum", GPUMEM_I32, log2};
    add_scalar(cases, gpu,
               {"reduce_call", p.name(), p.line(), "CUB Sum, copy, synchronize", log2 <= 16 ? at_least(1.8) : Bar{},
                log2 == 12 || log2 == 20},
               open_call);
  }
  for (std::size_t i = first; i < cases.size(); ++i) {
    cases[i].device_timed = false;
    cases[i].effort = 1;
  }
  add_reduce_ladder(cases, gpu);
}

std::vector<Summary> cuda_reduce_summaries() {
  const auto over = [](const std::string& family, const std::string&, const std::string& peer) {
    return family == kStreamTime && (peer == kCubSum.name || peer == kCubMin.name);
  };
  return {{kStreamTime, "geometric mean of sum and min", "CUB Sum, Min", at_least(1.10), over}};
}

}  // namespace bench
