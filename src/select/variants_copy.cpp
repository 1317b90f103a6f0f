// The copy table. Between two ranges of the device's memory the driver's own copy and the best kernel are as fast as each other (H200,
// 1 GiB: 504 and 500 us; one copy of 64 KiB: 3.3 us each), but a kernel can start before the one before it has ended: copies of up to
// 16 MiB that follow each other take 0.55 to 0.85 of the driver's time.
#include <algorithm>

#include "base/checked.hpp"
#include "kernels/alignment.hpp"
#include "kernels/copy/limits.hpp"
#include "kernels/limits.hpp"
#include "select/variants.hpp"

namespace gpumem {
namespace {

const char* accepts(const DeviceProps&, const CopyParams&) noexcept { return nullptr; }

const char* accepts_range(const CopyParams& p) noexcept {
  return p.rows == 1 && p.slices == 1 ? nullptr : "it copies one range, and this copy has rows with gaps between them";
}

const char* accepts_vec16(const DeviceProps&, const CopyParams& p) noexcept {
  if (const char* reason = accepts_range(p)) return reason;
  if (p.managed) return "it would fault pages of managed memory in one by one";
  return misalignment(p.src) == misalignment(p.dst) ? nullptr : "it needs src and dst equally far from multiples of 16";
}
const char* accepts_vec4(const DeviceProps&, const CopyParams& p) noexcept {
  if (const char* reason = accepts_range(p)) return reason;
  return p.access() >= 16 ? nullptr : "it needs src and dst at multiples of 16 bytes";
}
const char* accepts_vec2(const DeviceProps&, const CopyParams& p) noexcept {
  if (const char* reason = accepts_range(p)) return reason;
  return p.access() >= 8 ? nullptr : "it needs src and dst at multiples of 8 bytes";
}
const char* accepts_scalar(const DeviceProps&, const CopyParams& p) noexcept {
  if (const char* reason = accepts_range(p)) return reason;
  return p.access() >= 4 ? nullptr : "it needs src and dst at multiples of 4 bytes";
}

const char* accepts_rows(const DeviceProps&, const CopyParams& p) noexcept {
  if (p.rows == 1) return "it copies many rows, and this copy is one range";
  if (p.row_bytes <= kShortCopyRow || p.access() >= 4) return nullptr;
  return "it is for rows of up to 64 bytes, or that begin at multiples of 4 bytes on both sides";
}

LaunchShape driver_shape(const DeviceProps&, const CopyParams& p) noexcept { return {1, 1, 1, p.elements()}; }

LaunchShape blocks_of(int64_t pieces, int64_t tile) noexcept {
  return {std::clamp<int64_t>(ceil_div(pieces, tile), 1, kMaxGrid), kCopyThreads, 1, tile};
}

// As many blocks as it takes: what was fastest there (two to eight words a thread 4120-4190 GB/s, persistent blocks 3890-3960).
LaunchShape vec16_shape(const DeviceProps&, const CopyParams& p) noexcept {
  return blocks_of(p.elements(), int64_t{kCopyThreads} * 16);
}

// The textbook's grid: as many blocks as the multiprocessors hold at once, each going over the range with the grid's stride.
template <int64_t kBytes>
LaunchShape words_shape(const DeviceProps& d, const CopyParams& p) noexcept {
  LaunchShape shape = blocks_of(p.elements(), kCopyThreads * kBytes);
  const int64_t resident = int64_t{d.multiprocessors} * d.threads_per_multiprocessor / kCopyThreads;
  shape.grid = std::clamp<int64_t>(shape.grid, 1, std::max<int64_t>(resident, 1));
  return shape;
}

LaunchShape rows_shape(const DeviceProps&, const CopyParams& p) noexcept {
  const int64_t pieces = copy_row_pieces(p.row_bytes, p.access());
  return blocks_of(p.rows * p.slices * pieces, kCopyThreads / copy_row_lanes(p.row_bytes, p.access()));
}
LaunchShape bytes_shape(const DeviceProps&, const CopyParams& p) noexcept {
  return blocks_of(p.elements(), kCopyThreads);
}

// As few pieces as threads: the C library goes around the caches for long pieces only. A piece may begin within a row.
LaunchShape host_shape(const DeviceProps& d, const CopyParams& p) noexcept {
  const int64_t tasks = std::clamp<int64_t>(p.elements() / kHostTaskBytes, 1, std::max(d.multiprocessors, 1));
  return {tasks, 1, 1, ceil_div(ceil_div(p.elements(), tasks), 4096) * 4096};
}
LaunchShape serial_shape(const DeviceProps&, const CopyParams& p) noexcept { return {1, 1, 1, p.elements()}; }

// rows stands before driver because drivers' copies of rows are slower (H200: 0.08 of its speed at 64 bytes in three dimensions, 0.8 at
// 1 KiB in two), but for rows that begin at odd addresses.
constexpr Variant<CopyParams> kTable[] = {
    {"rows", Runs::cuda, 2, accepts_rows, rows_shape},     {"vec16", Runs::cuda, 2, accepts_vec16, vec16_shape},
    {"driver", Runs::cuda, 1, accepts, driver_shape},      {"vec4", Runs::cuda, 1, accepts_vec4, words_shape<16>},
    {"vec2", Runs::cuda, 1, accepts_vec2, words_shape<8>}, {"scalar", Runs::cuda, 1, accepts_scalar, words_shape<4>},
    {"bytes", Runs::cuda, 1, accepts, bytes_shape},        {"host_parallel", Runs::host, 1, accepts, host_shape},
    {"host_serial", Runs::host, 1, accepts, serial_shape},
};

}  // namespace

std::span<const Variant<CopyParams>> CopyFamily::table() noexcept { return kTable; }

}  // namespace gpumem
