// Implementations of arithmetic. Each reads every source once and writes z once.
#include <algorithm>
#include <bit>

#include "backend/host/implementations.hpp"
#include "kernels/alignment.hpp"
#include "kernels/arithmetic/arithmetic.hpp"
#include "kernels/arithmetic/limits.hpp"
#include "kernels/elements.hpp"
#include "kernels/nodes.hpp"
#include "kernels/reduce/limits.hpp"
#include "select/variants.hpp"

namespace gpumem {
namespace {

bool all_aligned(const ArithmeticParams& p) noexcept {
  const auto fits = [&p](const void* operand) { return aligned(operand, element_bytes(p.dtype)); };
  return fits(p.z) && std::all_of(p.x, p.x + p.terms, fits) && std::all_of(p.w, p.w + p.dots, fits);
}
constexpr const char* kNeedsAligned = "it needs operands aligned to their elements";

const char* accepts_aligned(const DeviceProps&, const ArithmeticParams& p) noexcept {
  return all_aligned(p) ? nullptr : kNeedsAligned;
}

const char* accepts_few(const DeviceProps& d, const ArithmeticParams& p) noexcept {
  if (p.dots > 0) return "it forms no dot products";
  if (p.in_memory != 0 && p.terms > kTermsInMemory) return "it needs at most 3 sources if factors are in memory";
  if (p.terms > kFewTerms) return "it needs at most 8 sources";
  if (p.rank > kTileAxes) return "it needs at most three axes that can't be merged";
  return accepts_aligned(d, p);
}

// The longest tiles that leave every multiprocessor one.
template <bool kFew>
Config tiles_config(const DeviceProps& d, const ArithmeticParams& p) noexcept {
  const bool by_rows = kFew && arithmetic_by_rows(p);
  int64_t steps = arithmetic_steps(p, element_bytes(p.dtype), by_rows);
  if (!kFew) steps = std::max<int64_t>(steps, kArithmeticAtOnce);
  const int64_t least = by_rows ? 1 : kArithmeticEach;
  while (steps > least && view_tiles(p, steps, by_rows).blocks() < d.multiprocessors) steps /= 2;
  const ViewTiles tiles = view_tiles(p, steps, by_rows);
  Config config{tiles.blocks(), kArithmeticThreads, static_cast<int32_t>(steps), tiles.elements()};
  config.own.set(tiles);
  return config;
}

// Dot products follow as reductions of views.
Config general_config(const DeviceProps& d, const ArithmeticParams& p) noexcept {
  Config config = tiles_config<false>(d, p);
  GeneralConfig own{config.own.get<ViewTiles>()};
  if (p.dots > 0) {
    Config dot;
    const ReduceParams of_z{.dtype = p.dtype, .op = GPUMEM_DOT, .x = p.z, .n = p.elements(), .y = p.z};
    static_cast<void>(implementation<ReduceFamily>("view").plan(d, of_z, dot));
    own.dot_blocks = dot.grid;
    own.dot_tile = dot.tile;
    own.dot_threads = dot.block;
    config.reduce_scratch = true;
  }
  config.own.set(own);
  return config;
}

const char* accepts_fused(const DeviceProps&, const ArithmeticParams& p) noexcept {
  if (p.dots == 0) return "it forms dot products too";
  if (p.terms > kFewTerms) return "it needs at most 8 sources";
  if (p.rank > kTileAxes) return "it needs at most three axes that can't be merged";
  if (p.elements() > INT32_MAX) return "it needs fewer than 2^31 elements";
  if (!stride_sets(p).fit) return "it needs operands with the strides of z or of one other view";
  return all_aligned(p) ? nullptr : kNeedsAligned;
}

// Blocks of one leaf while the device has room for them. Then tiles that leave several waves of blocks.
Config fused_config(const DeviceProps& d, const ArithmeticParams& p) noexcept {
  const int64_t leaves = ceil_div(p.elements(), kLeafTerms);
  const int64_t most = std::min(int64_t{16} * d.multiprocessors, kMaxReduceBlocks);
  int64_t tile = 1;
  while (tile < kLeavesInShared && ceil_div(leaves, tile) > most) tile *= 2;
  Config config{ceil_div(leaves, tile), kDotThreads, kLeafLanes / 32, tile * kLeafTerms};
  config.reduce_scratch = true;
  return config;
}

void add_node_room(Config& config, const ArithmeticParams& p) noexcept {
  if (p.dots > 0) config.workspace_bytes = host::kDotNodesAt + p.dots * config.grid * int64_t{sizeof(ReduceNode)};
}

// With dot products, tasks are aligned runs of 2^k leaves of the reproducible order, whose elements of z stay in the
// caches.
Config host_config(const DeviceProps& d, const ArithmeticParams& p) noexcept {
  constexpr int64_t kMostLeaves = 32;
  Config config = host_elements_config(d, p.elements(), int64_t{element_bytes(p.dtype)} * (1 + p.terms + p.dots));
  if (p.dots == 0) return config;
  const auto leaves = static_cast<uint64_t>(ceil_div(config.tile, kLeafTerms));
  config.tile = std::min(static_cast<int64_t>(std::bit_ceil(leaves)), kMostLeaves) * kLeafTerms;
  config.grid = ceil_div(p.elements(), config.tile);
  add_node_room(config, p);
  return config;
}
Config serial_config(const DeviceProps& d, const ArithmeticParams& p) noexcept {
  Config config = whole(d, p);
  add_node_room(config, p);
  return config;
}

constexpr Implementation<ArithmeticParams> kTable[] = {
    {"fused_dots", ExecutionSpace::cuda, 1, plan<accepts_fused, fused_config>, gpu<kernels::lincomb_dot_fused>},
    {"coalesced", ExecutionSpace::cuda, 3, plan<accepts_few, tiles_config<true>>, gpu<kernels::arithmetic_coalesced>},
    {"general", ExecutionSpace::cuda, 1, plan<accepts_aligned, general_config>, gpu<kernels::arithmetic_general>},
    {"bytes", ExecutionSpace::cuda, 4, plan<accepts<ArithmeticParams>, general_config>, gpu<kernels::arithmetic_bytes>},
    {"host_parallel", ExecutionSpace::host, 1, plan<accepts<ArithmeticParams>, host_config>, host::arithmetic_parallel},
    {"host_serial", ExecutionSpace::host, 1, plan<accepts<ArithmeticParams>, serial_config>, host::arithmetic_serial},
};

}  // namespace

std::span<const Implementation<ArithmeticParams>> ArithmeticFamily::table() noexcept { return kTable; }

}  // namespace gpumem
