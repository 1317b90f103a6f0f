// Fills.
// Moves: writes rows * bytes, reads nothing.
// Access: memset: the driver's own, for one row of equal bytes.
//         vec16: 16 bytes per thread of one row. The first block writes the ends by bytes. Words between them are the
//           same: the pattern rotated by the length of the head.
//         rows: any rows with padding. A thread writes one word of the widest access that all rows are aligned for. The
//           last thread of a row writes the rest in halves of that access.
// H200: rows takes 37 us for 1000000 rows of 32 bytes, 48 bytes apart; cudaMemset2DAsync takes 618.
// One row of 64 MiB: vec16 15.5 us, memset 16.5.
#include <algorithm>
#include <cstring>

#include "kernels/alignment.hpp"
#include "kernels/division.hpp"
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

__device__ inline unsigned char byte_of(const uint4& word, unsigned i) {
  const uint32_t low = (i & 4) != 0 ? word.y : word.x;
  const uint32_t high = (i & 4) != 0 ? word.w : word.z;
  return static_cast<unsigned char>(((i & 8) != 0 ? high : low) >> 8 * (i & 3));
}

// word: the pattern from byte `head` on. head and the bytes after the words are less than a word each.
__global__ void __launch_bounds__(kThreads)
    vec16_kernel(unsigned char* dst, int64_t bytes, int64_t head, int64_t words, uint4 word) {
  synchronize_and_trigger();
  const int64_t step = int64_t{gridDim.x} * kThreads;
  auto* body = reinterpret_cast<uint4*>(dst + head);
  for (int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x; i < words; i += step) body[i] = word;
  if (blockIdx.x != 0) return;
  const unsigned char byte = byte_of(word, (threadIdx.x - static_cast<unsigned>(head)) % 16);
  const int64_t tail = head + words * 16 + threadIdx.x;
  if (threadIdx.x < head) dst[threadIdx.x] = byte;
  if (tail < bytes) dst[tail] = byte_of(word, threadIdx.x % 16);
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

// of_row: words of a row. It divides numbers below 2^32.
template <int kAccess>
__global__ void __launch_bounds__(kThreads)
    rows_kernel(unsigned char* dst, int64_t bytes, int64_t rows, int64_t pitch, Divisor<uint32_t> of_row,
                const __grid_constant__ Pattern pattern) {
  synchronize_and_trigger();
  const int64_t words_a_row = ceil_div(bytes, kAccess);
  const int64_t words = words_a_row * rows;
  const int64_t step = int64_t{gridDim.x} * kThreads;
  for (int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x; i < words; i += step) {
    int64_t row = 0;
    if (i >= words_a_row) row = i <= UINT32_MAX ? of_row.quotient(static_cast<uint32_t>(i)) : i / words_a_row;
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
  return cudaMemsetAsync(params.dst, params.word[0], static_cast<size_t>(params.row_bytes()), launch);
}

LaunchResult fill_vec16(const FillParams& params, const Config& config, const Launch& launch) {
  const int64_t head = std::min(to_boundary(params.dst, 16), params.row_bytes());
  const int64_t words = (params.row_bytes() - head) / 16;
  unsigned char rotated[16];
  for (int i = 0; i < 16; ++i) rotated[i] = params.word[(i + head) % 16];
  uint4 word;
  std::memcpy(&word, rotated, 16);
  return enqueue_programmatic(vec16_kernel, static_cast<unsigned>(config.grid), kThreads, launch,
                              static_cast<unsigned char*>(params.dst), params.row_bytes(), head, words, word);
}

LaunchResult fill_rows(const FillParams& params, const Config& config, const Launch& launch) {
  return for_size(params.access(), [&]<int kAccess>() {
    const auto words = static_cast<uint32_t>(std::min<int64_t>(ceil_div(params.row_bytes(), kAccess), UINT32_MAX));
    return enqueue_programmatic(rows_kernel<kAccess>, static_cast<unsigned>(config.grid), kThreads, launch,
                                static_cast<unsigned char*>(params.dst), params.row_bytes(), params.rows, params.pitch,
                                Divisor<uint32_t>(words), Pattern(params));
  });
}

LaunchResult fill_preload() { return preload(vec16_kernel); }

}  // namespace gpumem::kernels
