// Resizing on a CUDA device: one launcher a variant, in the order of the table's CUDA rows.
#include "kernels/resize/resize.hpp"
#include "backend/cuda/cuda_backend.hpp"
#include "base/error.hpp"

namespace gpumem {
namespace {

constexpr Launcher<kernels::ResizeLauncher*> kResize[] = {
    {"words", kernels::resize_words},
    {"global", kernels::resize_global},
    {"texture", nullptr},  // takes a texture
    {"bytes", kernels::resize_bytes},
};

}  // namespace

void add_resize_launcher_names(LauncherNames& names) { add_names(names, GPUMEM_FAMILY_RESIZE, kResize); }

void CudaBackend::resize(NativeStream stream, const ResizeParams& params, const Choice& choice, Until until) {
  const DeviceScope scope = enter();
  require_open(stream);
  if (auto* const launch = kResize[choice.launcher].launch; launch != nullptr) {
    GPUMEM_CUDA(launch(params, choice.shape, kernel_stream(stream)));
    return finish(native(stream), until);
  }
  if (capturing(stream)) {
    fail(GPUMEM_CAPTURING,
         "the variant texture of resize can't run on a stream that is being captured into a graph, which would outlive "
         "its texture; the capture is still valid");
  }
  textures_.use(kernels::resize_texture_resource(params), kernels::resize_texture_reading(params), native(stream),
                [&](cudaTextureObject_t texture) {
                  GPUMEM_CUDA(kernels::resize_texture(params, choice.shape, texture, kernel_stream(stream)));
                });
  finish(native(stream), until);
}

}  // namespace gpumem
