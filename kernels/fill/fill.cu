// Fills.
// Moves: writes rows * bytes, reads nothing.
// Access: memset: the driver's own, for patterns of one byte.
//         vec16: 16 bytes per thread of one row. The first block writes the ends by bytes. Words between them are the
//           same: the pattern rotated by the length of the head.
//         rows: any rows with padding. A thread writes one word of the widest access that all rows are aligned for. The
//           last thread of a row writes the rest in halves of that access.
#include <algorithm>
#include <cstring>

#include "kernels/alignment.hpp"
#include "kernels/enqueue.cuh"
#include "kernels/fill/fill.hpp"
#include "kernels/limits.hpp"
#include "kernels/words.cuh"

namespace gpumem::kernels {
namespace {

constexpr int kThreads = kFillThreads;

// Indexed at run time. __grid_constant__ keeps it in constant memory instead of on each thread's stack.
struct Pattern {
  alignas(16) unsigned char bytes[16];

  explicit Pattern(const FillParams& params) noexcept { std::memcpy(bytes, params.word, sizeof bytes); }
};

__global__ void __launch_bounds__(kThreads) vec16_kernel(unsigned char* dst, int64_t bytes, int64_t head, int64_t words,
                                                         uint4 rotated, const __grid_constant__ Pattern pattern) {
  synchronize_and_trigger();
  const int64_t step = int64_t{gridDim.x} * kThreads;
  auto* body = reinterpret_cast<uint4*>(dst + head);
  for (int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x; i < words; i += step) body[i] = rotated;
  if (blockIdx.x != 0) return;
  const int64_t tail = head + words * 16 + threadIdx.x;
  if (threadIdx.x < head) dst[threadIdx.x] = pattern.bytes[threadIdx.x];
  if (tail < bytes) dst[tail] = pattern.bytes[tail % 16];
}

template <int kBytes>
__device__ void write_word(unsigned char* row, int64_t at, const Pattern& pattern) {
  using Word = WordOf<kBytes>;
  *reinterpret_cast<Word*>(row + at) = *reinterpret_cast<const Word*>(&pattern.bytes[at % 16]);
}

// rest < 2 * kBytes
template <int kBytes>
__device__ void write_rest(unsigned char* row, int64_t at, int rest, const Pattern& pattern) {
  if (rest & kBytes) {
    write_word<kBytes>(row, at, pattern);
    at += kBytes;
  }
  if constexpr (kBytes > 1) write_rest<kBytes / 2>(row, at, rest, pattern);
}

template <int kAccess>
__global__ void __launch_bounds__(kThreads) rows_kernel(unsigned char* dst, int64_t bytes, int64_t rows, int64_t pitch,
                                                        const __grid_constant__ Pattern pattern) {
  const int64_t words_a_row = ceil_div(bytes, kAccess);
  const int64_t words = words_a_row * rows;
  const int64_t step = int64_t{gridDim.x} * kThreads;
  for (int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x; i < words; i += step) {
    int64_t row = 0;
    if (i >= words_a_row) {  // a 32-bit division is several times shorter
      row = i <= UINT32_MAX ? static_cast<uint32_t>(i) / static_cast<uint32_t>(words_a_row) : i / words_a_row;
    }
    const int64_t at = (i - row * words_a_row) * kAccess;
    unsigned char* here = dst + row * pitch;
    if (at + kAccess <= bytes) {
      write_word<kAccess>(here, at, pattern);
    } else if constexpr (kAccess > 1) {
      write_rest<kAccess / 2>(here, at, static_cast<int>(bytes - at), pattern);
    }
  }
}

}  // namespace

LaunchResult fill_by_memset(const FillParams& params, const Config&, const Launch& launch) {
  const auto bytes = static_cast<size_t>(params.row_bytes());
  if (params.rows > 1 && params.pitch <= kMaxPitch) {
    return cudaMemset2DAsync(params.dst, static_cast<size_t>(params.pitch), params.word[0], bytes,
                             static_cast<size_t>(params.rows), launch);
  }
  for (int64_t row = 0; row < params.rows; ++row) {
    auto* dst = static_cast<unsigned char*>(params.dst) + row * params.pitch;
    const cudaError_t error = cudaMemsetAsync(dst, params.word[0], bytes, launch);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

LaunchResult fill_vec16(const FillParams& params, const Config& config, const Launch& launch) {
  const int64_t head = std::min(to_boundary(params.dst, 16), params.row_bytes());
  const int64_t words = (params.row_bytes() - head) / 16;
  unsigned char rotated[16];
  for (int i = 0; i < 16; ++i) rotated[i] = params.word[(i + head) % 16];
  uint4 word;
  std::memcpy(&word, rotated, 16);
  return enqueue_programmatic(vec16_kernel, static_cast<unsigned>(config.grid), kThreads, launch,
                              static_cast<unsigned char*>(params.dst), params.row_bytes(), head, words, word,
                              Pattern(params));
}

LaunchResult fill_rows(const FillParams& params, const Config& config, const Launch& launch) {
  return for_size(params.access(), [&]<int kAccess>() {
    return enqueue(rows_kernel<kAccess>, static_cast<unsigned>(config.grid), kThreads, launch,
                   static_cast<unsigned char*>(params.dst), params.row_bytes(), params.rows, params.pitch,
                   Pattern(params));
  });
}

LaunchResult fill_preload() { return preload(vec16_kernel); }

}  // namespace gpumem::kernels
