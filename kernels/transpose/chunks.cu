// Transposes by aligned 16-byte words on both sides (chunks.hpp).
// Moves: 2 * batches * rows * cols * element bytes.
// Access: src is copied to shared memory without registers. A word of dst is gathered element by element. Neighbouring
//         lanes gather from neighbouring columns, which are in different banks at any pitch. Words at the ends of src
//         and dst are moved by byte and by element.
// Shapes: batches of small matrices, several kilobytes of them per block; narrow matrices; matrices whose rows begin
//         anywhere. Elements have their natural alignment.
#include <cuda_pipeline_primitives.h>

#include "kernels/transpose/chunks.hpp"
#include "kernels/transpose/tiles.cuh"

namespace gpumem::kernels {
namespace {

// In bytes unless elements are mentioned.
struct Chunks {
  const char* src;
  const char* src_end;
  char* dst;
  int64_t rows, cols, batches;  // elements
  int64_t src_ld, dst_ld, src_batch, dst_batch;
  int32_t tile_rows, tile_cols, matrices, ahead;  // elements
  int32_t pitch, matrix_pitch;
  int32_t runs;
  int32_t run_bytes;
  int32_t lanes;
  Divisor<uint32_t> words_of_run;
  Divisor<uint32_t> rows_of_matrix;  // of src
  Divisor<uint32_t> of_matrix;       // elements
  Divisor<uint32_t> of_column;       // tile_rows
  Divisor<uint32_t> cols_of_matrix;  // tile_cols
  Divisor<uint32_t> cols_of_all;     // of all matrices of a tile
  int64_t down, per_matrix, all;
};

// The part of the problem in a tile: rows [row_begin, row_end), counted from `row`, which may be negative.
struct ChunkTile {
  int64_t batch, row, col;
  int row_begin, row_end, cols, matrices;
  const char* src;
  char* dst;
  int past;  // src modulo 16

