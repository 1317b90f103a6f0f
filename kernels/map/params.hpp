// Parameters of elementwise functions, comparisons, selections and scaled conversions, over views of up to eight axes.
#pragma once

#include <cstdint>

#include "gpumem.h"

namespace gpumem {

constexpr int32_t kMaxMapRank = 8;
constexpr int32_t kMaxMapSources = 3;

enum class MapKind : int32_t { map, compare, where, convert_scaled };

// Strides are in elements. Sources: x and y; mask, x and y of where; src, scale and offset of convert_scaled.
struct MapParams {
  MapKind kind = MapKind::map;
  int32_t op = GPUMEM_MAP_ADD;         // gpumem_map_op or gpumem_compare_op
  gpumem_dtype dtype = GPUMEM_F32;     // of the operands; of src
  gpumem_dtype dst_type = GPUMEM_F32;  // of convert_scaled
  int64_t element_bytes = 4;           // of where
  int32_t rank = 0;
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
};

}  // namespace gpumem
