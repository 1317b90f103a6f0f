#include <algorithm>

#include "ops/placement.hpp"

namespace gpumem {
namespace {

// Page faults bring a range of this size in 30 us, and a prefetch has a cost of its own.
constexpr int64_t kLeastBytes = int64_t{256} << 10;
// The driver moves pages in blocks of up to 2 MiB. Checking a page takes half a microsecond.
constexpr int64_t kBlockBytes = int64_t{2} << 20;
constexpr int64_t kMostLooks = 8;

// Samples a few pages of the range for residence on the host.
bool on_host(const ManagedRange& range) noexcept {
  const int64_t looks = std::clamp<int64_t>(range.bytes / kBlockBytes, 1, kMostLooks);
  const auto* const p = static_cast<const char*>(range.p);
  for (int64_t i = 0; i < looks; ++i) {
    if (host_resident_bytes(p + (2 * i + 1) * (range.bytes / (2 * looks)), 1) != 0) return true;
  }
  return false;
}

bool worth_moving(Backend& device, const ManagedRange& range) {
  if (range.bytes < kLeastBytes) return false;
  const int32_t own = device.props().ordinal;
  const ManagedState state = device.managed_state(range.p, static_cast<size_t>(range.bytes));
  if (state.preferred_location != GPUMEM_DEVICE_NONE && state.preferred_location != own) return false;
  if (state.last_prefetch != own) return true;
  return !state.read_mostly && on_host(range);  // read-mostly pages may be on both sides
}

}  // namespace

void prefetch_managed(Context& context, const Placement& placement, NativeStream stream) {
  if (placement.managed_ranges == 0 || !context.on_cuda()) return;
  Backend& device = context.device();
  if (!device.props().concurrent_managed || device.capturing(stream)) return;
  for (int32_t i = 0; i < placement.managed_ranges; ++i) {
    const ManagedRange& range = placement.managed[i];
    if (!worth_moving(device, range)) continue;
    const auto bytes = static_cast<size_t>(range.bytes);
    if (range.overwritten) {
      device.prefetch_to_overwrite(stream, range.p, bytes);
    } else {
      device.prefetch(stream, range.p, bytes, device.props().ordinal);
    }
  }
}

}  // namespace gpumem
