// Implementations of resize. A pixel of dst reads one or four pixels of src, so a row of dst reads one or two rows.
// They read src through the caches at every ratio. The results of a batch have one size, so its images share the tiles.
#include <algorithm>

#include "backend/host/implementations.hpp"
#include "base/checked.hpp"
#include "kernels/alignment.hpp"
#include "kernels/limits.hpp"
#include "kernels/resize/limits.hpp"
#include "kernels/resize/resize.hpp"
#include "select/variants.hpp"

namespace gpumem {
namespace {

constexpr int64_t kMaxRowsPerThread = 8;
// Up to this extent, a float holds a coordinate with 8 bits of fraction exactly.
constexpr int64_t kMaxTextureExtent = int64_t{1} << 15;

// Calls refusal(image) for each image of a batch. Equal images have the same answer.
template <class F>
const char* refusal_of_images(const ResizeParams& p, const F& refusal) noexcept {
  if (p.batches == 1) return refusal(p);
  for (int64_t k = 0; k < (p.images != nullptr ? p.batches : 1); ++k) {
    if (const char* reason = refusal(p.image(k))) return reason;
  }
  return nullptr;
}

const char* accepts_aligned_image(const ResizeParams& p) noexcept {
  const int64_t element = element_bytes(p.dtype);
  if (misalignment(p.src) % element != 0) return "it needs src aligned to its elements";
  if (misalignment(p.dst) % element != 0) return "it needs dst aligned to its elements";
  if (p.src_pitch % element != 0) return "it needs rows of src that are whole elements apart";
  if (p.dst_pitch % element != 0) return "it needs rows of dst that are whole elements apart";
  if (resize_bits(p.src_rows, p.dst_rows) == 128) return "it needs rows of src times rows of dst below 2^63";
  if (resize_bits(p.src_cols, p.dst_cols) == 128) return "it needs columns of src times columns of dst below 2^63";
  return nullptr;
}

const char* accepts_aligned(const DeviceProps&, const ResizeParams& p) noexcept {
  if (p.dst_image_stride % element_bytes(p.dtype) != 0) return "it needs images of dst that are whole elements apart";
  return refusal_of_images(p, accepts_aligned_image);
}

// The kernel counts bytes from the first pixel to the end of the last in 32 bits.
bool is_short(int64_t rows, int64_t cols, int64_t pitch, int64_t pixel) noexcept {
  constexpr int64_t kMost = int64_t{1} << 30;
  return pitch <= kMost / rows && cols * pixel <= kMost;
}

const char* accepts_words_image(const ResizeParams& p) noexcept {
  if (p.dst_cols < 32) return "it needs rows of dst of 32 pixels or more";
  if (resize_bits(p.src_rows, p.dst_rows) != 32) return "it needs twice rows of src times rows of dst below 2^32";
  if (resize_bits(p.src_cols, p.dst_cols) != 32) return "it needs twice columns of src times columns of dst below 2^32";
  if (!is_short(p.src_rows, p.src_cols, p.src_pitch, p.pixel_bytes())) return "it needs a src of 1 GiB at most";
  if (!is_short(p.dst_rows, p.dst_cols, p.dst_pitch, p.pixel_bytes())) return "it needs a dst of 1 GiB at most";
  return accepts_aligned_image(p);
}

const char* accepts_words(const DeviceProps&, const ResizeParams& p) noexcept {
  if (p.dtype != GPUMEM_U8) return "it needs elements of a byte";
  return refusal_of_images(p, accepts_words_image);
}

const char* accepts_texture(const DeviceProps& d, const ResizeParams& p) noexcept {
  if (p.batches != 1) return "it takes one image";
  if (d.texture_alignment == 0) return "it needs a device with textures";
  if (p.channels == 3) return "it needs 1, 2 or 4 channels";
  if (static_cast<int64_t>(reinterpret_cast<uintptr_t>(p.src) % 4096) % d.texture_alignment != 0)
    return "it needs src aligned as the device's textures are";
  if (p.src_pitch % d.texture_pitch_alignment != 0) return "it needs rows of src apart by multiples of a texture's";
  if (p.src_pitch > d.texture_max_pitch) return "it needs rows of src no further apart than the rows of a texture";
  if (p.src_cols > std::min(d.texture_max_cols, kMaxTextureExtent))
    return "it needs rows of src of 32768 pixels at most";
  if (p.src_rows > std::min(d.texture_max_rows, kMaxTextureExtent)) return "it needs a src of 32768 rows at most";
  return accepts_aligned(d, p);
}

// The most rows per thread that leave each multiprocessor two blocks. A thread computes its columns once for all its
// rows, and neighbouring rows of an enlarged image share their reads.
int64_t rows_per_thread(const DeviceProps& d, const ResizeParams& p, int64_t groups) noexcept {
  const int64_t threads = int64_t{2} * kResizeThreads * d.multiprocessors;
  const int64_t most = std::min(kMaxRowsPerThread, p.dst_rows);
  int64_t rows = 1;
  while (rows * 2 <= most && ceil_div(p.dst_rows, rows * 2) * p.batches > threads / groups) rows *= 2;
  return rows;
}

int64_t grid_of(const ResizeParams& p, int64_t tiles_per_image) noexcept {
  return tiles_per_image > kMaxGrid / p.batches ? kMaxGrid : tiles_per_image * p.batches;
}

Config tiles_of(const ResizeParams& p, int pixels, int64_t rows) noexcept {
  const ResizeTiles tiles = resize_tiles(p.dst_rows, p.dst_cols, pixels, rows);
  Config config{grid_of(p, tiles.count), kResizeThreads, pixels, rows};
  config.own.set(tiles);
  return config;
}

Config global_config(const DeviceProps& d, const ResizeParams& p) noexcept {
  const int pixels = resize_pixels(p.channels, element_bytes(p.dtype));
  return tiles_of(p, pixels, rows_per_thread(d, p, ceil_div(p.dst_cols, pixels)));
}

// As many rows per warp as leave a multiprocessor three blocks, or twice as many if rows share most of their reads.
Config words_config(const DeviceProps& d, const ResizeParams& p) noexcept {
  const int pixels = resize_words_pixels(p.channels);
  const int64_t across = ceil_div(p.dst_cols, int64_t{32} * pixels);
  const auto blocks = [&](int64_t rows) {
    const int64_t down = ceil_div(p.dst_rows, kResizeWarps * rows);
    return across > kMaxGrid / down ? kMaxGrid : grid_of(p, across * down);
  };
  int64_t rows = p.dst_rows > p.src_rows ? kMaxResizeRows : kMaxResizeRows / 2;
  while (rows > 1 && blocks(rows) < int64_t{3} * d.multiprocessors) rows /= 2;
  return {blocks(rows), kResizeThreads, pixels, rows};
}

Config pixel_config(const DeviceProps&, const ResizeParams& p) noexcept { return tiles_of(p, 1, 1); }

// Tasks are bands of rows, cut into columns so that a task's working set fits the caches.
Config host_config(const DeviceProps& d, const ResizeParams& p) noexcept {
  const int64_t across = ceil_div(p.dst_cols, kHostResizeCols);
  const int64_t bytes = p.elements() * element_bytes(p.dtype);
  const int64_t wanted = std::clamp<int64_t>(bytes / kHostTaskBytes, 1, int64_t{4} * d.multiprocessors);
  const int64_t bands = ceil_div(wanted, across * p.batches);
  const int64_t rows = ceil_div(p.dst_rows, std::min(bands, p.dst_rows));
  return {across * ceil_div(p.dst_rows, rows) * p.batches, 1, 1, rows};
}
Config serial_config(const DeviceProps&, const ResizeParams& p) noexcept { return {1, 1, 1, p.dst_rows}; }

// texture does not give the same bits as the others.
constexpr Implementation<ResizeParams> kTable[] = {
    {"words", ExecutionSpace::cuda, 1, plan<accepts_words, words_config>, gpu<kernels::resize_words>},
    {"global", ExecutionSpace::cuda, 2, plan<accepts_aligned, global_config>, gpu<kernels::resize_global>},
    {"texture", ExecutionSpace::cuda, 1, plan<accepts_texture, pixel_config>, gpu<kernels::resize_texture>, by_name,
     false},
    {"bytes", ExecutionSpace::cuda, 1, plan<accepts<ResizeParams>, pixel_config>, gpu<kernels::resize_bytes>},
    {"host_parallel", ExecutionSpace::host, 1, plan<accepts<ResizeParams>, host_config>, host::resize_parallel},
    {"host_serial", ExecutionSpace::host, 1, plan<accepts<ResizeParams>, serial_config>, host::resize_serial},
};

}  // namespace

std::span<const Implementation<ResizeParams>> ResizeFamily::table() noexcept { return kTable; }

}  // namespace gpumem
