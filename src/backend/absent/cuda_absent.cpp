// Stands in for the CUDA backend in a host-only build: says so to whoever asks.
#include "backend/backend.hpp"
#include "backend/launchers.hpp"
#include "base/error.hpp"

namespace gpumem {
namespace {

constexpr const char* kReason = "this build of the library has no CUDA backend";

}  // namespace

CudaDevices cuda_devices() { return {GPUMEM_NOT_BUILT, 0, 0, kReason}; }
DeviceProps cuda_props(int32_t) { fail(GPUMEM_NOT_BUILT, "%s", kReason); }
std::unique_ptr<Backend> make_cuda_backend(int32_t, bool) { fail(GPUMEM_NOT_BUILT, "%s", kReason); }
LauncherNames cuda_launcher_names() { return {}; }

}  // namespace gpumem
