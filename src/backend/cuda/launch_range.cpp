#include "backend/cuda/launch_range.hpp"

#include <sys/auxv.h>

#include <atomic>

#include "backend/cuda/nvtx_domain.hpp"

#ifdef GPUMEM_HAS_NVTX

namespace gpumem {
namespace {

std::atomic<nvtxDomainHandle_t> g_domain{nullptr};  // nullptr: no tool

}  // namespace

void open_ranges() {
  static const bool opened = [] {
    if (::getauxval(AT_SECURE) != 0) return false;
    const nvtxDomainHandle_t domain = nvtx_domain();
    if (domain == nullptr) return false;
    Families::for_each(
        [domain]<class Family>() { nvtxDomainNameCategoryA(domain, static_cast<uint32_t>(Family::id), Family::name); });
    g_domain.store(domain, std::memory_order_release);
    return true;
  }();
  static_cast<void>(opened);
}

LaunchRange::LaunchRange(gpumem_family family, const char* variant, NativeStream stream) noexcept : watched_(stream) {
  const nvtxDomainHandle_t domain = g_domain.load(std::memory_order_acquire);
  if (domain == nullptr) return;
  nvtxEventAttributes_t range{};
  range.version = NVTX_VERSION;
  range.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  range.category = static_cast<uint32_t>(family);
  range.messageType = NVTX_MESSAGE_TYPE_ASCII;
  range.message.ascii = variant;
  nvtxDomainRangePushEx(domain, &range);
}

LaunchRange::~LaunchRange() {
  const nvtxDomainHandle_t domain = g_domain.load(std::memory_order_acquire);
  if (domain != nullptr) nvtxDomainRangePop(domain);
}

}  // namespace gpumem

#else

namespace gpumem {

void open_ranges() {}
LaunchRange::LaunchRange(gpumem_family, const char*, NativeStream stream) noexcept : watched_(stream) {}
LaunchRange::~LaunchRange() = default;

}  // namespace gpumem
#endif
