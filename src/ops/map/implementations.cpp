// Implementations of elementwise functions. Each reads every source once and writes z once.
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

Config config_of(const MapParams& p, int vector) noexcept {
  const MapRows rows = map_rows(p, vector);
  const int items = map_items(vector);
  Config config = grid_of(rows.rows * rows.items, int64_t{kMapThreads} * items, kMapThreads, items);
  config.tile *= vector;
  return config;
}
Config vectors_config(const DeviceProps&, const MapParams& p) noexcept { return config_of(p, map_vector(p)); }
Config elements_config(const DeviceProps&, const MapParams& p) noexcept { return config_of(p, 1); }

Config host_config(const DeviceProps& d, const MapParams& p) noexcept {
  int64_t moved = p.z_bytes();
  for (int32_t k = 0; k < p.sources; ++k) moved += p.source_bytes(k);
  return host_elements_config(d, p.elements(), moved);
}

constexpr Implementation<MapParams> kTable[] = {
    {"vectors", ExecutionSpace::cuda, 1, plan<accepts_vectors, vectors_config>, gpu<kernels::map_vectors>},
    {"elements", ExecutionSpace::cuda, 1, plan<accepts<MapParams>, elements_config>, gpu<kernels::map_elements>},
    {"host_parallel", ExecutionSpace::host, 1, plan<accepts<MapParams>, host_config>, host::map_parallel},
    {"host_serial", ExecutionSpace::host, 1, plan<accepts<MapParams>, whole<MapParams>>, host::map_serial},
};

}  // namespace

std::span<const Implementation<MapParams>> MapFamily::table() noexcept { return kTable; }

}  // namespace gpumem
