// Copies on a CUDA device: one launcher a variant, in the order of the table's CUDA rows.
#include "kernels/copy/copy.hpp"
#include "backend/cuda/cuda_backend.hpp"
#include "backend/cuda/driver_copy.hpp"
#include "backend/launchers.hpp"
#include "kernels/limits.hpp"

namespace gpumem {
namespace {

cudaStream_t native(NativeStream stream) noexcept { return static_cast<cudaStream_t>(stream); }

cudaError_t by_driver(const CopyArgs& args, kernels::Stream stream) { return copy_by_driver(args.block, stream); }

// The widest access at which every row begins, on both sides.
int64_t access_of(const CopyParams& b) noexcept {
  uint64_t bits = reinterpret_cast<uintptr_t>(b.dst) | reinterpret_cast<uintptr_t>(b.src);
  if (b.rows > 1) bits |= static_cast<uint64_t>(b.dst_pitch | b.src_pitch);
  if (b.slices > 1) bits |= static_cast<uint64_t>(b.dst_slice | b.src_slice);
  return widest_access(bits);
}

template <auto kLaunch>
cudaError_t by_kernel(const CopyArgs& args, kernels::Stream stream) {
  const CopyParams& b = args.block;
  const kernels::CopyLaunch launch{b.dst,       b.dst_pitch, b.dst_slice, b.src,           b.src_pitch, b.src_slice,
                                   b.row_bytes, b.rows,      b.slices,    args.shape.grid, access_of(b)};
  return kLaunch(launch, stream);
}

constexpr Launcher<cudaError_t (*)(const CopyArgs&, kernels::Stream)> kCopy[] = {
    {"rows", by_kernel<kernels::copy_rows>},
    {"vec16", by_kernel<kernels::copy_vec16>},
    {"driver", by_driver},
    {"vec4", by_kernel<kernels::copy_vec4>},
    {"vec2", by_kernel<kernels::copy_vec2>},
    {"scalar", by_kernel<kernels::copy_scalar>},
    {"bytes", by_kernel<kernels::copy_bytes>},
};

}  // namespace

void add_copy_launcher_names(LauncherNames& names) { add_names<CopyFamily>(names, kCopy); }

void CudaBackend::copy_block(NativeStream stream, const CopyArgs& args, Until until) {
  const DeviceScope scope = enter();
  const auto launcher = launch_of<CopyFamily>(kCopy, args.variant);
  require_open(stream);
  GPUMEM_CUDA(launcher(args, kernel_stream(stream)));
  finish(native(stream), until);
}

}  // namespace gpumem
