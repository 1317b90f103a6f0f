// Parameters of elementwise functions, comparisons, selections and scaled conversions, over views of up to eight axes.
#pragma once

#include <cstdint>

#include "kernels/elements.hpp"

namespace gpumem {

constexpr int32_t kMaxMapRank = 8;
constexpr int32_t kMaxMapSources = 3;

enum class MapKind : int32_t { map, compare, where, convert_scaled };

// Strides are in elements. Sources: x and y; mask, x and y of where; src, scale and offset of convert_scaled. A scale or
// an offset that is nullptr changes nothing. A plan fuses axes and puts the shortest stride in z last.
struct MapParams {
  MapKind kind = MapKind::map;
  int32_t op = GPUMEM_MAP_ADD;         // gpumem_map_op or gpumem_compare_op
  gpumem_dtype dtype = GPUMEM_F32;     // of the operands; of src
  gpumem_dtype dst_type = GPUMEM_F32;  // of convert_scaled
  int64_t element_bytes = 4;           // of where
  int32_t rank = 0;
  bool has_extents = true;  // false: the caller's were NULL
  int32_t sources = 0;
  int64_t extents[kMaxMapRank] = {};
  const void* x[kMaxMapSources] = {};
  int64_t x_strides[kMaxMapSources][kMaxMapRank] = {};
  void* z = nullptr;
  int64_t z_strides[kMaxMapRank] = {};
  double nan_value = 0;             // of convert_scaled
  gpumem_status* status = nullptr;  // of the _async functions; may be nullptr

  constexpr int64_t elements() const noexcept {
    int64_t n = 1;
    for (int32_t d = 0; d < rank; ++d) n *= extents[d];
    return n;
  }
  constexpr int64_t source_bytes(int32_t k) const noexcept {
    if (kind == MapKind::where) return k == 0 ? 1 : element_bytes;
    return kind == MapKind::convert_scaled && k > 0 ? int64_t{sizeof(double)} : gpumem::element_bytes(dtype);
  }
  constexpr int64_t z_bytes() const noexcept {
    if (kind == MapKind::compare) return 1;
    if (kind == MapKind::where) return element_bytes;
    return gpumem::element_bytes(kind == MapKind::map ? dtype : dst_type);
  }
};

// Numbers of gpumem_map_op have a gap.
constexpr int32_t kMapOps = GPUMEM_MAP_SHIFT_RIGHT + 1;
constexpr bool is_map_op(int32_t op) noexcept {
  return (op >= GPUMEM_MAP_NEGATE && op <= GPUMEM_MAP_NOT) || (op >= GPUMEM_MAP_ADD && op < kMapOps);
}
constexpr bool takes_two(int32_t op) noexcept { return op >= GPUMEM_MAP_ADD; }
constexpr bool divides(int32_t op) noexcept { return op == GPUMEM_MAP_DIVIDE || op == GPUMEM_MAP_REMAINDER; }
constexpr bool map_needs_floating(int32_t op) noexcept {
  return op == GPUMEM_MAP_RECIPROCAL || op == GPUMEM_MAP_SQUARE_ROOT || op == GPUMEM_MAP_COPY_SIGN;
}
constexpr bool map_needs_integers(int32_t op) noexcept {
  return op == GPUMEM_MAP_NOT || op == GPUMEM_MAP_REMAINDER || op >= GPUMEM_MAP_AND;
}
constexpr bool map_takes(int32_t op, gpumem_dtype dtype) noexcept {
  return is_map_op(op) && !(is_floating(dtype) ? map_needs_integers(op) : map_needs_floating(op));
}

// x > y as y < x, so that the loops and kernels have four comparisons.
constexpr MapParams without_greater(MapParams p) noexcept {
  if (p.kind != MapKind::compare || p.op < GPUMEM_GREATER_EQUAL) return p;
  p.op = p.op == GPUMEM_GREATER ? GPUMEM_LESS : GPUMEM_LESS_EQUAL;
  const void* const x = p.x[0];
  p.x[0] = p.x[1];
  p.x[1] = x;
  for (int32_t d = 0; d < kMaxMapRank; ++d) {
    const int64_t stride = p.x_strides[0][d];
    p.x_strides[0][d] = p.x_strides[1][d];
    p.x_strides[1][d] = stride;
  }
  return p;
}

}  // namespace gpumem
