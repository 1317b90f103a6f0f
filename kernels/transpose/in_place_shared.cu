// Transposes in place of matrices that fit into a block's shared memory, 2 * batches * rows * cols * element bytes: a block reads as
// many matrices as make 8 KiB, or one that is larger, and writes them back transposed. Reads and writes both run along memory, an
// element an access; elements at any address.
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
};

template <class T>
__global__ void __launch_bounds__(kTransposeMostThreads) in_place_kernel(T* data, const Matrices w, int64_t groups) {
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
    for (int at = first; at < elements; at += kInFlight<T> * step) {
      T in[kInFlight<T>];
#pragma unroll
      for (int k = 0; k < kInFlight<T>; ++k) {
        if (at + k * step < elements) in[k] = base[matrix.value * w.batch_stride + matrix.rest];
        matrix.advance();
      }
#pragma unroll
      for (int k = 0; k < kInFlight<T>; ++k) {
        if (at + k * step < elements) shared[in_banks<T>(at + k * step)] = in[k];
      }
    }
    __syncthreads();
    matrix = matrices;
    Quotients<int> line = lines;
    for (int at = first; at < elements; at += step) {
      const int col = line.value - matrix.value * w.cols;
      base[matrix.value * w.batch_stride + matrix.rest] =
          shared[in_banks<T>(matrix.value * w.size + line.rest * w.cols + col)];
      matrix.advance();
      line.advance();
    }
    __syncthreads();
  }
}

template <class T>
cudaError_t run(const TransposeParams& params, const LaunchShape& shape, Stream stream) {
  const int64_t size = params.rows * params.cols;
  const int64_t per_block = in_place_shared_matrices(size * sizeof(T));
  const Matrices whole{static_cast<int>(params.rows),
                       static_cast<int>(params.cols),
                       static_cast<int>(size),
                       static_cast<int>(per_block),
                       params.batches,
                       params.dst_batch_stride};
  const int64_t groups = tiles_along(params.batches, per_block);
  return start_shared(in_place_kernel<T>, shape, groups, transpose_shared_bytes(per_block * size, sizeof(T)), stream,
                      static_cast<T*>(params.dst), whole, groups);
}

}  // namespace

cudaError_t transpose_in_place_shared(const TransposeParams& params, const LaunchShape& shape, Stream stream) {
  return for_size(params.element_bytes, [&]<int kBytes>() {
    return aligned(params.dst, kBytes) ? run<WordOf<kBytes>>(params, shape, stream)
                                       : run<Bytes<kBytes>>(params, shape, stream);
  });
}

}  // namespace gpumem::kernels
