// Transposes of elements of 1 and 2 bytes.
// Moves: 2 * batches * rows * cols * element bytes.
// Access: 16 bytes per access in global memory and in reads of shared memory, 4 bytes in writes to shared memory. A
//         thread loads the same 16 bytes of four rows (of two, for 2 bytes). It permutes them in registers into words
//         that each hold the rows of one column. In a column of the tile, each run of four words moves by an exclusive
//         or with the column's place. So words that a warp writes, or reads back as 16 bytes, share no bank.
// Shapes: matrices whose rows are all 16-byte aligned.
#include "kernels/transpose/tiles.cuh"

namespace gpumem::kernels {
namespace {

// Row q of `in` holds its columns. Word j of the result holds column j of all rows.
template <int kBytes>
__device__ inline void transpose_in_registers(const uint32_t (&in)[4 / kBytes], uint32_t (&out)[4 / kBytes]) {
  if constexpr (kBytes == 1) {
    const uint32_t low01 = __byte_perm(in[0], in[1], 0x5140);  // columns 0 and 1 of rows 0 and 1
    const uint32_t low23 = __byte_perm(in[2], in[3], 0x5140);
    const uint32_t high01 = __byte_perm(in[0], in[1], 0x7362);
    const uint32_t high23 = __byte_perm(in[2], in[3], 0x7362);
    out[0] = __byte_perm(low01, low23, 0x5410);
    out[1] = __byte_perm(low01, low23, 0x7632);
    out[2] = __byte_perm(high01, high23, 0x5410);
    out[3] = __byte_perm(high01, high23, 0x7632);
  } else {
    out[0] = __byte_perm(in[0], in[1], 0x5410);
    out[1] = __byte_perm(in[0], in[1], 0x7632);
  }
}

constexpr int kThreads = kTransposeThreads;
constexpr int kWarps = kThreads / 32;

// A thread's part of a tile of kRows x kCols elements. A warp takes 8 words of 4 groups of rows at a time.
template <int kBytes, int kRows, int kCols>
struct BytePerm {
  using Element = WordOf<kBytes>;
  static constexpr int kPer = 4 / kBytes;          // rows in a word of a column: a group
  static constexpr int kVector = 16 / kBytes;      // elements in 16 bytes
  static constexpr int kGroups = kRows / kPer;     // words per column
  static constexpr int kAcross = kCols / kVector;  // 16-byte words per row
  static constexpr int kDown = kRows / kVector;    // 16-byte words per column
  static constexpr int kLoads = kGroups * kAcross / kThreads;
  static constexpr int kStores = kCols * kDown / kThreads;
  static constexpr int kRounds = kGroups / (4 * kWarps);  // loads until all groups are taken
  static_assert(kGroups % (4 * kWarps) == 0 && kAcross % 8 == 0 && kDown % 8 == 0 &&
                kStores * kThreads == kCols * kDown);

  static __device__ int group(int load) { return static_cast<int>(threadIdx.x) / 8 + load % kRounds * 4 * kWarps; }
  static __device__ int across(int load) { return static_cast<int>(threadIdx.x) % 8 + load / kRounds * 8; }
  static __device__ int moved(int word_across) { return word_across % 8 * 4; }
};

// The last elements of a row that does not fill its last word.
template <int kBytes>
__device__ uint4 partial_word(const WordOf<kBytes>* from, int count) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(from);
  uint4 word{0, 0, 0, 0};
#pragma unroll 1
  for (int k = 0; k < count * kBytes; ++k) {
    const uint32_t part = uint32_t{bytes[k]} << k % 4 * 8;
    word.x |= k / 4 == 0 ? part : 0;
    word.y |= k / 4 == 1 ? part : 0;
    word.z |= k / 4 == 2 ? part : 0;
    word.w |= k / 4 == 3 ? part : 0;
  }
  return word;
}

template <int kBytes, int kRows, int kCols>
struct BytePermTile : BytePerm<kBytes, kRows, kCols> {
  using T = BytePerm<kBytes, kRows, kCols>;
  using Element = typename T::Element;
  using Word = ElementWord<kBytes>;
  using Words = Word[T::kLoads][T::kPer];

