// Implementations of convert. Each reads and writes every element once. They differ in access width.
#include "backend/host/implementations.hpp"
#include "kernels/alignment.hpp"
#include "kernels/convert/convert.hpp"
#include "select/variants.hpp"

namespace gpumem {
namespace {

const char* accepts_aligned(const DeviceProps&, const ConvertParams& p) noexcept {
  if (!aligned(p.src, element_bytes(p.src_type))) return "it needs src aligned to its elements";
  if (!aligned(p.dst, element_bytes(p.dst_type))) return "it needs dst aligned to its elements";
  return nullptr;
}

Config vec16_config(const DeviceProps&, const ConvertParams& p) noexcept {
  const int32_t from = element_bytes(p.src_type);
  const int32_t to = element_bytes(p.dst_type);
  const bool to_halves = p.dst_type != p.src_type && (p.dst_type == GPUMEM_F16 || p.dst_type == GPUMEM_BF16);
  const int vectors = convert_vectors(from, to, to_halves);
  return grid_of(p.n, int64_t{kConvertThreads} * vectors * convert_vector(from, to), kConvertThreads, vectors);
}
Config element_config(const DeviceProps&, const ConvertParams& p) noexcept {
  return grid_of(p.n, kConvertThreads, kConvertThreads);
}

Config host_config(const DeviceProps& d, const ConvertParams& p) noexcept {
  const int64_t moved = element_bytes(p.src_type) + element_bytes(p.dst_type);
  return host_elements_config(d, p.n, moved);
}

constexpr Implementation<ConvertParams> kTable[] = {
    {"vec16", ExecutionSpace::cuda, 3, plan<accepts_aligned, vec16_config>, gpu<kernels::convert_vec16>},
    {"scalar", ExecutionSpace::cuda, 1, plan<accepts_aligned, element_config>, gpu<kernels::convert_scalar>, by_name},
    {"bytes", ExecutionSpace::cuda, 2, plan<accepts<ConvertParams>, element_config>, gpu<kernels::convert_bytes>},
    {"host_parallel", ExecutionSpace::host, 1, plan<accepts<ConvertParams>, host_config>, host::convert_parallel},
    {"host_serial", ExecutionSpace::host, 1, plan<accepts<ConvertParams>, whole<ConvertParams>>, host::convert_serial},
};

}  // namespace

std::span<const Implementation<ConvertParams>> ConvertFamily::table() noexcept { return kTable; }

}  // namespace gpumem
