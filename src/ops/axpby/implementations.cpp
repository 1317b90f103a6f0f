// Implementations of axpby. They differ in the width of an access and in the thread that makes it.
#include "backend/host/implementations.hpp"
#include "kernels/alignment.hpp"
#include "kernels/axpby/axpby.hpp"
#include "kernels/elements.hpp"
#include "select/variants.hpp"

namespace gpumem {
namespace {

const char* accepts_aligned(const DeviceProps&, const AxpbyParams& p) noexcept {
  const int32_t element = element_bytes(p.dtype);
  if (!aligned(p.x, element)) return "it needs x aligned to its elements";
  if (!aligned(p.y, element)) return "it needs y aligned to its elements";
  if (!aligned(p.z, element)) return "it needs z aligned to its elements";
  return nullptr;
}

const char* accepts_vec16(const DeviceProps& d, const AxpbyParams& p) noexcept {
  if (const char* reason = accepts_aligned(d, p)) return reason;
  if (p.x != nullptr && misalignment(p.x) != misalignment(p.z)) return "it needs x as far from a 16-byte boundary as z";
  if (p.y != nullptr && misalignment(p.y) != misalignment(p.z)) return "it needs y as far from a 16-byte boundary as z";
  return nullptr;
}

Config vec16_config(const DeviceProps&, const AxpbyParams& p) noexcept {
  return grid_of(p.n, axpby_vec16_tile(p.dtype), kAxpbyThreads, kAxpbyWords);
}
Config element_config(const DeviceProps&, const AxpbyParams& p) noexcept {
  return grid_of(p.n, kAxpbyThreads, kAxpbyThreads);
}
Config strided_config(const DeviceProps&, const AxpbyParams& p) noexcept {
  return grid_of(p.n, int64_t{kAxpbyThreads} * kAxpbyRun, kAxpbyThreads, kAxpbyRun);
}

Config host_config(const DeviceProps& d, const AxpbyParams& p) noexcept {
  const int64_t moved = int64_t{element_bytes(p.dtype)} * (1 + (p.x != nullptr ? 1 : 0) + (p.y != nullptr ? 1 : 0));
  return host_elements_config(d, p.n, moved);
}

constexpr Implementation<AxpbyParams> kTable[] = {
    {"vec16", ExecutionSpace::cuda, 1, plan<accepts_vec16, vec16_config>, gpu<kernels::axpby_vec16>},
    {"vec16_store", ExecutionSpace::cuda, 1, plan<accepts_aligned, vec16_config>, gpu<kernels::axpby_vec16_store>},
    {"coalesced", ExecutionSpace::cuda, 1, plan<accepts_aligned, element_config>, gpu<kernels::axpby_coalesced>,
     by_name},
    {"strided", ExecutionSpace::cuda, 1, plan<accepts_aligned, strided_config>, gpu<kernels::axpby_strided>, by_name},
    {"bytes", ExecutionSpace::cuda, 1, plan<accepts<AxpbyParams>, element_config>, gpu<kernels::axpby_bytes>},
    {"host_parallel", ExecutionSpace::host, 1, plan<accepts<AxpbyParams>, host_config>, host::axpby_parallel},
    {"host_serial", ExecutionSpace::host, 1, plan<accepts<AxpbyParams>, whole<AxpbyParams>>, host::axpby_serial},
};

}  // namespace

std::span<const Implementation<AxpbyParams>> AxpbyFamily::table() noexcept { return kTable; }

}  // namespace gpumem
