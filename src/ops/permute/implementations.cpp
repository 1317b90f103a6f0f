// Implementations of permute, by the form of the fused problem. The last one of each backend moves single elements.
#include <algorithm>

#include "backend/host/implementations.hpp"
#include "kernels/alignment.hpp"
#include "kernels/limits.hpp"
#include "kernels/permute/contiguous_boxes.hpp"
#include "kernels/permute/limits.hpp"
#include "kernels/permute/packed.hpp"
#include "kernels/permute/permute.hpp"
#include "kernels/permute/plane.hpp"
#include "kernels/transpose/chunks.hpp"
#include "kernels/transpose/limits.hpp"
#include "select/permute_transpose.hpp"
#include "select/select.hpp"
#include "select/variants.hpp"

namespace gpumem {
namespace {

// Bytes. The first limit is for runs that begin and end on sectors, the second for all others.
constexpr int64_t kShortestLine = 256;
constexpr int64_t kShortestCutLine = 512;

const char* accepts_copy(const DeviceProps&, const PermuteParams& p) noexcept {
  return form_of(p.axes) == PermuteForm::copy ? nullptr : "it needs a permutation that fuses to one contiguous run";
}

const char* misaligned(const PermuteParams& p) noexcept {
  if (!aligned(p.src, p.axes.element_bytes)) return "it needs src aligned to its elements";
  if (!aligned(p.dst, p.axes.element_bytes)) return "it needs dst aligned to its elements";
  return nullptr;
}

// Shorter runs waste too much of their first and last sectors or cache lines.
const char* plan_contiguous_boxes(const DeviceProps&, const PermuteParams& p, Config& config) noexcept {
  if (form_of(p.axes) != PermuteForm::rows)
    return "it needs several axes, one of them the fastest of both sides without gaps";
  if (const char* reason = misaligned(p)) return reason;
  const LineTile t = line_tile(p.axes);
  if (!t.fits) return "it needs strides of 32 bits between neighbouring lines";
  const int64_t least = t.sector_mask == 0 ? kShortestLine : kShortestCutLine;
  if (p.axes.extent[0] * p.axes.element_bytes < least) return "it needs longer lines";
  config = {std::min(t.all_boxes, kMaxGrid), kLineTileThreads, line_loads(p.axes.element_bytes), t.volume};
  config.own.set(t);
  return nullptr;
}

// Single elements take less time than packed needs to find its tiles. Runs of words of 16 bytes are also faster one by
// one at any size. H200, 400 x 384 x 368 of 8 bytes, first two axes exchanged: strided_scalar 218 us, contiguous_boxes
// 241, packed 262. 17 x 19 x 23 x 7 of 4 bytes: strided_scalar 1.4 to 1.8, packed 2.5 to 3.7.
bool few_elements(const PermuteParams& p) noexcept {
  const bool words = p.axes.element_bytes == 16;
  if (form_of(p.axes) == PermuteForm::rows) return words || p.elements() <= int64_t{1} << 19;
  return p.elements() <= int64_t{1} << (words ? 20 : 18);
}

const char* deprioritized_for_elements(const DeviceProps&, const PermuteParams& p) noexcept {
  return few_elements(p) ? "single elements are faster for so few or such wide ones" : nullptr;
}

constexpr const char* kFew = "single elements are faster for so few";

// Cached per thread, because programs repeat calls and the search can take ten times as long as the rest of a call.
const PackedTile& tile_of(const PermuteAxes& axes) noexcept {
  thread_local PermuteAxes last;
  thread_local PackedTile tile;
  if (!(last == axes)) {
    tile = packed_tile(axes);
    last = axes;
  }
  return tile;
}

// One wave of blocks, so that each builds its tables once and no wave is partly filled.
const char* plan_packed(const DeviceProps& d, const PermuteParams& p, Config& config) noexcept {
  if (form_of(p.axes) == PermuteForm::copy) return "it needs axes that move";
  if (const char* reason = misaligned(p)) return reason;
  const PackedTile& t = tile_of(p.axes);
  if (!t.fits) return "it needs several axes, the first of dst without gaps, and strides of 32 bits";
  const int64_t rounds = ceil_div(t.all_boxes, int64_t{kPackedResident} * d.multiprocessors);
  config = {ceil_div(t.all_boxes, rounds), t.threads, static_cast<int32_t>(ceil_div(t.volume, t.threads)), t.volume};
  config.own.set(t);
  return nullptr;
}

const char* plan_tiled(const DeviceProps&, const PermuteParams& p, Config& config) noexcept {
  if (form_of(p.axes) != PermuteForm::planes) {
    return "it needs an axis that is the fastest of src and another that is the fastest of dst, without gaps";
  }
  config = permute_tiled_config(p.axes);
  const auto plane = config.own.get<PermutePlane>();
  if (std::min(plane.down, plane.across) < kPermuteLeastTiled) {
    return "it needs longer fastest axes: most of a tile would be empty";
  }
  return misaligned(p);
}

// Both sides, with what else the L2 cache holds.
bool is_cached(const DeviceProps& d, const PermuteParams& p) noexcept {
  return p.elements() <= d.l2_bytes / 2 / p.axes.element_bytes;
}

// The percentage of tiles that has to be filled, by the times of all variants of 330 shapes on an H200. 4 x 5 x 35 x 10 x 14
// x 20 of 4 bytes, 61 percent: tiled 9.2 us, packed 6.6. 9 x 26 x 24 x 72 x 30 of 16 bytes, 98 percent: tiled 104, packed
// 131. The short rows of tiles with 4-byte elements need the cache. Of 27 larger permutations, 23 take up to 1.62 times as
// long with tiled, and the others 0.88 times or more. Tiles have little to prepare, so up to 2.5 MiB, fewer of them need to
// be filled: 14 x 1089 x 37 of 2 bytes, 57 percent: tiled 3.1 us, packed 4.6. Few elements of 16 bytes: 7 x 53 x 5 x 3 x 20,
// tiled 2.6 us, strided_scalar 2.2.
const char* deprioritized_if_empty(const DeviceProps& d, const PermuteParams& p) noexcept {
  const int64_t bytes = p.axes.element_bytes;
  if (p.elements() <= int64_t{bytes == 16 ? 3 : 1} << 16) return kFew;
  const bool planes = form_of(p.axes) == PermuteForm::planes;
  if (bytes == 4 && planes && !is_cached(d, p) && tile_of(p.axes).fits) {
    return "the rows of its tiles are short for more than the L2 cache holds";
  }
  constexpr int64_t kSmall = int64_t{5} << 19;
  const int64_t least = bytes == 16 ? 30 : p.elements() <= kSmall / bytes ? 35 : bytes == 8 ? 55 : 65;
  const PermutePlane plane = permute_plane(p.axes);
  const bool full = permute_tiles_filled(bytes, plane.down, plane.across) >= least;
  return full ? nullptr : "much of its tiles would be empty";
}

// Whether elements of other matrices lie between the structures, which may be shorter than a sector. H200, order 210:
// 17 x 4521 x 799 of 4 bytes: aos_soa 276 us, packed 150. In the cache, 512 x 256 x 9 of 4 bytes: 7.8 us, tiled 4.1, but
// 8 x 28712 x 14, whose structures are short on both sides: 7.3 us, packed 9.1. Elements of 8 bytes are fine in the cache.
bool has_scattered_structures(const TransposeParams& t) noexcept {
  return t.batches > 1 && (t.rows < t.cols ? t.dst_ld != t.rows : t.src_ld != t.cols);
}

const char* accepts_transpose(const DeviceProps&, const PermuteParams& p) noexcept {
  if (!is_transpose(p.axes)) return "it needs two axes, or three with one that counts matrices";
  if (const char* reason = misaligned(p)) return reason;
  const TransposeParams t = transpose_of(p);
  const bool tight = t.dst_ld == t.rows && t.dst_batch_stride == t.rows * t.cols;
  const bool small = t.batches > 1 && tight && t.rows * t.cols <= kSmallMatrixBytes / t.element_bytes;
  const bool narrow = std::min(t.rows, t.cols) <= kAosSoaWidth;
  if (t.element_bytes < 16 && (small || narrow) && !(t.element_bytes <= 2 && few_elements(p))) return nullptr;
  const int64_t least = t.element_bytes == 16 ? 30 : 50;
  return permute_tiles_filled(t.element_bytes, t.rows, t.cols) >= least ? nullptr
                                                                        : "it needs axes that fill tiles better";
}

// H200, 2035 x 6 x 164 of 2 bytes: transpose 7.1 us, tiled 5.0. Longer sides were not measured.
constexpr int64_t kShortSide = 256;

const char* deprioritized_if_scattered(const DeviceProps& d, const PermuteParams& p) noexcept {
  if (p.elements() <= int64_t{1} << 16) return kFew;
  if (!is_transpose(p.axes)) return nullptr;
  const TransposeParams t = transpose_of(p);
  const bool narrow = std::min(t.rows, t.cols) <= kAosSoaWidth;
  // H200: 224 x 224 x 3 of 4 bytes by 201: transpose 2.2 us, strided_scalar 1.6.
  const bool tiles = std::min(t.rows, t.cols) >= kPermuteLeastTiled;
  if (!tiles && t.element_bytes >= 4 && few_elements(p)) return kFew;
  const bool short_ones = std::max(t.rows, t.cols) <= kAosSoaWidth;
  const bool slow = t.element_bytes <= 2 || !is_cached(d, p) || (t.element_bytes == 4 && !short_ones && tiles);
  const bool apart = (narrow && slow) || (t.element_bytes == 2 && std::min(t.rows, t.cols) <= kShortSide);
  return apart && has_scattered_structures(t) ? "elements of other matrices lie between its rows" : nullptr;
}

const char* accepts_host_transpose(const DeviceProps&, const PermuteParams& p) noexcept {
  if (!is_transpose(p.axes)) return "it needs two axes, or three with one that counts matrices";
  const TransposeParams t = transpose_of(p);
  const bool tight = t.src_ld == t.cols && (t.batches == 1 || t.src_batch_stride == t.rows * t.cols);
  const bool small = t.batches > 1 && t.rows * t.cols <= kHostSmallMatrix / t.element_bytes;
  if (tight && (small || t.cols <= kHostAosSoaWidth)) return nullptr;
  return t.dst_ld == t.rows && t.rows <= kHostAosSoaWidth ? nullptr
                                                          : "it needs structures, or small matrices, without gaps";
}

// The configuration that the transpose table chooses, with its implementation as the delegate.
Config transpose_config(const DeviceProps& d, const PermuteParams& p) noexcept {
  const Selection<TransposeParams> selection = select<TransposeFamily>(d, transpose_of(p), {}, {});
  Config config = selection.config;
  config.delegate = selection.implementation;
  return config;
}

const Implementation<TransposeParams>& delegate_of(const Config& config) noexcept {
  return *static_cast<const Implementation<TransposeParams>*>(config.delegate);
}
kernels::LaunchResult by_transpose_on_gpu(const PermuteParams& params, const Config& config,
                                          const kernels::Launch& launch) {
  return delegate_of(config).execute.gpu(transpose_of(params), config, launch);
}
void by_transpose_on_host(const HostTeam& team, const PermuteParams& params, const Config& config, char* workspace) {
  delegate_of(config).execute.host(team, transpose_of(params), config, workspace);
}

Config strided_scalar_config(const DeviceProps&, const PermuteParams& p) noexcept {
  return {std::min(ceil_div(p.elements(), kPermuteThreads), kMaxGrid), kPermuteThreads, 1, kPermuteThreads};
}

Config host_config(const DeviceProps& d, const PermuteParams& p) noexcept {
  const int64_t wanted = p.elements() / (kHostTaskBytes / p.axes.element_bytes);
  const int64_t tasks = std::clamp<int64_t>(wanted, 1, int64_t{8} * d.multiprocessors);
  return {tasks, 1, 1, host_transpose_tile(p.axes.element_bytes)};
}

// transpose delegates to the transpose table.
constexpr Implementation<PermuteParams> kTable[] = {
    {"copy", ExecutionSpace::cuda, 1, plan<accepts_copy, whole<PermuteParams>>, gpu<kernels::permute_copy>},
    {"contiguous_boxes", ExecutionSpace::cuda, 1, plan_contiguous_boxes, gpu<kernels::permute_contiguous_boxes>,
     deprioritized_for_elements},
    {"transpose", ExecutionSpace::cuda, 1, plan<accepts_transpose, transpose_config>, by_transpose_on_gpu,
     deprioritized_if_scattered},
    {"tiled", ExecutionSpace::cuda, 1, plan_tiled, gpu<kernels::permute_tiled>, deprioritized_if_empty},
    {"packed", ExecutionSpace::cuda, 1, plan_packed, gpu<kernels::permute_packed>, deprioritized_for_elements},
    {"strided_scalar", ExecutionSpace::cuda, 1, plan<accepts<PermuteParams>, strided_scalar_config>,
     gpu<kernels::permute_strided_scalar>},
    {"host_transpose", ExecutionSpace::host, 1, plan<accepts_host_transpose, transpose_config>, by_transpose_on_host},
    {"host_tiled", ExecutionSpace::host, 1, plan<accepts<PermuteParams>, host_config>, host::permute_tiled},
    {"host_serial", ExecutionSpace::host, 1, plan<accepts<PermuteParams>, whole<PermuteParams>>, host::permute_serial},
};

}  // namespace

std::span<const Implementation<PermuteParams>> PermuteFamily::table() noexcept { return kTable; }

}  // namespace gpumem
