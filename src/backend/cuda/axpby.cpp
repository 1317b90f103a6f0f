// z = alpha x + beta y on a CUDA device.
#include "kernels/axpby/axpby.hpp"
#include "backend/cuda/cuda_backend.hpp"
#include "backend/launchers.hpp"

namespace gpumem {
namespace {

// The one kernel of words reads each operand in the widest way that it allows.
constexpr Launcher<kernels::AxpbyLauncher*> kAxpby[] = {
    {"vec16", kernels::axpby_vec16},     {"vec16_store", kernels::axpby_vec16}, {"coalesced", kernels::axpby_coalesced},
    {"strided", kernels::axpby_strided}, {"bytes", kernels::axpby_bytes},
};

}  // namespace

void add_axpby_launcher_names(LauncherNames& names) { add_names(names, GPUMEM_FAMILY_AXPBY, kAxpby); }

void CudaBackend::axpby(NativeStream stream, const AxpbyParams& params, const Choice& choice, Until until) {
  const DeviceScope scope = enter();
  require_open(stream);
  const kernels::Stream on = kernel_stream(stream);
  GPUMEM_CUDA(kAxpby[choice.launcher].launch(params, choice.shape, on));
  finish(on, until);
}

}  // namespace gpumem
