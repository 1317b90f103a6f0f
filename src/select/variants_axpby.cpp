// The axpby table. Every variant reads each operand once and writes z once; they differ in the width of an access and in which
// thread makes it.
#include "kernels/alignment.hpp"
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

LaunchShape vec16_shape(const DeviceProps&, const AxpbyParams& p) noexcept {
  return grid_of(p.n, axpby_vec16_tile(p.dtype), kAxpbyThreads, kAxpbyWords);
}
LaunchShape element_shape(const DeviceProps&, const AxpbyParams& p) noexcept {
  return grid_of(p.n, kAxpbyThreads, kAxpbyThreads);
}
LaunchShape strided_shape(const DeviceProps&, const AxpbyParams& p) noexcept {
  return grid_of(p.n, int64_t{kAxpbyThreads} * kAxpbyRun, kAxpbyThreads, kAxpbyRun);
}

// An element is moved at most three times.
LaunchShape host_shape(const DeviceProps& d, const AxpbyParams& p) noexcept {
  const int64_t moved = int64_t{element_bytes(p.dtype)} * (1 + (p.x != nullptr ? 1 : 0) + (p.y != nullptr ? 1 : 0));
  return host_elements_shape(d, p.n, moved);
}

constexpr Variant<AxpbyParams> kTable[] = {
    {"vec16", Runs::cuda, 1, accepts_vec16, vec16_shape},
    {"vec16_store", Runs::cuda, 1, accepts_aligned, vec16_shape},
    {"coalesced", Runs::cuda, 1, accepts_aligned, element_shape, by_name},
    {"strided", Runs::cuda, 1, accepts_aligned, strided_shape, by_name},
    {"bytes", Runs::cuda, 1, accepts, element_shape},
    {"host_parallel", Runs::host, 1, accepts, host_shape},
    {"host_serial", Runs::host, 1, accepts, whole},
};

}  // namespace

std::span<const Variant<AxpbyParams>> AxpbyFamily::table() noexcept { return kTable; }

}  // namespace gpumem
