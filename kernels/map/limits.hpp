// How elementwise work is divided among threads, for the table and the kernels. Plain C++, no CUDA.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/limits.hpp"
#include "kernels/map/params.hpp"

namespace gpumem {

constexpr int kMapThreads = 256;
// A launch numbers its items in 32 bits. Larger views are divided among launches.
constexpr int64_t kMostMapItems = int64_t{1} << 30;

// Neighbouring elements of a row per item of a kernel with vectors: 16 bytes. A scaled conversion has up to 32 bytes of
// z, because the look-up of its types takes longer than a few conversions. A comparison has up to 32 bytes of a source,
// because it writes few. bytes: of an element, or of one of z.
constexpr int map_vector(MapKind kind, int bytes) noexcept {
  if (kind == MapKind::convert_scaled) return bytes > 4 ? 4 : 8;
  return kind == MapKind::compare ? std::clamp(32 / bytes, 4, 16) : 16 / bytes;
}
constexpr int map_vector(const MapParams& p) noexcept {
  const bool converts = p.kind == MapKind::convert_scaled;
  const int64_t bytes = p.kind == MapKind::where ? p.element_bytes : element_bytes(converts ? p.dst_type : p.dtype);
  return map_vector(p.kind, static_cast<int>(bytes));
}
// Items that a thread keeps in flight.
constexpr int map_items(int vector) noexcept { return vector == 1 ? 4 : 1; }

// A scaled conversion of 1-byte elements to at most 4 bytes has 256 results per channel: a table. Channels are elements
// of scale and offset along one axis. If this is the last axis (interleaved images), a row is that axis and the one
// before it, fused.
constexpr int32_t kMostTableChannels = 4;
constexpr int kTableBlocks = 5;  // per multiprocessor, at the same time
constexpr int table_vector(int64_t bytes) noexcept { return bytes > 2 ? 8 : 16; }
struct MapTable {
  MapParams p;
  int32_t channels = 0;  // 0: there is no table
  bool interleaved = false;
  bool varies[kMaxMapSources] = {};  // scale and offset
};
constexpr MapTable map_table(const MapParams& p) noexcept {
  MapTable t{.p = p};
  if (p.kind != MapKind::convert_scaled || p.source_bytes(0) != 1 || p.z_bytes() > 4) return t;
  int32_t axis = -1;
  for (int32_t k = 1; k < p.sources; ++k) {
    for (int32_t d = 0; p.x[k] != nullptr && d < p.rank; ++d) {
      if (p.x_strides[k][d] == 0 || p.extents[d] == 1) continue;
      if (p.x_strides[k][d] != 1 || (axis >= 0 && axis != d)) return t;
      t.varies[k] = true;
      axis = d;
    }
  }
  const int64_t channels = axis < 0 ? 1 : p.extents[axis];
  if (channels > kMostTableChannels || (axis >= 0 && p.rank == 1)) return t;
  if (axis >= 0 && axis == p.rank - 1) {
    const int32_t row = axis - 1;
    for (int32_t d = 0; d < row; ++d) {
      if (p.z_strides[d] % channels != 0) return t;
    }
    if (p.z_strides[axis] != 1 || p.z_strides[row] != channels) return t;
    if (p.x_strides[0][row] != channels * p.x_strides[0][axis]) return t;
    t.interleaved = true;
    t.p.rank = axis;
    t.p.extents[row] *= channels;
    t.p.z_strides[row] = 1;
    t.p.x_strides[0][row] = p.x_strides[0][axis];
  }
  t.channels = static_cast<int32_t>(channels);
  return t;
}

// Vectors of a row begin where z is aligned. `ahead`: the elements from there to the row's first, if every row has as
// many; -1 if rows differ.
struct MapRows {
  int64_t boundary = 1;  // elements of z
  int64_t ahead = 0;
  int64_t items = 0;  // per row, at most
  int64_t rows = 0;
};
inline MapRows map_rows(const MapParams& p, int vector) noexcept {
  MapRows r;
  const int64_t length = p.extents[p.rank - 1];
  r.rows = p.elements() / length;
  if (vector > 1) {
    const int64_t bytes = p.z_bytes();
    r.boundary = std::min<int64_t>(16, vector * bytes) / bytes;
    r.ahead = static_cast<int64_t>(reinterpret_cast<uintptr_t>(p.z) / static_cast<uintptr_t>(bytes)) % r.boundary;
    for (int32_t d = 0; d < p.rank - 1; ++d) {
      if (p.z_strides[d] % r.boundary != 0) r.ahead = -1;
    }
  }
  r.items = ceil_div(length + (r.ahead < 0 ? r.boundary - 1 : r.ahead), vector);
  return r;
}

}  // namespace gpumem
