// The conversions' table. Every variant reads each element once and writes each once; they differ in the width of an access.
#include "kernels/alignment.hpp"
#include "select/variants.hpp"

namespace gpumem {
namespace {

const char* accepts_aligned(const DeviceProps&, const ConvertParams& p) noexcept {
  if (!aligned(p.src, element_bytes(p.src_type))) return "it needs src aligned to its elements";
  if (!aligned(p.dst, element_bytes(p.dst_type))) return "it needs dst aligned to its elements";
  return nullptr;
}

LaunchShape vec16_shape(const DeviceProps&, const ConvertParams& p) noexcept {
  const int32_t from = element_bytes(p.src_type);
  const int32_t to = element_bytes(p.dst_type);
  const bool to_halves = p.dst_type != p.src_type && (p.dst_type == GPUMEM_F16 || p.dst_type == GPUMEM_BF16);
  const int vectors = convert_vectors(from, to, to_halves);
  return grid_of(p.n, int64_t{kConvertThreads} * vectors * convert_vector(from, to), kConvertThreads, vectors);
}
LaunchShape element_shape(const DeviceProps&, const ConvertParams& p) noexcept {
  return grid_of(p.n, kConvertThreads, kConvertThreads);
}

LaunchShape host_shape(const DeviceProps& d, const ConvertParams& p) noexcept {
  const int64_t moved = element_bytes(p.src_type) + element_bytes(p.dst_type);
  return host_elements_shape(d, p.n, moved);
}

constexpr Variant<ConvertParams> kTable[] = {
    {"vec16", Runs::cuda, 3, accepts_aligned, vec16_shape},
    {"scalar", Runs::cuda, 1, accepts_aligned, element_shape, by_name},
    {"bytes", Runs::cuda, 2, accepts, element_shape},
    {"host_parallel", Runs::host, 1, accepts, host_shape},
    {"host_serial", Runs::host, 1, accepts, whole},
};

}  // namespace

std::span<const Variant<ConvertParams>> ConvertFamily::table() noexcept { return kTable; }

}  // namespace gpumem
