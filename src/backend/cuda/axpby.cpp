// z = alpha x + beta y on a CUDA device.
#include "kernels/axpby/axpby.hpp"
#include "backend/cuda/cuda_backend.hpp"
#include "backend/launchers.hpp"

namespace gpumem {
namespace {

// The one kernel of words reads each operand in the widest way that it allows.
constexpr Launcher<decltype(&kernels::axpby_vec16)> kAxpby[] = {
    {"vec16", kernels::axpby_vec16},     {"vec16_store", kernels::axpby_vec16}, {"coalesced", kernels::axpby_coalesced},
    {"strided", kernels::axpby_strided}, {"bytes", kernels::axpby_bytes},
};

}  // namespace

void add_axpby_launcher_names(LauncherNames& names) { add_names<AxpbyFamily>(names, kAxpby); }

void CudaBackend::axpby(NativeStream stream, const AxpbyArgs& args, Until until) {
  const DeviceScope scope = enter();
  const auto launcher = launch_of<AxpbyFamily>(kAxpby, args.variant);
  require_open(stream);
  const kernels::AxpbyLaunch launch{args.dtype, args.alpha, args.x, args.beta, args.y, args.z, args.n, args.shape.grid};
  const kernels::Stream on = kernel_stream(stream);
  GPUMEM_CUDA(launcher(launch, on));
  finish(on, until);
}

}  // namespace gpumem
