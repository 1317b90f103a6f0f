// The reduce table. Launch shapes follow measurements on an H200 (docs/performance.md): short tiles while there are few
// elements to share out, long tiles once the fold of the tiles' partial values would show.
#include <algorithm>
#include <bit>

#include "engine/checked.hpp"
#include "engine/variants.hpp"
#include "kernels/limits.hpp"

namespace gpumem {
namespace {

constexpr int64_t kOneBlockElements = int64_t{1} << 14;
constexpr int64_t kShortTile = int64_t{kLastBlockThreads} * kLastBlockShortLoads * 4;
constexpr int64_t kShortTileElements = int64_t{1} << 23;
constexpr int64_t kHostTaskElements = int64_t{1} << 18;  // 1 MiB: worth waking a thread for

const char* contiguous(const ReduceProblem& p) noexcept {
  if (p.stride != 1) return "it needs stride 1";
  if (p.misalignment % 4 != 0) return "it needs x aligned to its 4-byte elements";
  return nullptr;
}

const char* accepts(const DeviceProps&, const ReduceProblem&) noexcept { return nullptr; }
const char* accepts_contiguous(const DeviceProps&, const ReduceProblem& p) noexcept { return contiguous(p); }
const char* accepts_short(const DeviceProps&, const ReduceProblem& p) noexcept {
  if (p.n > kOneBlockElements) return "it takes at most 16384 elements";
  return contiguous(p);
}

LaunchShape one_block_shape(const DeviceProps&, const ReduceProblem& p) noexcept {
  return {1, kOneBlockThreads, kOneBlockLoads, p.n};
}

LaunchShape last_block_shape(const DeviceProps&, const ReduceProblem& p) noexcept {
  if (p.n < kShortTileElements) return {ceil_div(p.n, kShortTile), kLastBlockThreads, kLastBlockShortLoads, kShortTile};
  const int64_t wanted = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(p.n / 4096)));
  int64_t tile = std::clamp<int64_t>(wanted, int64_t{1} << 15, int64_t{1} << 18);
  while (ceil_div(p.n, tile) > kMaxReduceBlocks) tile *= 2;
  return {ceil_div(p.n, tile), kLastBlockThreads, kLastBlockLongLoads, tile};
}

// A grid that fills the device four times over, each thread striding through the whole input.
LaunchShape grid_stride_shape(const DeviceProps& d, const ReduceProblem& p) noexcept {
  const int64_t resident = int64_t{d.multiprocessors} * std::max(1, d.threads_per_multiprocessor / kTwoPassThreads);
  const int64_t grid = std::clamp<int64_t>(ceil_div(p.n, kTwoPassThreads), 1, std::min(4 * resident, kMaxReduceBlocks));
  return {grid, kTwoPassThreads, 1, ceil_div(p.n, grid)};
}

LaunchShape host_shape(const DeviceProps& d, const ReduceProblem& p) noexcept {
  const int64_t tasks = std::clamp<int64_t>(p.n / kHostTaskElements, 1, int64_t{4} * d.multiprocessors);
  return {tasks, 1, 1, ceil_div(std::max<int64_t>(p.n, 1), tasks)};
}
LaunchShape serial_shape(const DeviceProps&, const ReduceProblem& p) noexcept { return {1, 1, 1, p.n}; }

constexpr Variant<ReduceProblem> kTable[] = {
    {"one_block", Runs::cuda, 1, accepts_short, one_block_shape},
    {"last_block", Runs::cuda, 1, accepts_contiguous, last_block_shape},
    {"two_pass", Runs::cuda, 1, accepts_contiguous, grid_stride_shape},
    {"two_pass_elements", Runs::cuda, 1, accepts, grid_stride_shape},
    {"host_vector", Runs::host, 1, accepts_contiguous, host_shape},
    {"host_elements", Runs::host, 1, accepts, host_shape},
    {"host_serial", Runs::host, 1, accepts, serial_shape},
};

}  // namespace

std::span<const Variant<ReduceProblem>> ReduceFamily::table() noexcept { return kTable; }

}  // namespace gpumem
