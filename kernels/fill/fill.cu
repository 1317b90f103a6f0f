// Fills: write only, `bytes` bytes. bytes: one a thread, the plain form. vec16: 16 a thread. The ragged ends before the first 16-byte boundary and after the last are
// written by the first block, a byte a thread; between them the pattern is the same word, rotated by the length of the head.
#include <cstring>

#include "kernels/enqueue.cuh"
#include "kernels/fill/fill.hpp"
#include "kernels/fill/limits.hpp"
#include "kernels/words.cuh"

namespace gpumem::kernels {
namespace {

constexpr int kThreads = kFillThreads;

// Read by a run-time index: __grid_constant__ leaves it in constant memory, where a copy on the stack would cost every thread.
struct Ends {
  unsigned char word[16];
};

__global__ void __launch_bounds__(kThreads) vec16_kernel(unsigned char* dst, int64_t bytes, int64_t head, int64_t words,
                                                         uint4 rotated, const __grid_constant__ Ends ends) {
  after_earlier_work();
  const int64_t step = int64_t{gridDim.x} * kThreads;
  auto* body = reinterpret_cast<uint4*>(dst + head);
  for (int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x; i < words; i += step) body[i] = rotated;
  if (blockIdx.x != 0) return;
  const int64_t tail = head + words * 16 + threadIdx.x;
  if (threadIdx.x < head) dst[threadIdx.x] = ends.word[threadIdx.x];
  if (tail < bytes) dst[tail] = ends.word[tail % 16];
}

__global__ void __launch_bounds__(kThreads)
    bytes_kernel(unsigned char* dst, int64_t bytes, const __grid_constant__ Ends ends) {
  const int64_t step = int64_t{gridDim.x} * kThreads;
  for (int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x; i < bytes; i += step) dst[i] = ends.word[i % 16];
}

}  // namespace

cudaError_t fill_bytes(const FillParams& params, const LaunchShape& shape, Stream stream) {
  Ends ends;
  std::memcpy(ends.word, params.word, 16);
  return enqueue(bytes_kernel, static_cast<unsigned>(shape.grid), kThreads, stream,
                 static_cast<unsigned char*>(params.dst), params.row_bytes(), ends);
}

cudaError_t fill_vec16(const FillParams& params, const LaunchShape& shape, Stream stream) {
  const auto misalignment = static_cast<int64_t>(reinterpret_cast<uintptr_t>(params.dst) % 16);
  const int64_t to_boundary = (16 - misalignment) % 16;
  const int64_t head = to_boundary < params.row_bytes() ? to_boundary : params.row_bytes();
  const int64_t words = (params.row_bytes() - head) / 16;
  unsigned char rotated[16];
  Ends ends;
  for (int i = 0; i < 16; ++i) rotated[i] = params.word[(i + head) % 16];
  std::memcpy(ends.word, params.word, 16);
  uint4 word;
  std::memcpy(&word, rotated, 16);
  return enqueue_early(vec16_kernel, static_cast<unsigned>(shape.grid), kThreads, stream,
                       static_cast<unsigned char*>(params.dst), params.row_bytes(), head, words, word, ends);
}

cudaError_t fill_preload() { return preload(vec16_kernel); }

}  // namespace gpumem::kernels
