// Copies.
// Moves: reads each byte once and writes it once.
// Access: vec16: one range, 16 bytes per thread. Neighbouring lanes move neighbouring words. If src and dst are
//         misaligned differently, a thread reads two aligned words and joins their bytes with funnel shifts. The first
//         block moves the ends, one byte per thread.
//         realigned: any rows at any addresses. If all rows begin at multiples of 4, 8 or 16 on both sides, it moves
//           words of that size. Otherwise it works as vec16 does on different misalignments, and writes the first and
//           last word of a row in parts.
// H200, 4 GiB: vec16 4280 GB/s, cudaMemcpyAsync 4295.
#include "kernels/copy/copy.hpp"

#include <algorithm>

#include "kernels/copy/limits.hpp"
#include "kernels/division.hpp"
#include "kernels/enqueue.cuh"
#include "kernels/words.cuh"

namespace gpumem::kernels {
namespace {

constexpr int kThreads = kCopyThreads;

__device__ int64_t first_of_thread() { return int64_t{blockIdx.x} * kThreads + threadIdx.x; }
__device__ int64_t grid_step() { return int64_t{gridDim.x} * kThreads; }

// The 16 bytes that begin at byte `by` of two words, 0 <= by < 16.
__device__ __forceinline__ uint4 shifted(const uint4& low, const uint4& high, unsigned by) {
  const uint32_t in[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
  uint32_t eighth[6], quarter[5];
#pragma unroll
  for (int i = 0; i < 6; ++i) eighth[i] = (by & 8) != 0 ? in[i + 2] : in[i];
#pragma unroll
  for (int i = 0; i < 5; ++i) quarter[i] = (by & 4) != 0 ? eighth[i + 1] : eighth[i];
  const auto word = [&](int i) { return __funnelshift_r(quarter[i], quarter[i + 1], 8 * (by & 3)); };
  return uint4{word(0), word(1), word(2), word(3)};
}

// Moves `head` bytes, `words` 16-byte words of dst, and a rest of less than 32 bytes. src begins at byte `by` of an
// aligned word.
template <bool kShifts>
__global__ void __launch_bounds__(kThreads)
    vec16_kernel(unsigned char* __restrict__ dst, const unsigned char* __restrict__ src, int64_t bytes, int64_t head,
                 int64_t words, unsigned by) {
  synchronize_and_trigger();
  const int64_t step = grid_step();
  auto* to = reinterpret_cast<uint4*>(dst + head);
  const auto* from = reinterpret_cast<const uint4*>(src + head - by);
  const int64_t tail = head + words * 16 + threadIdx.x;
  const bool has_head = blockIdx.x == 0 && threadIdx.x < head;
  const bool has_tail = blockIdx.x == 0 && tail < bytes;
  unsigned char of_head{}, of_tail{};  // loaded first, so that a short copy waits for memory once
  if (has_head) of_head = src[threadIdx.x];
  if (has_tail) of_tail = src[tail];
#pragma unroll 1
  for (int64_t i = first_of_thread(); i < words; i += step)
    to[i] = kShifts ? shifted(from[i], from[i + 1], by) : from[i];
  if (has_head) dst[threadIdx.x] = of_head;
  if (has_tail) dst[tail] = of_tail;
}

// The aligned words that rows of dst touch, and the divisors that find a word's row and a row's slice.
template <class Index>
struct RowWords {
  Divisor<Index> of_row;
  Divisor<Index> rows;
  int64_t all;
  const unsigned char* src_end;
};

struct RowPlace {
  const unsigned char* src;
  unsigned char* dst;
  int64_t word;
};
template <class Index>
__device__ __forceinline__ RowPlace place_of(Index i, const CopyParams& params, const RowWords<Index>& words) {
  const Index row = words.of_row.quotient(i);
  const auto slice = params.slices > 1 ? static_cast<int64_t>(words.rows.quotient(row)) : 0;
  const int64_t in_slice = static_cast<int64_t>(row) - slice * params.rows;
  return {reinterpret_cast<const unsigned char*>(params.src) + slice * params.src_slice + in_slice * params.src_pitch,
          reinterpret_cast<unsigned char*>(params.dst) + slice * params.dst_slice + in_slice * params.dst_pitch,
          static_cast<int64_t>(i - row * words.of_row.value)};
}

// All rows begin at words on both sides. The incomplete last word of a row is moved by bytes.
template <class Word, class Index>
__global__ void __launch_bounds__(kThreads)
    row_words_kernel(const __grid_constant__ CopyParams params, const __grid_constant__ RowWords<Index> words) {
  synchronize_and_trigger();
  constexpr int64_t kBytes = sizeof(Word);
  const int64_t step = grid_step();
#pragma unroll 1
  for (int64_t i = first_of_thread(); i < words.all; i += step) {
    const RowPlace at = place_of(static_cast<Index>(i), params, words);
    const int64_t byte = at.word * kBytes;
    if (byte + kBytes <= params.row_bytes) {
      *reinterpret_cast<Word*>(at.dst + byte) = *reinterpret_cast<const Word*>(at.src + byte);
    } else {
      for (int64_t k = byte; k < params.row_bytes; ++k) at.dst[k] = at.src[k];
    }
  }
}

// The bytes between `begin` and `end` of the aligned word at p. The others are 0.
__device__ __forceinline__ uint4 load_within(const unsigned char* p, const unsigned char* begin,
                                             const unsigned char* end) {
  if (p >= begin && p + 16 <= end) return *reinterpret_cast<const uint4*>(p);
  uint32_t quarter[4] = {0, 0, 0, 0};
#pragma unroll
  for (int i = 0; i < 16; ++i) {
    if (p + i >= begin && p + i < end) quarter[i / 4] |= uint32_t{p[i]} << 8 * (i % 4);
  }
  return uint4{quarter[0], quarter[1], quarter[2], quarter[3]};
}

__device__ __forceinline__ uint32_t quarter_of(const uint4& word, int i) {
  return (i & 2) != 0 ? (i & 1) != 0 ? word.w : word.z : (i & 1) != 0 ? word.y : word.x;
}

// Writes bytes [begin, end) of a word, with as few accesses as their alignment allows.
__device__ __forceinline__ void store_part(unsigned char* to, const uint4& word, int begin, int end) {
  int at = begin;
  const auto store = [&](int bytes) {
    const uint32_t value = quarter_of(word, at / 4) >> 8 * (at % 4);
    if (bytes == 1) to[at] = static_cast<unsigned char>(value);
    if (bytes == 2) *reinterpret_cast<uint16_t*>(to + at) = static_cast<uint16_t>(value);
    if (bytes == 4) *reinterpret_cast<uint32_t*>(to + at) = value;
    at += bytes;
  };
#pragma unroll
  for (int bytes = 1; bytes <= 2; bytes *= 2) {
    if ((at & bytes) != 0 && at + bytes <= end) store(bytes);
  }
#pragma unroll
  for (int i = 0; i < 3; ++i) {
    if (at + 4 <= end) store(4);
  }
#pragma unroll
  for (int bytes = 2; bytes > 0; bytes /= 2) {
    if (at + bytes <= end) store(bytes);
  }
}

template <class Index>
__global__ void __launch_bounds__(kThreads)
    realigned_kernel(const __grid_constant__ CopyParams params, const __grid_constant__ RowWords<Index> words) {
  synchronize_and_trigger();
  const auto* src_begin = reinterpret_cast<const unsigned char*>(params.src);
  const int64_t step = grid_step();
#pragma unroll 1
  for (int64_t i = first_of_thread(); i < words.all; i += step) {
    const RowPlace row = place_of(static_cast<Index>(i), params, words);
    const int64_t at = 16 * row.word - static_cast<int64_t>(reinterpret_cast<uintptr_t>(row.dst) % 16);
    const int begin = at < 0 ? static_cast<int>(-at) : 0;
    const int end = params.row_bytes - at < 16 ? static_cast<int>(params.row_bytes - at) : 16;
    if (begin >= end) continue;
    const auto* from = row.src + at;
    const auto by = static_cast<int>(reinterpret_cast<uintptr_t>(from) % 16);
    uint4 low{0, 0, 0, 0}, high{0, 0, 0, 0};
    if (by + begin < 16) low = load_within(from - by, src_begin, words.src_end);
    if (by + end > 16) high = load_within(from - by + 16, src_begin, words.src_end);
    const uint4 word = by == 0 ? low : shifted(low, high, static_cast<unsigned>(by));
    if (begin == 0 && end == 16) {
      *reinterpret_cast<uint4*>(row.dst + at) = word;
    } else {
      store_part(row.dst + at, word, begin, end);
    }
  }
}

unsigned blocks(const Config& shape) { return static_cast<unsigned>(shape.grid); }

template <class Index>
LaunchResult start_rows(const CopyParams& params, const Config& config, const Launch& launch) {
  const int64_t access = params.row_access();
  const int64_t of_row = params.words_of_row();
  const RowWords<Index> words{Divisor<Index>(static_cast<Index>(of_row)),
                              Divisor<Index>(static_cast<Index>(params.rows)), of_row * params.rows * params.slices,
                              reinterpret_cast<const unsigned char*>(params.src) + params.src_extent()};
  const auto kernel = access == 16  ? row_words_kernel<uint4, Index>
                      : access == 8 ? row_words_kernel<uint2, Index>
                      : access == 4 ? row_words_kernel<uint32_t, Index>
                                    : realigned_kernel<Index>;
  return enqueue_programmatic(kernel, blocks(config), kThreads, launch, params, words);
}

}  // namespace

LaunchResult copy_vec16(const CopyParams& params, const Config& config, const Launch& launch) {
  const auto past = [](const char* p) { return static_cast<int64_t>(reinterpret_cast<uintptr_t>(p) % 16); };
  const int64_t shift = past(params.src - past(params.dst));
  // No aligned word of src is read that reaches beyond src. Instead, one more word of dst is moved by bytes.
  int64_t head = (16 - past(params.dst)) % 16;
  if (head < shift) head += 16;
  head = std::min(head, params.row_bytes);
  const int64_t words = (params.row_bytes - head - (shift == 0 ? 0 : 16 - shift)) / 16;
  return enqueue_programmatic(shift == 0 ? vec16_kernel<false> : vec16_kernel<true>, blocks(config), kThreads, launch,
                              reinterpret_cast<unsigned char*>(params.dst),
                              reinterpret_cast<const unsigned char*>(params.src), params.row_bytes, head,
                              std::max<int64_t>(words, 0), static_cast<unsigned>(shift));
}

LaunchResult copy_realigned(const CopyParams& params, const Config& config, const Launch& launch) {
  return params.words_of_row() * params.rows * params.slices <= UINT32_MAX
             ? start_rows<uint32_t>(params, config, launch)
             : start_rows<uint64_t>(params, config, launch);
}

namespace {

// If mapped memory of another device is not open to this one, only cudaMemcpyPeerAsync() copies it, and it can't be
// captured. Nothing copies it to or from the host.
cudaError_t copy_range(const CopyParams& params, int64_t offset_in_dst, int64_t offset_in_src, Stream stream) {
  char* const dst = params.dst + offset_in_dst;
  const char* const src = params.src + offset_in_src;
  const auto bytes = static_cast<size_t>(params.row_bytes);
  if (params.row_by_row && params.across == Across::devices) {
    return cudaMemcpyPeerAsync(dst, params.dst_device, src, params.src_device, bytes, stream);
  }
  const cudaError_t error = cudaMemcpyAsync(dst, src, bytes, cudaMemcpyDefault, stream);
  return params.row_by_row && error == cudaErrorInvalidValue ? cudaErrorPeerAccessUnsupported : error;
}

// Copies the rows of one slice in one call, or in one per row if the driver or the parameters require it.
cudaError_t copy_rows_by_driver(const CopyParams& params, Stream stream) {
  const auto bytes = static_cast<size_t>(params.row_bytes);
  if (params.rows > 1 && !params.row_by_row && params.dst_pitch <= kMaxPitch && params.src_pitch <= kMaxPitch) {
    return cudaMemcpy2DAsync(params.dst, static_cast<size_t>(params.dst_pitch), params.src,
                             static_cast<size_t>(params.src_pitch), bytes, static_cast<size_t>(params.rows),
                             cudaMemcpyDefault, stream);
  }
  cudaError_t error = cudaSuccess;
  for (int64_t row = 0; row < params.rows && error == cudaSuccess; ++row) {
    error = copy_range(params, row * params.dst_pitch, row * params.src_pitch, stream);
  }
  return error;
}

// Whether the driver accepts slices as multiples of whole rows.
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

}  // namespace

LaunchResult copy_by_driver(const CopyParams& params, const Config&, const Launch& launch) {
  CopyParams b = merged(params);
  if (b.slices > 1 && takes_slices(b)) return copy_slices(b, launch);
  cudaError_t error = cudaSuccess;
  for (int64_t slice = 0; slice < b.slices && error == cudaSuccess; ++slice) {
    error = copy_rows_by_driver(b, launch);
    b.dst += b.dst_slice;
    b.src += b.src_slice;
  }
  return error;
}

LaunchResult copy_preload() {
  return preload(vec16_kernel<false>, vec16_kernel<true>, realigned_kernel<uint32_t>,
                 row_words_kernel<uint4, uint32_t>);
}

}  // namespace gpumem::kernels
