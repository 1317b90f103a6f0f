// Copies. Every kernel reads each byte once and writes it once: twice the bytes copied.
//   vec16                one range, 16 bytes a thread and as many blocks as it takes: neighbouring lanes move neighbouring words. The
//                        ends before the first 16-byte boundary and after the last are moved by the first block, a byte a thread.
//                        H200, 4 GiB: 4280 GB/s, where cudaMemcpyAsync ran at 4295.
//   vec4, vec2, scalar   the textbook's: one range as words of four, two and one times 4 bytes, a word a thread at a time in a loop
//                        over the grid's stride; what is shorter than a word at the end is moved by the first block.
//   rows                 rows with gaps between them, cut into pieces of one access a lane; a piece has 1 to 32 lanes, so that the
//                        accesses of a warp lie in neighbouring rows where rows are short. A row is moved in the widest accesses at
//                        which all rows begin, and its end in halves of that.
//   bytes                anything, a byte a thread.
#include "kernels/copy/copy.hpp"

#include "kernels/copy/limits.hpp"
#include "kernels/division.hpp"
#include "kernels/enqueue.cuh"
#include "kernels/words.cuh"

namespace gpumem::kernels {
namespace {

constexpr int kThreads = kCopyThreads;

__device__ int64_t first_of_thread() { return int64_t{blockIdx.x} * kThreads + threadIdx.x; }
__device__ int64_t grid_step() { return int64_t{gridDim.x} * kThreads; }

// head bytes, words words of 16, and less than 16 bytes after them.
__global__ void __launch_bounds__(kThreads)
    vec16_kernel(unsigned char* __restrict__ dst, const unsigned char* __restrict__ src, int64_t bytes, int64_t head,
                 int64_t words) {
  after_earlier_work();
  const int64_t step = grid_step();
  auto* to = reinterpret_cast<uint4*>(dst + head);
  const auto* from = reinterpret_cast<const uint4*>(src + head);
#pragma unroll 1
  for (int64_t i = first_of_thread(); i < words; i += step) to[i] = from[i];
  if (blockIdx.x != 0) return;
  const int64_t tail = head + words * 16 + threadIdx.x;
  if (threadIdx.x < head) dst[threadIdx.x] = src[threadIdx.x];
  if (tail < bytes) dst[tail] = src[tail];
}

template <class Word>
__global__ void __launch_bounds__(kThreads)
    words_kernel(unsigned char* __restrict__ dst, const unsigned char* __restrict__ src, int64_t bytes) {
  constexpr int64_t kBytes = sizeof(Word);
  const int64_t words = bytes / kBytes;
  const int64_t step = grid_step();
  auto* to = reinterpret_cast<Word*>(dst);
  const auto* from = reinterpret_cast<const Word*>(src);
  for (int64_t i = first_of_thread(); i < words; i += step) to[i] = from[i];
  const int64_t tail = words * kBytes + first_of_thread();
  if (tail < bytes) dst[tail] = src[tail];
}

// Where a row lies on each side.
struct Row {
  unsigned char* dst;
  const unsigned char* src;
  __device__ Row(const CopyParams& params, int64_t row) {
    int64_t slice = 0;
    if (params.slices > 1) {
      const Quotient in(row, params.rows);
      slice = in.quotient;
      row = in.rest;
    }
    dst = reinterpret_cast<unsigned char*>(params.dst) + slice * params.dst_slice + row * params.dst_pitch;
    src = reinterpret_cast<const unsigned char*>(params.src) + slice * params.src_slice + row * params.src_pitch;
  }
};

template <int kBytes>
__device__ void move_word(unsigned char* dst, const unsigned char* src) {
  using Word = WordOf<kBytes>;
  *reinterpret_cast<Word*>(dst) = *reinterpret_cast<const Word*>(src);
}

// Less than 2 * kBytes bytes, from an address that is aligned to twice kBytes.
template <int kBytes>
__device__ void move_rest(unsigned char* dst, const unsigned char* src, int rest) {
  if (rest & kBytes) {
    move_word<kBytes>(dst, src);
    dst += kBytes;
    src += kBytes;
  }
  if constexpr (kBytes > 1) move_rest<kBytes / 2>(dst, src, rest);
}

// Pieces of a row, and what finds a piece's row and a row's slice.
struct Pieces {
  Divisor<uint64_t> of_row;
  Divisor<uint64_t> rows;
  int64_t all;
  int log2_lanes;
};

template <int kAccess>
__global__ void __launch_bounds__(kThreads)
    rows_kernel(const __grid_constant__ CopyParams params, const __grid_constant__ Pieces pieces) {
  constexpr int kDepth = copy_row_depth(kAccess);
  const int groups = kThreads >> pieces.log2_lanes;  // in a block, each with a piece at a time
  const int64_t lane = threadIdx.x & ((1u << pieces.log2_lanes) - 1);
  const int64_t first = int64_t{blockIdx.x} * groups + (threadIdx.x >> pieces.log2_lanes);
  for (int64_t i = first; i < pieces.all; i += int64_t{gridDim.x} * groups) {
    const auto index = static_cast<uint64_t>(i);
    const uint64_t row = pieces.of_row.quotient(index);
    const auto piece = static_cast<int64_t>(index - row * pieces.of_row.value);
    const uint64_t slice = params.slices > 1 ? pieces.rows.quotient(row) : 0;
    const auto in_slice = static_cast<int64_t>(row - slice * pieces.rows.value);
    const int64_t at = ((piece * kDepth << pieces.log2_lanes) + lane) * kAccess;
    auto* dst = reinterpret_cast<unsigned char*>(params.dst) + static_cast<int64_t>(slice) * params.dst_slice +
                in_slice * params.dst_pitch + at;
    const auto* src = reinterpret_cast<const unsigned char*>(params.src) +
                      static_cast<int64_t>(slice) * params.src_slice + in_slice * params.src_pitch + at;
    WordOf<kAccess> word[kDepth];
    const int step = kAccess << pieces.log2_lanes;
    const int64_t left = params.row_bytes - at;
#pragma unroll
    for (int k = 0; k < kDepth; ++k) {
      if (k * step + kAccess <= left) word[k] = *reinterpret_cast<const WordOf<kAccess>*>(src + k * step);
    }
#pragma unroll
    for (int k = 0; k < kDepth; ++k) {
      if (k * step + kAccess <= left) {
        *reinterpret_cast<WordOf<kAccess>*>(dst + k * step) = word[k];
      } else if constexpr (kAccess > 1) {
        if (k * step < left) move_rest<kAccess / 2>(dst + k * step, src + k * step, static_cast<int>(left - k * step));
      }
    }
  }
}

__global__ void __launch_bounds__(kThreads) bytes_kernel(const __grid_constant__ CopyParams params) {
  const int64_t bytes = params.row_bytes * params.rows * params.slices;
  const int64_t step = grid_step();
  for (int64_t i = first_of_thread(); i < bytes; i += step) {
    int64_t row = 0;
    if (i >= params.row_bytes) {
      row = i <= UINT32_MAX ? static_cast<uint32_t>(i) / static_cast<uint32_t>(params.row_bytes) : i / params.row_bytes;
    }
    const int64_t at = i - row * params.row_bytes;
    const Row here(params, row);
    here.dst[at] = here.src[at];
  }
}

unsigned blocks(const LaunchShape& shape) { return static_cast<unsigned>(shape.grid); }

template <class Word>
cudaError_t start_words(const CopyParams& params, const LaunchShape& shape, Stream stream) {
  return enqueue(words_kernel<Word>, blocks(shape), kThreads, stream, reinterpret_cast<unsigned char*>(params.dst),
                 reinterpret_cast<const unsigned char*>(params.src), params.row_bytes);
}

template <int kAccess>
cudaError_t start_rows(const CopyParams& params, const LaunchShape& shape, Stream stream) {
  Pieces pieces{};
  while ((1 << pieces.log2_lanes) < copy_row_lanes(params.row_bytes, kAccess)) ++pieces.log2_lanes;
  const int64_t of_row = copy_row_pieces(params.row_bytes, kAccess);
  pieces.of_row = Divisor<uint64_t>(static_cast<uint64_t>(of_row));
  pieces.rows = Divisor<uint64_t>(static_cast<uint64_t>(params.rows));
  pieces.all = of_row * params.rows * params.slices;
  return enqueue(rows_kernel<kAccess>, blocks(shape), kThreads, stream, params, pieces);
}

}  // namespace

cudaError_t copy_vec16(const CopyParams& params, const LaunchShape& shape, Stream stream) {
  const auto misalignment = static_cast<int64_t>(reinterpret_cast<uintptr_t>(params.dst) % 16);
  const int64_t to_boundary = (16 - misalignment) % 16;
  const int64_t head = to_boundary < params.row_bytes ? to_boundary : params.row_bytes;
  return enqueue_early(vec16_kernel, blocks(shape), kThreads, stream, reinterpret_cast<unsigned char*>(params.dst),
                       reinterpret_cast<const unsigned char*>(params.src), params.row_bytes, head,
                       (params.row_bytes - head) / 16);
}

cudaError_t copy_vec4(const CopyParams& params, const LaunchShape& shape, Stream stream) {
  return start_words<uint4>(params, shape, stream);
}
cudaError_t copy_vec2(const CopyParams& params, const LaunchShape& shape, Stream stream) {
  return start_words<uint2>(params, shape, stream);
}
cudaError_t copy_scalar(const CopyParams& params, const LaunchShape& shape, Stream stream) {
  return start_words<uint32_t>(params, shape, stream);
}

cudaError_t copy_rows(const CopyParams& params, const LaunchShape& shape, Stream stream) {
  return for_size(params.access(), [&]<int kAccess>() { return start_rows<kAccess>(params, shape, stream); });
}

cudaError_t copy_bytes(const CopyParams& params, const LaunchShape& shape, Stream stream) {
  return enqueue(bytes_kernel, blocks(shape), kThreads, stream, params);
}

cudaError_t copy_preload() { return preload(vec16_kernel); }

}  // namespace gpumem::kernels
