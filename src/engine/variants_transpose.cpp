// The transpose table. Tiles go through fast memory, so that both the reads and the writes run along rows.
#include <algorithm>

#include "engine/checked.hpp"
#include "engine/variants.hpp"
#include "kernels/limits.hpp"

namespace gpumem {
namespace {

constexpr int64_t kMaxGrid = 0x7fffffff;
constexpr int64_t kHostTaskBytes = int64_t{1} << 20;

const char* accepts(const DeviceProps&, const TransposeProblem&) noexcept { return nullptr; }

const char* accepts_aligned(const DeviceProps&, const TransposeProblem& p) noexcept {
  if (p.src_misalignment % p.element_bytes != 0) return "it needs src aligned to its elements";
  if (p.dst_misalignment % p.element_bytes != 0) return "it needs dst aligned to its elements";
  return nullptr;
}

const char* accepts_vec16(const DeviceProps&, const TransposeProblem& p) noexcept {
  if (p.src_misalignment != 0) return "it needs src aligned to 16 bytes";
  if (p.dst_misalignment != 0) return "it needs dst aligned to 16 bytes";
  if (p.src_ld * p.element_bytes % 16 != 0) return "it needs rows of src that start at multiples of 16 bytes";
  if (p.dst_ld * p.element_bytes % 16 != 0) return "it needs rows of dst that start at multiples of 16 bytes";
  if (p.src_batch_stride * p.element_bytes % 16 != 0) return "it needs src_batch_stride to be a multiple of 16 bytes";
  if (p.dst_batch_stride * p.element_bytes % 16 != 0) return "it needs dst_batch_stride to be a multiple of 16 bytes";
  return nullptr;
}

LaunchShape tiles_of(const TransposeProblem& p, int64_t tile) noexcept {
  const int64_t tiles = p.batches * ceil_div(p.rows, tile) * ceil_div(p.cols, tile);
  return {std::min(tiles, kMaxGrid), kTransposeThreads, 4, tile};
}

LaunchShape vec16_shape(const DeviceProps&, const TransposeProblem& p) noexcept {
  return tiles_of(p, transpose_vec16_tile(p.element_bytes));
}
LaunchShape padded_shape(const DeviceProps&, const TransposeProblem& p) noexcept {
  return tiles_of(p, kTransposePaddedTile);
}

LaunchShape host_shape(const DeviceProps& d, const TransposeProblem& p) noexcept {
  const int64_t tile = host_transpose_tile(p.element_bytes);
  const int64_t bands = p.batches * ceil_div(std::max(p.rows, p.cols), tile);
  const int64_t wanted = p.elements() / (kHostTaskBytes / p.element_bytes);
  const int64_t tasks = std::clamp<int64_t>(wanted, 1, std::min(bands, int64_t{8} * d.multiprocessors));
  return {tasks, 1, 1, tile};
}
LaunchShape serial_shape(const DeviceProps&, const TransposeProblem& p) noexcept { return {1, 1, 1, p.rows}; }

constexpr Variant<TransposeProblem> kTable[] = {
    {"tile_vec16", Runs::cuda, 1, accepts_vec16, vec16_shape},
    {"tile_padded", Runs::cuda, 1, accepts_aligned, padded_shape},
    {"tile_bytes", Runs::cuda, 1, accepts, padded_shape},
    {"host_tiled", Runs::host, 1, accepts, host_shape},
    {"host_serial", Runs::host, 1, accepts, serial_shape},
};

}  // namespace

std::span<const Variant<TransposeProblem>> TransposeFamily::table() noexcept { return kTable; }

}  // namespace gpumem
