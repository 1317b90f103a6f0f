// Transposes of elements of 1 and 2 bytes at any address, 2 * batches * rows * cols * element bytes. Global and shared memory are
// accessed by words of 4 bytes: a thread transposes 4 x 4 bytes or 2 x 2 halves in its registers, and a tile goes through shared memory as
// words of one column each. Where a row begins inside a word, two aligned words are shifted into one; only the ends of a row
// are moved by the byte.
#include "kernels/transpose/byte_perm.cuh"
#include "kernels/transpose/tiles.cuh"

namespace gpumem::kernels {
namespace {

constexpr int kWords = 32;  // across a tile: one a lane
constexpr int kWarps = kTransposeThreads / kWords;

// Bytes 4 * lane ... of a piece of a row, of which `left` bytes follow until the row's end. inside: the piece does not begin the
// row. No byte before the row or past its end is read.
__device__ uint32_t load_word(const unsigned char* piece, int lane, int64_t left, bool inside) {
  const auto shift = static_cast<int>(reinterpret_cast<uintptr_t>(piece) % 4);
  const int at = 4 * lane;
  if (shift == 0 && at + 4 <= left) return *reinterpret_cast<const uint32_t*>(piece + at);
  if (shift != 0 && (inside || lane > 0) && at + 8 - shift <= left) {
    const auto* words = reinterpret_cast<const uint32_t*>(piece - shift + at);
    return __funnelshift_r(words[0], words[1], static_cast<unsigned>(8 * shift));
  }
  uint32_t word = 0;
  for (int i = 0; i < 4; ++i) {
    if (at + i < left) word |= uint32_t{piece[at + i]} << 8 * i;
  }
  return word;
}

// Words rotated by `by` places, by selects: an index that is not known to the compiler would put them into local memory.
template <int kPer>
__device__ void rotate(uint32_t (&words)[kPer], int by) {
#pragma unroll
  for (int bit = 1; bit < kPer; bit *= 2) {
    uint32_t rotated[kPer];
#pragma unroll
    for (int j = 0; j < kPer; ++j) rotated[j] = words[(j + bit) % kPer];
#pragma unroll
    for (int j = 0; j < kPer; ++j) words[j] = (by & bit) != 0 ? rotated[j] : words[j];
  }
}

template <int kBytes>
__global__ void __launch_bounds__(kTransposeThreads) wide_kernel(const TransposeParams params, const Tiles tiles) {
  after_earlier_work();
  constexpr int kPer = 4 / kBytes;  // elements in a word
  constexpr int kSide = static_cast<int>(byte_perm_words_tile(kBytes));
  constexpr int kPasses = kSide / (kWarps * kPer);
  __shared__ uint32_t shared[kSide][kWords + 1];  // row: a column of the tile
  const int lane = static_cast<int>(threadIdx.x) % kWords;
  const int warp = static_cast<int>(threadIdx.x) / kWords;
  const int shift = lane * kPer / kWords;  // lanes whose columns share banks write theirs in different orders
  for (int64_t tile = blockIdx.x; tile < tiles.all; tile += gridDim.x) {
    const TilePlace origin(tile, tiles, kSide, kSide);
    const auto* src = static_cast<const unsigned char*>(params.src) + origin.batch * params.src_batch_stride * kBytes;
    auto* dst = static_cast<unsigned char*>(params.dst) + origin.batch * params.dst_batch_stride * kBytes;
    const int64_t src_left = (params.cols - origin.col) * kBytes;
    uint32_t in[kPasses][kPer];
#pragma unroll
    for (int pass = 0; pass < kPasses; ++pass) {
#pragma unroll
      for (int q = 0; q < kPer; ++q) {
        const int64_t row = origin.row + (pass * kWarps + warp) * kPer + q;
        const unsigned char* piece = src + (row * params.src_ld + origin.col) * kBytes;
        in[pass][q] = row < params.rows ? load_word(piece, lane, src_left, origin.col > 0) : 0;
      }
    }
#pragma unroll
    for (int pass = 0; pass < kPasses; ++pass) {
      uint32_t out[kPer];
      transpose_in_registers<kBytes>(in[pass], out);
      rotate<kPer>(out, shift);
#pragma unroll
      for (int j = 0; j < kPer; ++j) shared[kPer * lane + (j + shift) % kPer][pass * kWarps + warp] = out[j];
    }
    __syncthreads();
    const int64_t rows_left = params.rows - origin.row;
    const int bytes = static_cast<int>(rows_left < kSide ? rows_left : kSide) * kBytes;
    for (int c = warp; c < kSide && origin.col + c < params.cols; c += kWarps) {
      unsigned char* to = dst + ((origin.col + c) * params.dst_ld + origin.row) * kBytes;
      const auto* from = reinterpret_cast<const unsigned char*>(shared[c]);
      const int to_boundary = static_cast<int>((4 - reinterpret_cast<uintptr_t>(to) % 4) % 4);
      const int head = to_boundary < bytes ? to_boundary : bytes;
      const int words = (bytes - head) / 4;
      if (lane < words) {
        const uint32_t word = __funnelshift_r(shared[c][lane], shared[c][lane + 1], static_cast<unsigned>(8 * head));
        __stcs(reinterpret_cast<uint32_t*>(to + head) + lane, word);
      }
      const int tail = head + 4 * words;
      if (lane < head) to[lane] = from[lane];
      if (tail + lane < bytes) to[tail + lane] = from[tail + lane];
    }
    __syncthreads();
  }
}

}  // namespace

cudaError_t transpose_byte_perm_words(const TransposeParams& params, const LaunchShape& shape, Stream stream) {
  const int64_t tile = byte_perm_words_tile(params.element_bytes);
  if (params.element_bytes > 2) return cudaErrorInvalidValue;
  return start(params.element_bytes == 1 ? wide_kernel<1> : wide_kernel<2>, shape.grid, stream, params,
               tiles_of(params, tile, tile));
}

}  // namespace gpumem::kernels
