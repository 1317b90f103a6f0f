// In-place transposes of matrices that are not square (c2r.hpp).
// Moves: 2 * batches * rows * cols * element bytes per pass. It has a pass over the rows and one over the columns, and
//         another one over the columns if the sides have a common divisor.
// Access: rows, in memory order, and groups of neighbouring columns are permuted in shared memory. A group is one
//         sector wide or half a sector. Each pass is a separate launch, so that no block needs another block's work of
//         the same pass.
// Shapes: both a row and such a group fit shared memory; elements at any address.
#include "kernels/transpose/c2r.hpp"
#include "kernels/transpose/shared.cuh"

namespace gpumem::kernels {
namespace {

template <class T>
__global__ void __launch_bounds__(kTransposeMostThreads)
    rows_kernel(T* data, int64_t batch_stride, const Decomposition d, int64_t all) {
  T* shared = dynamic_shared<T>();
  synchronize_and_trigger();
  const int n = static_cast<int>(d.n);
  const int first = static_cast<int>(threadIdx.x);
  const int step = static_cast<int>(blockDim.x);
  const RowPlaces<int> in_any_row(d, first, step);
  for (int64_t at = blockIdx.x; at < all; at += gridDim.x) {
    const Quotient matrix(at, d.m);
    T* row = data + matrix.quotient * batch_stride + matrix.rest * d.n;
    RowPlaces<int> places = in_any_row.in_row(matrix.rest);
    bring(
        shared, first, step, n, [&](int j) { return row + j; },
        [&](int j) {
          if (d.back) return j;
          const int place = places.place();
          places.advance();
          return place;
        });
    for (int j = first; j < n; j += step) {
      row[j] = shared[in_banks<T>(d.back ? places.place() : j)];
      if (d.back) places.advance();
    }
    __syncthreads();
  }
}

template <class T>
__global__ void __launch_bounds__(kTransposeMostThreads)
    columns_kernel(T* data, int64_t batch_stride, const Decomposition d, bool rotation, int log2, int64_t groups,
                   int64_t all) {
  T* shared = dynamic_shared<T>();
  synchronize_and_trigger();
  const int m = static_cast<int>(d.m);
  const int lane = static_cast<int>(threadIdx.x) & ((1 << log2) - 1);
  const int first = static_cast<int>(threadIdx.x) >> log2;
  const int step = static_cast<int>(blockDim.x) >> log2;
  const ColumnSources<int> in_any_column(d, rotation, first, step);
  for (int64_t group = blockIdx.x; group < all; group += gridDim.x) {
    const Quotient matrix(group, groups);
    const int64_t col = (matrix.rest << log2) + lane;
    const bool there = col < d.n;
    T* column = data + matrix.quotient * batch_stride + col;
    ColumnSources<int> sources = in_any_column.in_column(d, rotation, there ? col : 0);
    bring(
        shared, first, step, there ? m : 0, [&](int i) { return column + i * d.n; },
        [&](int i) {
          int row = i;
          if (d.back) {
            row = sources.source();
            sources.advance();
          }
          return (row << log2) + lane;
        });
    for (int i = first; there && i < m; i += step) {
      column[i * d.n] = shared[in_banks<T>(((d.back ? i : sources.source()) << log2) + lane)];
      if (!d.back) sources.advance();
    }
    __syncthreads();
  }
}

template <class T>
class Passes {
 public:
  Passes(const TransposeParams& params, const Config& config, const Launch& launch)
      : d_(params.rows, params.cols),
        params_(params),
        config_(config),
        data_(static_cast<T*>(params.dst)),
        launch_(launch) {}

  LaunchResult run() {
    const bool back = d_.back;
    const bool rotates = d_.rotates();
    LaunchResult error = cudaSuccess;
    if (back || rotates) error = columns(!back);
    if (error == cudaSuccess) error = rows();
    if (error == cudaSuccess && (!back || rotates)) error = columns(back);
    return error;
  }

 private:
  static constexpr int64_t kBytes = sizeof(T);

  LaunchResult rows() {
    const int64_t all = params_.batches * d_.m;
    return start_shared(rows_kernel<T>, config_, all, transpose_shared_bytes(d_.n, kBytes), launch_, data_,
                        params_.dst_batch_stride, d_, all);
  }

  LaunchResult columns(bool rotation) {
    const int log2 = c2r_columns_log2(d_.m, kBytes, config_.shared_bytes);
    const int64_t groups = tiles_along(d_.n, int64_t{1} << log2);
    const int64_t all = groups * params_.batches;
    return start_shared(columns_kernel<T>, config_, all, transpose_shared_bytes(d_.m << log2, kBytes), launch_, data_,
                        params_.dst_batch_stride, d_, rotation, log2, groups, all);
  }

  Decomposition d_;
  TransposeParams params_;
  const Config& config_;
  T* data_;
  const Launch& launch_;
};

}  // namespace

LaunchResult transpose_in_place_c2r(const TransposeParams& params, const Config& config, const Launch& launch) {
  return for_size(params.element_bytes, [&]<int kBytes>() {
    return aligned(params.dst, kBytes) ? Passes<WordOf<kBytes>>(params, config, launch).run()
                                       : Passes<Bytes<kBytes>>(params, config, launch).run();
  });
}

}  // namespace gpumem::kernels
