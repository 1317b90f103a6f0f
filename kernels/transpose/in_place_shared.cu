// In-place transposes of small matrices.
// Moves: 2 * batches * rows * cols * element bytes.
// Access: a block reads matrices of 8 KiB in total, or a single larger one, and writes them back transposed. Reads and
//         writes are in memory order, one element per access.
// Shapes: matrices that fit a block's shared memory; elements at any address.
#include "kernels/transpose/c2r.hpp"
#include "kernels/transpose/shared.cuh"

namespace gpumem::kernels {
namespace {

struct Matrices {
  int rows;
  int cols;
  int size;  // elements of a matrix
  int per_block;
  int64_t batches;
  int64_t batch_stride;
  Turn turn;
  Divisor<uint32_t> length;  // of the lines that are rotated
};

template <class T>
__global__ void __launch_bounds__(kTransposeMostThreads) in_place_kernel(T* data, const Matrices w, int64_t groups) {
  synchronize_and_trigger();
  T* shared = dynamic_shared<T>();
  const int first = static_cast<int>(threadIdx.x);
  const int step = static_cast<int>(blockDim.x);
  const Quotients<int> matrices(first, step, w.size);
  const Quotients<int> lines(first, step, w.rows);  // rows of the results, of all matrices
  for (int64_t group = blockIdx.x; group < groups; group += gridDim.x) {
    const int64_t left = w.batches - group * w.per_block;
    const int elements = (left < w.per_block ? static_cast<int>(left) : w.per_block) * w.size;
    T* base = data + group * w.per_block * w.batch_stride;
    Quotients<int> matrix = matrices;
    bring(
        shared, first, step, elements,
        [&](int) {
          const T* from = base + matrix.value * w.batch_stride + matrix.rest;
          matrix.advance();
          return from;
        },
        [](int at) { return at; });
    matrix = matrices;
    Quotients<int> line = lines;
    for (int at = first; at < elements; at += step) {
      int col = line.value - matrix.value * w.cols;
      int row = line.rest;
      if (w.turn.by != 0) {
        const auto line_of = static_cast<uint32_t>(w.turn.back ? row : col);
        const uint32_t by = line_of * static_cast<uint32_t>(w.turn.by);
        const auto turned = static_cast<int>(by - w.length.quotient(by) * w.length.value);
        if (w.turn.back) {
          col += turned;
          col -= col >= w.cols ? w.cols : 0;
        } else {
          row -= turned;
          row += row < 0 ? w.rows : 0;
        }
      }
      base[matrix.value * w.batch_stride + matrix.rest] =
          shared[in_banks<T>(matrix.value * w.size + row * w.cols + col)];
      matrix.advance();
      line.advance();
    }
    __syncthreads();
  }
}

template <class T>
LaunchResult run(const TransposeParams& params, const Config& config, const Turn& turn, const Launch& launch) {
  const int64_t size = params.rows * params.cols;
  const int64_t per_block = in_place_shared_matrices(size * sizeof(T));
  const Matrices whole{static_cast<int>(params.rows),
                       static_cast<int>(params.cols),
                       static_cast<int>(size),
                       static_cast<int>(per_block),
                       params.batches,
                       params.dst_batch_stride,
                       turn,
                       Divisor<uint32_t>(static_cast<uint32_t>(turn.back ? params.cols : params.rows))};
  const int64_t groups = tiles_along(params.batches, per_block);
  return start_shared(in_place_kernel<T>, config, groups, transpose_shared_bytes(per_block * size, sizeof(T)), launch,
                      static_cast<T*>(params.dst), whole, groups);
}

}  // namespace

LaunchResult transpose_in_place_turned(const TransposeParams& params, const Config& config, const Turn& turn,
                                       const Launch& launch) {
  return for_size(params.element_bytes, [&]<int kBytes>() {
    return aligned(params.dst, kBytes) ? run<WordOf<kBytes>>(params, config, turn, launch)
                                       : run<Bytes<kBytes>>(params, config, turn, launch);
  });
}

LaunchResult transpose_in_place_shared(const TransposeParams& params, const Config& config, const Launch& launch) {
  return transpose_in_place_turned(params, config, {}, launch);
}

}  // namespace gpumem::kernels
