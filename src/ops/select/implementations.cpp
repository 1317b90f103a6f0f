// Implementations of select.
#include <algorithm>
#include <bit>

#include "backend/host/implementations.hpp"
#include "base/checked.hpp"
#include "kernels/alignment.hpp"
#include "kernels/limits.hpp"
#include "kernels/select/select.hpp"
#include "select/variants.hpp"

namespace gpumem {
namespace {

constexpr int64_t kTasksAThread = 8;  // tasks differ in the rows that they keep

const char* accepts_numbers(const DeviceProps&, const SelectParams& p) noexcept {
  return p.places ? nullptr : "it writes places";
}

// Whether the rows of both matrices start at multiples of `bytes`.
const char* accepts_words(const SelectParams& p, int64_t bytes, const char* reason) noexcept {
  if (p.places) return "it writes rows";
  const bool fits = aligned(p.src, bytes) && aligned(p.dst, bytes) && (p.n <= 1 || p.src_pitch % bytes == 0) &&
                    (p.dst_rows <= 1 || p.dst_pitch % bytes == 0);
  return fits ? nullptr : reason;
}

const char* accepts_single(const DeviceProps&, const SelectParams& p) noexcept {
  if (p.row_bytes > 16 || !std::has_single_bit(static_cast<uint64_t>(p.row_bytes))) {
    return "it needs rows of 1, 2, 4, 8 or 16 bytes";
  }
  if (std::max(p.src_pitch, p.dst_pitch) > UINT32_MAX) return "it needs pitches below 4 GiB";
  return accepts_words(p, p.row_bytes, "it needs rows that start at multiples of their size");
}
const char* accepts_vec16(const DeviceProps&, const SelectParams& p) noexcept {
  return accepts_words(p, 16, "it needs rows that start at multiples of 16 bytes");
}
const char* accepts_vec8(const DeviceProps&, const SelectParams& p) noexcept {
  return accepts_words(p, 8, "it needs rows that start at multiples of 8 bytes");
}
const char* accepts_vec4(const DeviceProps&, const SelectParams& p) noexcept {
  return accepts_words(p, 4, "it needs rows that start at multiples of 4 bytes");
}
Config tiles_config(const DeviceProps& d, const SelectParams& p) noexcept {
  const SelectShape shape = select_shape(p, misalignment(p.mask), d.multiprocessors);
  Config config{shape.written, kSelectThreads, 1, kSelectTile};
  config.workspace_bytes = shape.workspace_bytes();
  config.fixed_grid = true;
  config.own.set(shape);
  return config;
}

// tile: rows per task. Few long rows are cut, and the number of tasks is then a multiple of the number of tiles.
Config host_config(const DeviceProps& d, const SelectParams& p) noexcept {
  const int64_t limit = kTasksAThread * d.multiprocessors;
  const int64_t rows_of_task = std::max<int64_t>(kHostTaskBytes / (1 + p.row_bytes), 1);
  const int64_t tile = ceil_div(p.n, std::clamp<int64_t>(ceil_div(p.n, rows_of_task), 1, limit));
  const int64_t tiles = ceil_div(p.n, tile);
  const bool cut = tiles < limit && p.row_bytes > kHostTaskBytes;
  const int64_t pieces = cut ? std::clamp<int64_t>(limit / tiles, 1, p.row_bytes / kHostTaskBytes) : 1;
  Config config{tiles * pieces, 1, 1, tile};
  config.workspace_bytes = config.grid > 1 ? tiles * int64_t{sizeof(int64_t)} : 0;
  return config;
}

constexpr Implementation<SelectParams> kTable[] = {
    {"numbers", ExecutionSpace::cuda, 1, plan<accepts_numbers, tiles_config>, gpu<kernels::select_numbers>},
    {"single", ExecutionSpace::cuda, 1, plan<accepts_single, tiles_config>, gpu<kernels::select_single>},
    {"vec16", ExecutionSpace::cuda, 1, plan<accepts_vec16, tiles_config>, gpu<kernels::select_vec16>},
    {"vec8", ExecutionSpace::cuda, 1, plan<accepts_vec8, tiles_config>, gpu<kernels::select_vec8>},
    {"words", ExecutionSpace::cuda, 1, plan<accepts_vec4, tiles_config>, gpu<kernels::select_words>},
    {"bytes", ExecutionSpace::cuda, 1, plan<accepts<SelectParams>, tiles_config>, gpu<kernels::select_bytes>},
    {"host_parallel", ExecutionSpace::host, 1, plan<accepts<SelectParams>, host_config>, host::select_parallel},
    {"host_serial", ExecutionSpace::host, 1, plan<accepts<SelectParams>, whole<SelectParams>>, host::select_serial},
};

}  // namespace

std::span<const Implementation<SelectParams>> SelectFamily::table() noexcept { return kTable; }

}  // namespace gpumem
