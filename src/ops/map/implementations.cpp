// Implementations of elementwise functions. Each reads every source once and writes z once.
#include <algorithm>

#include "backend/host/implementations.hpp"
#include "kernels/alignment.hpp"
#include "kernels/map/limits.hpp"
#include "kernels/map/map.hpp"
#include "select/variants.hpp"

namespace gpumem {
namespace {

const char* accepts_vectors(const DeviceProps&, const MapParams& p) noexcept {
  const int64_t vector = map_vector(p);
  if (vector == 1) return "it needs elements of at most 8 bytes";
  if (p.z_strides[p.rank - 1] != 1) return "it needs an axis of z without gaps";
  if (p.extents[p.rank - 1] < 2 * vector) return "it needs rows of at least two vectors";
  bool fits = aligned(p.z, p.z_bytes());
  for (int32_t k = 0; k < p.sources; ++k) fits = fits && aligned(p.x[k], p.source_bytes(k));
  return fits ? nullptr : "it needs operands aligned to their elements";
}

const char* accepts_table(const DeviceProps& d, const MapParams& p) noexcept {
  const MapTable table = map_table(p);
  if (table.channels == 0) {
    return "it needs a scaled conversion of 1-byte elements to at most 4 bytes, with at most 4 different scales and "
           "offsets along one axis";
  }
  if (p.elements() > kMostMapItems) return "it needs at most 2^30 elements";
  return accepts_vectors(d, table.p);
}

// A table takes as long as the conversion of some million elements: H200, u8 to f16, 2^21 elements 3.9 us instead of 4.0,
// 2^28 238 instead of 355. To f32 it gains nothing but for interleaved channels, which other kernels take one by one.
const char* deprioritized_for_vectors(const DeviceProps&, const MapParams& p) noexcept {
  const MapTable table = map_table(p);
  const bool gathers = table.p.x_strides[0][table.p.rank - 1] != 1;
  const bool worth = p.z_bytes() <= 2 && p.elements() >= int64_t{gathers ? 2 : 1} << 21;
  return table.interleaved || worth ? nullptr : "a table takes longer than the conversion";
}

Config config_of(const MapParams& p, int vector, int items) noexcept {
  const MapRows rows = map_rows(p, vector);
  Config config = grid_of(rows.rows * rows.items, int64_t{kMapThreads} * items, kMapThreads, items);
  config.tile *= vector;
  return config;
}
Config vectors_config(const DeviceProps&, const MapParams& p) noexcept {
  return config_of(p, map_vector(p), map_items(map_vector(p)));
}
Config table_config(const DeviceProps& d, const MapParams& p) noexcept {
  Config config = config_of(map_table(p).p, table_vector(p.z_bytes()), 1);
  config.grid = std::min(config.grid, int64_t{kTableBlocks} * d.multiprocessors);
  return config;
}
Config elements_config(const DeviceProps&, const MapParams& p) noexcept { return config_of(p, 1, map_items(1)); }

Config host_config(const DeviceProps& d, const MapParams& p) noexcept {
  int64_t moved = p.z_bytes();
  for (int32_t k = 0; k < p.sources; ++k) moved += p.source_bytes(k);
  return host_elements_config(d, p.elements(), moved);
}

constexpr Implementation<MapParams> kTable[] = {
    {"table", ExecutionSpace::cuda, 1, plan<accepts_table, table_config>, gpu<kernels::map_table_lookup>,
     deprioritized_for_vectors},
    {"vectors", ExecutionSpace::cuda, 1, plan<accepts_vectors, vectors_config>, gpu<kernels::map_vectors>},
    {"elements", ExecutionSpace::cuda, 1, plan<accepts<MapParams>, elements_config>, gpu<kernels::map_elements>},
    {"host_parallel", ExecutionSpace::host, 1, plan<accepts<MapParams>, host_config>, host::map_parallel},
    {"host_serial", ExecutionSpace::host, 1, plan<accepts<MapParams>, whole<MapParams>>, host::map_serial},
};

}  // namespace

std::span<const Implementation<MapParams>> MapFamily::table() noexcept { return kTable; }

}  // namespace gpumem
