// Reductions of device data to a value in device memory against cub::DeviceReduce and the device's ceilings: by device time
// alone, and as an idle stream sees the call, its launches included.
#include <string_view>
#include <utility>

#include "cuda/peers_cub.hpp"
#include "cuda/peers_reproducible.hpp"
#include "cuda/scalar.hpp"

namespace bench {
namespace {

constexpr int kFirst = 10, kLast = 31;
constexpr uint32_t kCubeLimit = 1500;  // 1500^3 * 2^28 < 2^63: CUB's 64-bit sum of cubes is exact too
constexpr gpumem_dtype kTypes[] = {GPUMEM_I32, GPUMEM_I64, GPUMEM_F32, GPUMEM_F64};

struct Op {
  gpumem_reduce_op op;
  const char* name;
  Expected Input::*expected;
};

constexpr Op kSum{GPUMEM_SUM, "sum", &Input::sum};
constexpr Op kMin{GPUMEM_MIN, "min", &Input::min};
constexpr Op kSquares{GPUMEM_SUM_SQUARES, "sum_squares", &Input::products};
constexpr Op kCubes{GPUMEM_SUM_CUBES, "sum_cubes", &Input::cubes};

struct Peer {
  CubOp op;
  const char* name;
};

constexpr Peer kCubSum{CubOp::sum, "CUB Sum"};
constexpr Peer kCubMin{CubOp::min, "CUB Min"};
constexpr Peer kCubWideSum{CubOp::sum_wide, "CUB Sum, 64-bit result"};
constexpr Peer kCubSquares{CubOp::sum_squares, "CUB TransformReduce"};
constexpr Peer kCubCubes{CubOp::sum_cubes, "CUB TransformReduce"};

constexpr const char* kReproducible = "CUB Sum, gpu_to_gpu";

struct Problem {
  gpumem_dtype dtype;
  Op op;
  int log2;

