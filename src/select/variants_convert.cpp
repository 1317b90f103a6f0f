// The conversions' table. Every variant reads each element once and writes each once; they differ in the width of an access.
#include <algorithm>

#include "base/checked.hpp"
#include "kernels/alignment.hpp"
#include "kernels/limits.hpp"
#include "select/variants.hpp"

namespace gpumem {
namespace {

const char* accepts_aligned(const DeviceProps&, const ConvertParams& p) noexcept {
  if (misalignment(p.src) % element_bytes(p.src_type) != 0) return "it needs src aligned to its elements";
  if (misalignment(p.dst) % element_bytes(p.dst_type) != 0) return "it needs dst aligned to its elements";
  return nullptr;
}

LaunchShape blocks_of(int64_t n, int64_t tile, int32_t per_thread) noexcept {
  return {std::clamp<int64_t>(ceil_div(n, tile), 1, kMaxGrid), kConvertThreads, per_thread, tile};
}

LaunchShape vec16_shape(const DeviceProps&, const ConvertParams& p) noexcept {
  const int32_t from = element_bytes(p.src_type);
  const int32_t to = element_bytes(p.dst_type);
  const bool to_halves = p.dst_type != p.src_type && (p.dst_type == GPUMEM_F16 || p.dst_type == GPUMEM_BF16);
  const int vectors = convert_vectors(from, to, to_halves);
  return blocks_of(p.n, int64_t{kConvertThreads} * vectors * convert_vector(from, to), vectors);
}
LaunchShape element_shape(const DeviceProps&, const ConvertParams& p) noexcept {
  return blocks_of(p.n, kConvertThreads, 1);
}

// Pieces of whole cache lines.
LaunchShape host_shape(const DeviceProps& d, const ConvertParams& p) noexcept {
  const int64_t moved = element_bytes(p.src_type) + element_bytes(p.dst_type);
  return host_elements_shape(d, p.n, moved);
}
LaunchShape serial_shape(const DeviceProps&, const ConvertParams& p) noexcept { return {1, 1, 1, p.n}; }

constexpr Variant<ConvertParams> kTable[] = {
    {"vec16", Runs::cuda, 2, accepts_aligned, vec16_shape},
    {"scalar", Runs::cuda, 1, accepts_aligned, element_shape, by_name},
    {"bytes", Runs::cuda, 2, accepts, element_shape},
    {"host_parallel", Runs::host, 1, accepts, host_shape},
    {"host_serial", Runs::host, 1, accepts, serial_shape},
};

}  // namespace

std::span<const Variant<ConvertParams>> ConvertFamily::table() noexcept { return kTable; }

}  // namespace gpumem
