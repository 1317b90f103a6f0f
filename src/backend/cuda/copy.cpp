// Copies on a CUDA device: one launcher a variant, in the order of the table's CUDA rows.
#include "kernels/copy/copy.hpp"
#include "backend/cuda/cuda_backend.hpp"

namespace gpumem {
namespace {

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
  CopyParams b = merged(block);
  if (b.slices > 1 && takes_slices(b)) return copy_slices(b, stream);
  cudaError_t error = cudaSuccess;
  for (int64_t slice = 0; slice < b.slices && error == cudaSuccess; ++slice) {
    error = kernels::copy_rows_by_driver(b, stream);
    b.dst += b.dst_slice;
    b.src += b.src_slice;
  }
  return error;
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
