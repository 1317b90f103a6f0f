// Resizing on a CUDA device: one launcher a variant, in the order of the table's CUDA rows.
#include "kernels/resize/resize.hpp"
#include "backend/cuda/cuda_backend.hpp"
#include "base/error.hpp"

namespace gpumem {
namespace {

constexpr CudaLauncher<ResizeParams> kResize[] = {
    {"words", kernels::resize_words},
    {"global", kernels::resize_global},
    {"texture", nullptr},  // takes a texture
    {"bytes", kernels::resize_bytes},
};

}  // namespace

CudaLaunchers<ResizeParams> ResizeFamily::on_cuda() noexcept { return {kResize, kernels::resize_preload}; }

void CudaBackend::launch_other(const ResizeParams& params, const Choice& choice, const kernels::Stream& on) {
  if (capturing(on.native)) {
    fail(GPUMEM_CAPTURING,
         "the variant texture of resize can't run on a stream that is being captured into a graph, which would outlive "
         "its texture; the capture is still valid");
  }
  textures_.use(
      kernels::resize_texture_resource(params), kernels::resize_texture_reading(params), on.native,
      [&](cudaTextureObject_t texture) { GPUMEM_CUDA(kernels::resize_texture(params, choice.shape, texture, on)); });
}

}  // namespace gpumem
