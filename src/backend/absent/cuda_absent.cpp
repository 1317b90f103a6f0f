// Replaces the CUDA backend in a host-only build. Every call reports that CUDA was not built.
#include "backend/backend.hpp"
#include "backend/link.hpp"
#include "base/error.hpp"

namespace gpumem {
namespace {

constexpr const char* kReason = "this build of the library has no CUDA backend";

}  // namespace

CudaDevices cuda_devices() { return {GPUMEM_NOT_BUILT, 0, 0, kReason}; }
DeviceProps cuda_props(int32_t) { fail(GPUMEM_NOT_BUILT, "%s", kReason); }
std::unique_ptr<Backend> make_cuda_backend(int32_t, bool) { fail(GPUMEM_NOT_BUILT, "%s", kReason); }
std::string why_no_link() { return kReason; }
std::string bus_id(int32_t) { fail(GPUMEM_NOT_BUILT, "%s", kReason); }
LinkId make_link_id() { fail(GPUMEM_NOT_BUILT, "%s", kReason); }
std::unique_ptr<Link> begin_link(const LinkId&, const std::vector<int32_t>&, int32_t, int32_t) {
  fail(GPUMEM_NOT_BUILT, "%s", kReason);
}

}  // namespace gpumem