  int64_t n() const { return int64_t{1} << log2; }
  double bytes() const { return static_cast<double>(bytes_of(dtype, n())); }
  uint32_t limit() const { return op.op == GPUMEM_SUM_CUBES || op.op == GPUMEM_SUM_SQUARES ? kCubeLimit : 0; }
  std::string name() const { return std::string(op.name) + "/" + dtype_name(dtype) + "/" + power_name(log2); }
  Input input(const Gpu& gpu) const { return make_input(dtype, gpu.src(bytes_of(dtype, n())), nullptr, n(), limit()); }
};

// What one launch in place of two saves shows up to 2^20.
double bar_beside_cub(const Problem& p) {
  if (p.log2 == 13 || p.log2 == 14) return 1.6;
  if (p.log2 >= 16 && p.log2 <= 18) return 1.2;
  if (p.log2 == 20) return bytes_of(p.dtype, 1) == 4 ? 1.15 : 1.0;
  return 0.98;
}

// Two ways of timing: by device time alone, and as an idle stream sees a call.
constexpr const char* kDeviceTime = "reduce";
constexpr const char* kStreamTime = "reduce_stream";

Pair open_beside_cub(const GpuPtr& gpu, const Problem& problem, CubOp peer, bool cold, bool gate) {
  const Input in = problem.input(*gpu);
  const Expected expected = in.*problem.op.expected;
  Gated how = on_one_stream(*gpu, cold);
  how.gate = gate;
  const auto cub = std::make_shared<CubReduce>(peer, in.dtype, in.x, in.n);
  return {reduce_side(gpu, in, problem.op.op, expected, how),
          scalar_side(
              gpu, [gpu, cub] { cub->enqueue(gpu->peer_stream.get()); },
              {{cub->result(), cub->result_type(), expected}}, how)};
}

Case beside_cub(const GpuPtr& gpu, const char* family, const Problem& problem, const Peer& peer, bool cold) {
  Case c = scalar_case(family, problem.name(), peer.name, problem.bytes(), cold);
  c.quick = problem.dtype == GPUMEM_I32 && (problem.log2 == 12 || problem.log2 == 20 || problem.log2 == 28);
  const bool gate = std::string_view(family) == kDeviceTime;
  c.open = [=] { return open_beside_cub(gpu, problem, peer.op, cold, gate); };
  return c;
}

void add_beside_cub(std::vector<Case>& cases, const GpuPtr& gpu, const char* family, const Problem& problem,
                    const Peer& peer, Bar bar) {
  add_warm_and_cold(cases, problem.bytes(), [&](bool cold) {
    Case c = beside_cub(gpu, family, problem, peer, cold);
    c.bar = bar;
    return c;
  });
}

template <class T>
Side reproducible_side(const GpuPtr& gpu, const Input& in, const Gated& how) {
  const auto cub = std::make_shared<CubReproducible>();
  auto* result = static_cast<T*>(gpu->result(1));
  const auto enqueue = [gpu, cub, in, result] {
    cub->enqueue(static_cast<const T*>(in.x), in.n, result, gpu->peer_stream.get());
  };
  return scalar_side(gpu, enqueue, {{result, in.dtype, in.sum}}, how);
}

Case beside_reproducible(const GpuPtr& gpu, const Problem& problem, bool cold) {
  Case c = scalar_case("reproducible", problem.name(), kReproducible, problem.bytes(), cold);
  c.bar = at_least(1.15);
  c.quick = problem.log2 == 28;
  c.open = [=] {
    const Input in = problem.input(*gpu);
    const Gated how = on_one_stream(*gpu, cold);
    return Pair{reduce_side(gpu, in, GPUMEM_SUM, in.sum, how), problem.dtype == GPUMEM_F32
                                                                   ? reproducible_side<float>(gpu, in, how)
                                                                   : reproducible_side<double>(gpu, in, how)};
  };
  return c;
}

// Without a peer: the rate itself.
Case beside_ceiling(const GpuPtr& gpu, Ceiling ceiling, const char* name, double fraction) {
  const Problem problem{GPUMEM_I32, kSum, 30};
  Case c = scalar_case("ceiling", "sum_i32/2^30/" + std::string(name), "", problem.bytes(), false);
  c.ceiling = ceiling;
  c.bar = at_least_of_ceiling(fraction);
  c.quick = true;
  c.open = [=] {
    const Input in = problem.input(*gpu);
    return Pair{reduce_side(gpu, in, GPUMEM_SUM, in.sum, on_one_stream(*gpu, false)), {}};
  };
  return c;
}

}  // namespace

void add_cuda_reduce(std::vector<Case>& cases, const GpuPtr& gpu) {
  for (const auto& [op, peer] : {std::pair{kSum, kCubSum}, std::pair{kMin, kCubMin}}) {
    for (int log2 = kFirst; log2 <= kLast; ++log2) {
      for (const gpumem_dtype dtype : kTypes) {
        const Problem problem{dtype, op, log2};
        add_beside_cub(cases, gpu, kDeviceTime, problem, peer, at_least(0.98));
        add_beside_cub(cases, gpu, kStreamTime, problem, peer, at_least(bar_beside_cub(problem)));
      }
    }
  }
  for (const int log2 : {20, 24, 28, 31})
    add_beside_cub(cases, gpu, kDeviceTime, {GPUMEM_I32, kSum, log2}, kCubWideSum, {});
  add_beside_cub(cases, gpu, kDeviceTime, {GPUMEM_I32, kSquares, 28}, kCubSquares, {});
  add_beside_cub(cases, gpu, kDeviceTime, {GPUMEM_I32, kCubes, 28}, kCubCubes, {});
  for (int log2 = 24; log2 <= 30 && CubReproducible::built(); ++log2) {
    for (const gpumem_dtype dtype : {GPUMEM_F32, GPUMEM_F64}) {
      const Problem problem{dtype, kSum, log2};
      add_warm_and_cold(cases, problem.bytes(), [&](bool cold) { return beside_reproducible(gpu, problem, cold); });
    }
  }
  cases.push_back(beside_ceiling(gpu, Ceiling::read, "of_read", 0.985));
  cases.push_back(beside_ceiling(gpu, Ceiling::theoretical, "of_theoretical", 0.94));
}

std::vector<Summary> cuda_reduce_summaries() {
  const auto over = [](const std::string& family, const std::string&, const std::string& peer) {
    return family == kStreamTime && (peer == kCubSum.name || peer == kCubMin.name);
  };
  return {{kStreamTime, "geometric mean of sum and min", "CUB Sum, Min", at_least(1.10), over}};
}

}  // namespace bench
