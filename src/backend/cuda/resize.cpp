// Resizing on a CUDA device: one launcher a variant, in the order of the table's CUDA rows.
#include "kernels/resize/resize.hpp"
#include "backend/cuda/cuda_backend.hpp"
#include "base/error.hpp"

namespace gpumem {
namespace {

cudaStream_t native(NativeStream stream) noexcept { return static_cast<cudaStream_t>(stream); }

constexpr Launcher<decltype(&kernels::resize_global)> kResize[] = {
    {"words", kernels::resize_words},
    {"global", kernels::resize_global},
    {"texture", kernels::resize_texture},
    {"bytes", kernels::resize_bytes},
};

}  // namespace

void add_resize_launcher_names(LauncherNames& names) { add_names<ResizeFamily>(names, kResize); }

void CudaBackend::resize(NativeStream stream, const ResizeArgs& a, Until until) {
  const DeviceScope scope = enter();
  const auto launcher = launch_of<ResizeFamily>(kResize, a.variant);
  require_open(stream);
  kernels::ResizeLaunch launch{a.filter,
                               a.dtype,
                               a.channels,
                               a.src,
                               a.src_pitch,
                               a.dst,
                               a.dst_pitch,
                               resize_axis(a.src_rows, a.dst_rows),
                               resize_axis(a.src_cols, a.dst_cols),
                               a.shape.tile,
                               a.shape.grid,
                               0};
  if (launcher != kernels::resize_texture) {
    GPUMEM_CUDA(launcher(launch, kernel_stream(stream)));
    return finish(native(stream), until);
  }
  if (capturing(stream)) {
    fail(GPUMEM_CAPTURING,
         "the variant texture of resize can't run on a stream that is being captured into a graph, which would outlive "
         "its texture; the capture is still valid");
  }
  textures_.use(kernels::resize_texture_resource(launch), kernels::resize_texture_reading(launch), native(stream),
                [&](cudaTextureObject_t texture) {
                  launch.texture = texture;
                  GPUMEM_CUDA(launcher(launch, kernel_stream(stream)));
                });
  finish(native(stream), until);
}

}  // namespace gpumem
