// Copies on a CUDA device: one launcher a variant, in the order of the table's CUDA rows.
#include "kernels/copy/copy.hpp"
#include "backend/cuda/cuda_backend.hpp"

namespace gpumem {
namespace {

// The driver takes no pitch above this.
constexpr int64_t kMaxPitch = 0x7fffffff;

cudaError_t copy_range(char* dst, const char* src, int64_t bytes, cudaStream_t stream) {
  return cudaMemcpyAsync(dst, src, static_cast<size_t>(bytes), cudaMemcpyDefault, stream);
}

// One slice.
cudaError_t copy_slice(const CopyParams& b, int64_t slice, cudaStream_t stream) {
  char* dst = b.dst + slice * b.dst_slice;
  const char* src = b.src + slice * b.src_slice;
  if (b.rows == 1) return copy_range(dst, src, b.row_bytes, stream);
  if (!b.row_by_row && b.dst_pitch <= kMaxPitch && b.src_pitch <= kMaxPitch) {
    return cudaMemcpy2DAsync(dst, static_cast<size_t>(b.dst_pitch), src, static_cast<size_t>(b.src_pitch),
                             static_cast<size_t>(b.row_bytes), static_cast<size_t>(b.rows), cudaMemcpyDefault, stream);
  }
  for (int64_t row = 0; row < b.rows; ++row) {
    const cudaError_t error = copy_range(dst + row * b.dst_pitch, src + row * b.src_pitch, b.row_bytes, stream);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

// Slices of whole rows, as the driver wants them.
bool takes_slices(const CopyParams& b) noexcept {
  return !b.row_by_row && b.dst_pitch <= kMaxPitch && b.src_pitch <= kMaxPitch && b.dst_slice % b.dst_pitch == 0 &&
         b.src_slice % b.src_pitch == 0;
}

cudaPitchedPtr pitched(const char* p, int64_t pitch, int64_t slice, int64_t row_bytes) noexcept {
  return {const_cast<char*>(p), static_cast<size_t>(pitch), static_cast<size_t>(row_bytes),
          static_cast<size_t>(slice / pitch)};
}

cudaError_t copy_slices(const CopyParams& b, cudaStream_t stream) {
  cudaMemcpy3DParms parms{};
  parms.dstPtr = pitched(b.dst, b.dst_pitch, b.dst_slice, b.row_bytes);
  parms.srcPtr = pitched(b.src, b.src_pitch, b.src_slice, b.row_bytes);
  parms.extent = {static_cast<size_t>(b.row_bytes), static_cast<size_t>(b.rows), static_cast<size_t>(b.slices)};
  parms.kind = cudaMemcpyDefault;
  return cudaMemcpy3DAsync(&parms, stream);
}

// Copies of rows that the driver makes, between any two addresses it knows; in as few calls as its own rules for pitches allow.
cudaError_t by_driver(const CopyParams& block, const LaunchShape&, kernels::Stream stream) {
  const CopyParams b = merged(block);
  if (b.slices > 1 && takes_slices(b)) return copy_slices(b, stream);
  for (int64_t slice = 0; slice < b.slices; ++slice) {
    const cudaError_t error = copy_slice(b, slice, stream);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

constexpr CudaLauncher<CopyParams> kCopy[] = {
    {"vec16", kernels::copy_vec16},
    {"driver", by_driver},
    {"rings", nullptr},  // of host threads and the driver's copies: src/ops/copy/ring_copy.cpp
    {"vec4", kernels::copy_vec4},
    {"vec2", kernels::copy_vec2},
    {"scalar", kernels::copy_scalar},
    {"realigned", kernels::copy_realigned},
};

}  // namespace

CudaLaunchers<CopyParams> CopyFamily::on_cuda() noexcept { return {kCopy, kernels::copy_preload}; }

}  // namespace gpumem
