// Every variant of the reduction in turn, most of them slow on purpose: the steps of a textbook from neighbours adding
// neighbours to the library's own choice, and what uncoalesced reading costs.
#include <utility>

#include "cuda/peers_cub.hpp"
#include "cuda/scalar.hpp"

namespace bench {
namespace {

constexpr uint32_t kCubeLimit = 1500;

struct Rung {
  gpumem_reduce_op op;
  int log2;
  bool cold;

  bool cubes() const { return op == GPUMEM_SUM_CUBES; }
  int64_t n() const { return int64_t{1} << log2; }
  std::size_t bytes() const { return bytes_of(GPUMEM_I32, n()); }
};

struct Sides {
  GpuPtr gpu;
  Input in;
  Rung rung;
  Gated how;

  Sides(const GpuPtr& g, Rung r)
      : gpu(g),
        in(make_input(GPUMEM_I32, g->src(r.bytes()), nullptr, r.n(), r.cubes() ? kCubeLimit : 0)),
        rung(r),
        how(on_one_stream(*g, r.cold)) {}

  const Expected& expected() const { return rung.cubes() ? in.cubes : in.sum; }

  // The library's own choice where `variant` is empty.
  Side ours(const std::string& variant) const {
    Side side = reduce_side(gpu, in, rung.op, expected(), how);
    if (variant.empty()) return side;
    return with_variant(gpu->ctx, GPUMEM_FAMILY_REDUCE, variant, std::move(side),
                        [this] { return enqueue_reduce(*gpu, in, rung.op); });
  }
  Side cub() const {
    const auto cub = std::make_shared<CubReduce>(rung.cubes() ? CubOp::sum_cubes : CubOp::sum, in.dtype, in.x, in.n);
    return scalar_side(
        gpu, [g = gpu, cub] { cub->enqueue(g->peer_stream.get()); }, {{cub->result(), cub->result_type(), expected()}},
        how);
  }
};

// `peer` is a variant of ours, or empty for CUB.
Case rung_case(const GpuPtr& gpu, Rung rung, const std::string& variant, const std::string& peer) {
  const std::string cub = rung.cubes() ? "CUB TransformReduce" : "CUB Sum";
  Case c =
      scalar_case("ladder", std::string("reduce_i32/") + (rung.cubes() ? "sum_cubes/" : "sum/") + power_name(rung.log2),
                  peer.empty() ? cub : "gpumem " + peer, static_cast<double>(rung.bytes()), rung.cold);
  c.name += "/" + (variant.empty() ? "chosen" : variant);
  c.effort = 1;
  c.open = [=] {
    const Sides sides(gpu, rung);
    return Pair{sides.ours(variant), peer.empty() ? sides.cub() : sides.ours(peer)};
  };
  return c;
}

}  // namespace

void add_cuda_ladder(std::vector<Case>& cases, const GpuPtr& gpu) {
  for (const int log2 : {24, 28}) {
    add_warm_and_cold(cases, static_cast<double>(bytes_of(GPUMEM_I32, int64_t{1} << log2)), [&](bool cold) {
      const Rung sum{GPUMEM_SUM, log2, cold};
      for (const std::string& variant : variant_names(GPUMEM_FAMILY_REDUCE)) {
        cases.push_back(rung_case(gpu, sum, variant, ""));
      }
      return rung_case(gpu, sum, "", "");
    });
  }
  for (const int log2 : {24, 28}) {
    const Rung cubes{GPUMEM_SUM_CUBES, log2, true};
    cases.push_back(rung_case(gpu, cubes, "strided", ""));
    cases.push_back(rung_case(gpu, cubes, "coalesced", ""));
    cases.push_back(rung_case(gpu, cubes, "coalesced", "strided"));
    cases.push_back(rung_case(gpu, cubes, "", ""));
  }
}

}  // namespace bench
