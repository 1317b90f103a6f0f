// Transposes of batches of small matrices with padding in dst.
// Moves: 2 * batches * rows * cols * element bytes.
// Access: a thread moves the same element of several neighbouring matrices in the order of dst, one element per access.
//         It computes the place in a matrix once. A warp writes contiguous elements together, and its reads of a matrix
//         stay in the L1 cache.
// H200, 3 x 3 to 32 x 32, compared with PyTorch's copy of the view: elements of 1 to 4 bytes are 1.0 to 1.5 times as
//         fast. Elements of 8 and 16 bytes are 0.92 to 1.3 times as fast. With 16-byte words (chunks.cu) it was 0.16 to
//         0.9 and 0.38 to 0.98.
#include "kernels/transpose/tiles.cuh"

namespace gpumem::kernels {
namespace {

constexpr int kEach = kBatchedScalarMatrices;

template <int kBytes>
__global__ void __launch_bounds__(kBatchedScalarElements)
    batched_scalar_kernel(const TransposeParams params, const Divisor<uint32_t> of_matrix,
                          const Divisor<uint32_t> of_column, int matrices) {
  synchronize_and_trigger();
  using T = WordOf<kBytes>;
  const uint32_t matrix = of_matrix.quotient(threadIdx.x);
  const uint32_t element = threadIdx.x - matrix * of_matrix.value;
  const uint32_t col = of_column.quotient(element);
  const uint32_t row = element - col * of_column.value;
  const int64_t first = int64_t{blockIdx.x} * kEach * matrices + matrix;
  const auto* src = static_cast<const T*>(params.src) + first * params.src_batch_stride + row * params.src_ld + col;
  auto* dst = static_cast<T*>(params.dst) + first * params.dst_batch_stride + col * params.dst_ld + row;
  const int64_t left = params.batches - first;
  T moved[kEach];
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    if (i * matrices < left) moved[i] = src[i * matrices * params.src_batch_stride];
  }
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    if (i * matrices < left) dst[i * matrices * params.dst_batch_stride] = moved[i];
  }
}

}  // namespace

LaunchResult transpose_batched_scalar(const TransposeParams& params, const Config& config, const Launch& launch) {
  const auto elements = static_cast<uint32_t>(params.rows * params.cols);
  return for_size(params.element_bytes, [&]<int kBytes>() {
    return enqueue_programmatic(batched_scalar_kernel<kBytes>, static_cast<unsigned>(config.grid), config.block, launch,
                                params, Divisor<uint32_t>(elements),
                                Divisor<uint32_t>(static_cast<uint32_t>(params.rows)),
                                static_cast<int>(static_cast<uint32_t>(config.block) / elements));
  });
}

}  // namespace gpumem::kernels