  __device__ ChunkTile(int64_t tile, const Chunks& c, int bytes) : batch(tile * c.matrices), row(-c.ahead), col(0) {
    if (c.per_matrix > 1) {
      const Quotient matrix(tile, c.per_matrix);
      const Quotient place(matrix.rest, c.down);
      batch = matrix.quotient;
      row += place.rest * c.tile_rows;
      col = place.quotient * c.tile_cols;
    }
    row_begin = row < 0 ? static_cast<int>(-row) : 0;
    row_end = static_cast<int>(min(c.rows - row, int64_t{c.tile_rows + c.ahead}));
    cols = static_cast<int>(min(c.cols - col, int64_t{c.tile_cols}));
    matrices = static_cast<int>(min(c.batches - batch, int64_t{c.matrices}));
    src = c.src + batch * c.src_batch + row * c.src_ld + col * bytes;
    dst = c.dst + batch * c.dst_batch + col * c.dst_ld + row * bytes;
    past = static_cast<int>(reinterpret_cast<uintptr_t>(src) % kChunk);
  }
};

// Loads the bytes of an aligned word that are inside src.
__device__ __forceinline__ void load_word(char* to, const char* word, const Chunks& c) {
  if (word >= c.src && word + kChunk <= c.src_end) {
    __pipeline_memcpy_async(to, word, kChunk);
  } else {
    for (int i = 0; i < kChunk; ++i) {
      if (word + i >= c.src && word + i < c.src_end) to[i] = word[i];
    }
  }
}

// shared: the tile's first byte is at `past` after this multiple of 16.
__device__ __forceinline__ void load_tile(char* shared, const ChunkTile& t, const Chunks& c) {
  const uint32_t words = static_cast<uint32_t>(c.runs) * c.words_of_run.value;
  for (uint32_t i = threadIdx.x; i < words; i += blockDim.x) {
    const uint32_t run = c.words_of_run.quotient(i);
    int row = t.row_begin;
    int place = t.past;
    int64_t at = 0;
    if (c.matrices > 1 && c.runs > 1) {
      const uint32_t matrix = c.rows_of_matrix.quotient(run);
      if (static_cast<int>(matrix) >= t.matrices) break;
      row += static_cast<int>(run - matrix * c.rows_of_matrix.value);
      place += static_cast<int>(matrix) * c.matrix_pitch;
      at = matrix * c.src_batch;
    } else {
      row += static_cast<int>(run);
    }
    if (row >= t.row_end) break;
    place += row * c.pitch;
    at += row * c.src_ld;
    const char* from = t.src + at;
    const int within = static_cast<int>((i - run * c.words_of_run.value) * kChunk) -
                       static_cast<int>(reinterpret_cast<uintptr_t>(from) % kChunk);
    if (within < c.run_bytes) load_word(shared + place + within, from + within, c);
  }
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
}

template <int kBytes, class F>
__device__ __forceinline__ uint4 gathered(const F& at) {
  if constexpr (kBytes == 1) {
    const auto quarter = [&](int k) {
      const uint32_t a = at(k), b = at(k + 1), c = at(k + 2), d = at(k + 3);
      return __byte_perm(__byte_perm(a, b, 0x0040), __byte_perm(c, d, 0x0040), 0x5410);
    };
    const uint32_t x = quarter(0), y = quarter(4), z = quarter(8), w = quarter(12);
    return uint4{x, y, z, w};
  } else {
    ElementWord<kBytes> out;
#pragma unroll
    for (int k = 0; k < kChunk / kBytes; ++k) out.element[k] = at(k);
    return out.word;
  }
}

// Stores dst row by row. Each row is divided where its words begin.
template <int kBytes>
__device__ __forceinline__ void store_rows(const char* shared, const ChunkTile& t, const Chunks& c) {
  using Element = WordOf<kBytes>;
  constexpr int kVector = kChunk / kBytes;
  const uint32_t words = static_cast<uint32_t>(c.tile_rows / kVector) * c.cols_of_all.value;
  const auto lanes = static_cast<uint32_t>(c.lanes);
  for (uint32_t i = threadIdx.x; i < words; i += blockDim.x) {
    const uint32_t pair = i / lanes;
    const uint32_t group = c.cols_of_all.quotient(pair);
    uint32_t col = pair - group * c.cols_of_all.value;
    const uint32_t matrix = c.matrices > 1 ? c.cols_of_matrix.quotient(col) : 0;
    col -= matrix * c.cols_of_matrix.value;
    if (static_cast<int>(matrix) >= t.matrices || static_cast<int>(col) >= t.cols) continue;
    char* to = t.dst + matrix * c.dst_batch + col * c.dst_ld;
    int row = static_cast<int>(group * lanes + i % lanes) * kVector;
    if (c.ahead != 0) row += kVector - static_cast<int>(reinterpret_cast<uintptr_t>(to) / kBytes % kVector);
    const char* from =
        shared + static_cast<int>(matrix) * c.matrix_pitch + row * c.pitch + static_cast<int>(col) * kBytes;
    const auto element = [&](int k) { return *reinterpret_cast<const Element*>(from + k * c.pitch); };
    if (row >= t.row_begin && row + kVector <= t.row_end) {
      __stcs(reinterpret_cast<uint4*>(to + row * kBytes), gathered<kBytes>(element));
    } else {
      for (int k = 0; k < kVector; ++k) {
        if (row + k >= t.row_begin && row + k < t.row_end) reinterpret_cast<Element*>(to)[row + k] = element(k);
      }
    }
  }
}

template <int kBytes>
struct Walk {
  const Chunks& c;
  uint32_t row, col;
  int place;
  __device__ Walk(const Chunks& chunks, uint32_t element) : c(chunks) {
    const uint32_t matrix = c.matrices > 1 ? c.of_matrix.quotient(element) : 0;
    const uint32_t rest = element - matrix * c.of_matrix.value;
    col = c.of_column.quotient(rest);
    row = rest - col * c.of_column.value;
    place =
        static_cast<int>(matrix) * c.matrix_pitch + static_cast<int>(row) * c.pitch + static_cast<int>(col) * kBytes;
  }
  __device__ int next() {
    const int here = place;
    place += c.pitch;
    if (++row == c.of_column.value) {
      row = 0;
      place += kBytes - c.tile_rows * c.pitch;
      if (++col == c.cols_of_matrix.value) {
        col = 0;
        place += c.matrix_pitch - c.tile_cols * kBytes;
      }
    }
    return here;
  }
};

// Stores one range of dst. Groups of lanes are as many words apart as there are rounds. The number of rounds is odd, so
// that few groups gather from the same bank.
template <int kBytes>
__device__ __forceinline__ void store_range(const char* shared, const ChunkTile& t, const Chunks& c) {
  using Element = WordOf<kBytes>;
  constexpr int kVector = kChunk / kBytes;
  const int elements = t.cols * c.tile_rows * t.matrices;
  const int past = static_cast<int>(reinterpret_cast<uintptr_t>(t.dst) % kChunk);
  const int words = (past + elements * kBytes + static_cast<int>(kChunk) - 1) / static_cast<int>(kChunk);
  const auto threads = static_cast<int>(blockDim.x);
  const int rounds = (words + threads - 1) / threads | 1;
  const int first =
      static_cast<int>(threadIdx.x) / c.lanes * c.lanes * rounds + static_cast<int>(threadIdx.x) % c.lanes;
  for (int i = 0; i < rounds; ++i) {
    const int word = first + i * c.lanes;
    if (word >= words) return;
    const int begin = (word * static_cast<int>(kChunk) - past) / kBytes;
    Walk<kBytes> walk(c, static_cast<uint32_t>(max(begin, 0)));
    const auto element = [&](int) { return *reinterpret_cast<const Element*>(shared + walk.next()); };
    auto* to = reinterpret_cast<Element*>(t.dst) + begin;
    if (begin >= 0 && begin + kVector <= elements) {
      __stcs(reinterpret_cast<uint4*>(to), gathered<kBytes>(element));
    } else {
      for (int k = max(-begin, 0); k < kVector && begin + k < elements; ++k) to[k] = element(k);
    }
  }
}

template <int kBytes, bool kTight>
__global__ void __launch_bounds__(512) chunks_kernel(const __grid_constant__ Chunks c) {
  synchronize_and_trigger();
  char* shared = dynamic_shared<char>();
  for (int64_t tile = blockIdx.x; tile < c.all; tile += gridDim.x) {
    const ChunkTile t(tile, c, kBytes);
    load_tile(shared, t, c);
    if constexpr (kTight) {
      store_range<kBytes>(shared + t.past, t, c);
    } else {
      store_rows<kBytes>(shared + t.past, t, c);
    }
    __syncthreads();
  }
}

Chunks chunks_of(const TransposeParams& p, const ChunkPlan& plan) {
  const int64_t e = p.element_bytes;
  const auto narrow = [](int64_t n) { return static_cast<int32_t>(n); };
  const auto by = [](int64_t n) { return Divisor<uint32_t>(static_cast<uint32_t>(n)); };
  Chunks c{};
  c.src = static_cast<const char*>(p.src);
  c.src_end = c.src + ((p.batches - 1) * p.src_batch_stride + (p.rows - 1) * p.src_ld + p.cols) * e;
  c.dst = static_cast<char*>(p.dst);
  c.rows = p.rows;
  c.cols = p.cols;
  c.batches = p.batches;
  c.src_ld = p.src_ld * e;
  c.dst_ld = p.dst_ld * e;
  c.src_batch = p.src_batch_stride * e;
  c.dst_batch = p.dst_batch_stride * e;
  c.tile_rows = narrow(plan.rows);
  c.tile_cols = narrow(plan.cols);
  c.matrices = narrow(plan.matrices);
  c.ahead = narrow(plan.ahead);
  c.pitch = narrow(plan.pitch);
  c.matrix_pitch = narrow(plan.matrix_pitch);
  c.runs = narrow(plan.runs);
  c.run_bytes = narrow(plan.run_bytes);
  c.lanes = plan.lanes;
  c.words_of_run = by(plan.run_words);
  c.rows_of_matrix = by(plan.matrices > 1 ? p.rows : 1);  // unused for a single matrix, whose rows may exceed 32 bits
  c.of_matrix = by(plan.rows * plan.cols);
  c.of_column = by(plan.rows);
  c.cols_of_matrix = by(plan.cols);
  c.cols_of_all = by(plan.cols * plan.matrices);
  c.down = plan.down;
  c.per_matrix = plan.per_matrix;
  c.all = plan.all;
  return c;
}

}  // namespace

LaunchResult transpose_chunks(const TransposeParams& params, const Config& config, const Launch& launch) {
  const auto plan = config.own.get<ChunkPlan>();
  const Chunks c = chunks_of(params, plan);
  return for_size(params.element_bytes, [&]<int kBytes>() {
    return enqueue_shared(plan.tight ? chunks_kernel<kBytes, true> : chunks_kernel<kBytes, false>,
                          static_cast<unsigned>(config.grid), static_cast<unsigned>(config.block),
                          SharedBytes{static_cast<int>(plan.shared_bytes), static_cast<int>(kChunkShared)}, launch, c);
  });
}

}  // namespace gpumem::kernels
