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

// The longest tiles that leave every multiprocessor one.
Config tiles_config(const DeviceProps& d, const ArithmeticParams& p) noexcept {
  int64_t steps = arithmetic_steps(p, element_bytes(p.dtype));
  const int64_t least = arithmetic_by_rows(p) ? 1 : kArithmeticEach;
  while (steps > least && view_tiles(p, steps).blocks() < d.multiprocessors) steps /= 2;
  const ViewTiles tiles = view_tiles(p, steps);
  Config config{tiles.blocks(), kArithmeticThreads, static_cast<int32_t>(steps), tiles.elements()};
  config.own.set(tiles);
  return config;
}

Config host_config(const DeviceProps& d, const ArithmeticParams& p) noexcept {
  return host_elements_config(d, p.elements(), int64_t{element_bytes(p.dtype)} * (1 + p.terms));
}

constexpr Implementation<ArithmeticParams> kTable[] = {
    {"coalesced", ExecutionSpace::cuda, 3, plan<accepts_aligned, tiles_config>, gpu<kernels::arithmetic_coalesced>},
    {"bytes", ExecutionSpace::cuda, 3, plan<accepts<ArithmeticParams>, tiles_config>, gpu<kernels::arithmetic_bytes>},
    {"host_parallel", ExecutionSpace::host, 1, plan<accepts<ArithmeticParams>, host_config>, host::arithmetic_parallel},
    {"host_serial", ExecutionSpace::host, 1, plan<accepts<ArithmeticParams>, whole<ArithmeticParams>>,
     host::arithmetic_serial},
};

}  // namespace

std::span<const Implementation<ArithmeticParams>> ArithmeticFamily::table() noexcept { return kTable; }

}  // namespace gpumem
