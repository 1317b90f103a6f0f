// Implementations of scan. Those of a GPU read and write every element once.
#include <algorithm>
#include <bit>

#include "backend/host/implementations.hpp"
#include "base/checked.hpp"
#include "kernels/limits.hpp"
#include "kernels/nodes.hpp"
#include "kernels/scan/limits.hpp"
#include "kernels/scan/scan.hpp"
#include "select/variants.hpp"

namespace gpumem {
namespace {

// With the smallest tile, the limit of blocks is 32 TiB of results.
constexpr const char* kTooLong = "it needs at most 2^31 - 1 tiles";

const char* accepts_ordered(const DeviceProps&, const ScanParams& p) noexcept {
  if (!is_ordered(p)) return "it is for floating-point sums and products";
  return p.n / kScanLeafTile < kMaxGrid ? nullptr : kTooLong;
}
const char* accepts_unordered(const DeviceProps&, const ScanParams& p) noexcept {
  if (is_ordered(p)) return "its order of additions is not the reproducible one";
  return p.n / scan_tile(p.result_type) < kMaxGrid - 1 ? nullptr : kTooLong;
}

// A block per tile. One tile needs no counters.
Config tiles_config(int64_t tiles, int64_t tile, int32_t threads, int64_t state_bytes) noexcept {
  Config config{tiles, threads, 1, tile};
  config.fixed_grid = true;
  config.workspace_bytes = tiles == 1 ? 0 : static_cast<int64_t>(sizeof(ScanCounters)) + state_bytes;
  return config;
}
Config ordered_config(const DeviceProps&, const ScanParams& p) noexcept {
  const int64_t tiles = ceil_div(p.n, kScanLeafTile);
  int64_t nodes = 0;
  for (int hop = 0; hop < kScanHops; ++hop) nodes += scan_nodes(tiles, hop);
  Config config = tiles_config(tiles, kScanLeafTile, kScanWarps * 32, nodes * 8);
  config.shared_bytes = kScanLeafTile * element_bytes(p.dtype);
  return config;
}
Config look_back_config(const DeviceProps&, const ScanParams& p) noexcept {
  const int64_t tile = scan_tile(p.result_type);
  const int64_t tiles = ceil_div(p.n + scan_shift(p.result, p.result_type), tile);
  return tiles_config(tiles, tile, kScanThreads, tiles * static_cast<int64_t>(sizeof(ScanState)));
}

// A power of two of blocks per task, so that each task is a subtree. Several tasks read the elements twice.
Config host_config(const DeviceProps& d, const ScanParams& p) noexcept {
  const int64_t least = kHostTaskBytes / kLeafTerms / element_bytes(p.dtype);
  const int64_t leaves = ceil_div(p.n, kLeafTerms);
  const int64_t share =
      d.multiprocessors == 1 ? leaves : std::max(least, ceil_div(leaves, int64_t{4} * d.multiprocessors));
  Config config{1, 1, 1, kLeafTerms * static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(share)))};
  config.grid = ceil_div(p.n, config.tile);
  config.workspace_bytes = config.grid * host::kScanTaskBytes;
  return config;
}

constexpr Implementation<ScanParams> kTable[] = {
    {"ordered", ExecutionSpace::cuda, 1, plan<accepts_ordered, ordered_config>, gpu<kernels::scan_ordered>},
    {"look_back", ExecutionSpace::cuda, 1, plan<accepts_unordered, look_back_config>, gpu<kernels::scan_look_back>},
    {"host_parallel", ExecutionSpace::host, 1, plan<accepts<ScanParams>, host_config>, host::scan_parallel},
    {"host_serial", ExecutionSpace::host, 1, plan<accepts<ScanParams>, whole<ScanParams>>, host::scan_serial},
};

}  // namespace

std::span<const Implementation<ScanParams>> ScanFamily::table() noexcept { return kTable; }

}  // namespace gpumem
