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
