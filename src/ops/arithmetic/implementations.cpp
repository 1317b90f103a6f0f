// Implementations of arithmetic. Each reads every source once and writes z once.
#include <algorithm>

#include "backend/host/implementations.hpp"
#include "kernels/alignment.hpp"
#include "kernels/arithmetic/arithmetic.hpp"
#include "kernels/arithmetic/limits.hpp"
#include "kernels/elements.hpp"
#include "select/variants.hpp"

namespace gpumem {
namespace {

const char* accepts_aligned(const DeviceProps&, const ArithmeticParams& p) noexcept {
  const auto fits = [&p](const void* operand) { return aligned(operand, element_bytes(p.dtype)); };
  return fits(p.z) && std::all_of(p.x, p.x + p.terms, fits) ? nullptr : "it needs operands aligned to their elements";
}

const char* accepts_few(const DeviceProps& d, const ArithmeticParams& p) noexcept {
  if (p.in_memory != 0) return "it needs factors that are known before the launch";
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

Config host_config(const DeviceProps& d, const ArithmeticParams& p) noexcept {
  return host_elements_config(d, p.elements(), int64_t{element_bytes(p.dtype)} * (1 + p.terms));
}

constexpr Implementation<ArithmeticParams> kTable[] = {
    {"coalesced", ExecutionSpace::cuda, 3, plan<accepts_few, tiles_config<true>>, gpu<kernels::arithmetic_coalesced>},
    {"general", ExecutionSpace::cuda, 1, plan<accepts_aligned, tiles_config<false>>, gpu<kernels::arithmetic_general>},
    {"bytes", ExecutionSpace::cuda, 4, plan<accepts<ArithmeticParams>, tiles_config<false>>,
     gpu<kernels::arithmetic_bytes>},
    {"host_parallel", ExecutionSpace::host, 1, plan<accepts<ArithmeticParams>, host_config>, host::arithmetic_parallel},
    {"host_serial", ExecutionSpace::host, 1, plan<accepts<ArithmeticParams>, whole<ArithmeticParams>>,
     host::arithmetic_serial},
};

}  // namespace

std::span<const Implementation<ArithmeticParams>> ArithmeticFamily::table() noexcept { return kTable; }

}  // namespace gpumem