  static __device__ __forceinline__ void load(const TransposeParams& params, const TilePlace& origin, Words& in) {
    const auto* src = static_cast<const Element*>(params.src) + origin.batch * params.src_batch_stride;
#pragma unroll
    for (int i = 0; i < T::kLoads; ++i) {
      const int64_t row = origin.row + T::group(i) * T::kPer;
      const int64_t col = origin.col + T::across(i) * T::kVector;
      const Element* from = src + row * params.src_ld + col;
#pragma unroll
      for (int q = 0; q < T::kPer; ++q, from += params.src_ld) {
        in[i][q].word = uint4{0, 0, 0, 0};
        if (row + q >= params.rows) continue;
        if (col + T::kVector <= params.cols) {
          in[i][q].word = __ldcs(reinterpret_cast<const uint4*>(from));
        } else if (col < params.cols) {
          in[i][q].word = partial_word<kBytes>(from, static_cast<int>(params.cols - col));
        }
      }
    }
  }

  static __device__ __forceinline__ void to_columns(const Words& in, uint32_t* shared) {
#pragma unroll
    for (int i = 0; i < T::kLoads; ++i) {
      const int across = T::across(i);
      uint32_t* to = shared + across * T::kVector * T::kGroups + (T::group(i) ^ T::moved(across));
#pragma unroll
      for (int quarter = 0; quarter < 4; ++quarter) {
        uint32_t rows[T::kPer], columns[T::kPer];
#pragma unroll
        for (int q = 0; q < T::kPer; ++q) rows[q] = in[i][q].quarter[quarter];
        transpose_in_registers<kBytes>(rows, columns);
#pragma unroll
        for (int q = 0; q < T::kPer; ++q) to[(quarter * T::kPer + q) * T::kGroups] = columns[q];
      }
    }
  }

  static __device__ __forceinline__ void store(const TransposeParams& params, const TilePlace& origin,
                                               const uint32_t* shared) {
    auto* dst = static_cast<Element*>(params.dst) + origin.batch * params.dst_batch_stride;
#pragma unroll
    for (int i = 0; i < T::kStores; ++i) {
      const int item = static_cast<int>(threadIdx.x) + i * kThreads;
      const int down = item % T::kDown;
      const int c = item / T::kDown;
      Word out;
      out.word = *reinterpret_cast<const uint4*>(shared + c * T::kGroups + (4 * down ^ T::moved(c / T::kVector)));
      const int64_t col = origin.col + c;
      const int64_t row = origin.row + down * T::kVector;
      if (col >= params.cols) continue;
      Element* to = dst + col * params.dst_ld + row;
      if (row + T::kVector <= params.rows) {
        __stcs(reinterpret_cast<uint4*>(to), out.word);
      } else {
#pragma unroll
        for (int k = 0; k < T::kVector; ++k) {
          if (row + k < params.rows) to[k] = out.element[k];
        }
      }
    }
  }
};

template <int kBytes, int kRows, int kCols>
__global__ void __launch_bounds__(kThreads, 4) byte_perm_kernel(const TransposeParams params, const Tiles tiles) {
  synchronize_and_trigger();
  using T = BytePermTile<kBytes, kRows, kCols>;
  alignas(16) __shared__ uint32_t shared[kCols * T::kGroups];
  for (int64_t tile = blockIdx.x; tile < tiles.all; tile += gridDim.x) {
    const TilePlace origin(tile, tiles, kRows, kCols);
    typename T::Words in;
    T::load(params, origin, in);
    T::to_columns(in, shared);
    __syncthreads();
    T::store(params, origin, shared);
    __syncthreads();
  }
}

}  // namespace

LaunchResult transpose_byte_perm_vec16(const TransposeParams& params, const Config& config, const Launch& launch) {
  constexpr int kRows1 = static_cast<int>(byte_perm_rows(1)), kCols1 = static_cast<int>(byte_perm_cols(1));
  constexpr int kRows2 = static_cast<int>(byte_perm_rows(2)), kCols2 = static_cast<int>(byte_perm_cols(2));
  if (params.element_bytes == 1) {
    return enqueue_programmatic(byte_perm_kernel<1, kRows1, kCols1>, static_cast<unsigned>(config.grid),
                                kTransposeThreads, launch, params, tiles_of(params, kRows1, kCols1));
  }
  if (params.element_bytes == 2) {
    return enqueue_programmatic(byte_perm_kernel<2, kRows2, kCols2>, static_cast<unsigned>(config.grid),
                                kTransposeThreads, launch, params, tiles_of(params, kRows2, kCols2));
  }
  return cudaErrorInvalidValue;
}

}  // namespace gpumem::kernels
