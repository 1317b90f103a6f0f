// Transposes in place of matrices that are not square (c2r.hpp): a pass over the columns where the sides have a common
// divisor, one over the rows and one over the columns, each 2 * batches * rows * cols * element bytes; elements at any address.
// A row, read and written along memory, and a group of neighbouring columns, a sector wide or half of one, are permuted in
// shared memory where they fit there. Else so many at a time go through scratch memory that it stays in the L2 cache, which doubles
// the bytes of such a pass, though not those of the device's memory. A pass is a params of its own, so that no block needs
// another's work of the same pass.
#include <algorithm>

#include "kernels/transpose/c2r.hpp"
#include "kernels/transpose/shared.cuh"

namespace gpumem::kernels {
namespace {

constexpr int64_t kScratchRows = 256;   // rows that a block takes of columns in scratch memory
constexpr int64_t kScratchCols = 8192;  // columns that it takes of rows
constexpr int kLanes = 32;
constexpr int kWarps = kTransposeThreads / kLanes;

template <class T>
__global__ void __launch_bounds__(kTransposeMostThreads)
    rows_kernel(T* data, int64_t batch_stride, const Decomposition d, int64_t all) {
  T* shared = dynamic_shared<T>();
  const int n = static_cast<int>(d.n);
  const int first = static_cast<int>(threadIdx.x);
  const int step = static_cast<int>(blockDim.x);
  const RowPlaces<int> in_any_row(d, first, step);
  for (int64_t at = blockIdx.x; at < all; at += gridDim.x) {
    const Quotient matrix(at, d.m);
    T* row = data + matrix.quotient * batch_stride + matrix.rest * d.n;
    RowPlaces<int> places = in_any_row.in_row(matrix.rest);
    for (int begin = first; begin < n; begin += kInFlight<T> * step) {
      T in[kInFlight<T>];
#pragma unroll
      for (int k = 0; k < kInFlight<T>; ++k) {
        if (begin + k * step < n) in[k] = row[begin + k * step];
      }
#pragma unroll
      for (int k = 0; k < kInFlight<T>; ++k) {
        const int j = begin + k * step;
        if (j < n) shared[in_banks<T>(d.back ? j : places.place())] = in[k];
        if (!d.back) places.advance();
      }
    }
    __syncthreads();
    for (int j = first; j < n; j += step) {
      row[j] = shared[in_banks<T>(d.back ? places.place() : j)];
      if (d.back) places.advance();
    }
    __syncthreads();
  }
}

// Groups of 2^log2 columns.
template <class T>
__global__ void __launch_bounds__(kTransposeMostThreads)
    columns_kernel(T* data, int64_t batch_stride, const Decomposition d, bool rotation, int log2, int64_t groups,
                   int64_t all) {
  T* shared = dynamic_shared<T>();
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
    for (int begin = first; there && begin < m; begin += kInFlight<T> * step) {
      T in[kInFlight<T>];
#pragma unroll
      for (int k = 0; k < kInFlight<T>; ++k) {
        if (begin + k * step < m) in[k] = column[(begin + k * step) * d.n];
      }
#pragma unroll
      for (int k = 0; k < kInFlight<T>; ++k) {
        const int i = begin + k * step;
        if (i < m) shared[in_banks<T>(((d.back ? sources.source() : i) << log2) + lane)] = in[k];
        if (d.back) sources.advance();
      }
    }
    __syncthreads();
    for (int i = first; there && i < m; i += step) {
      column[i * d.n] = shared[in_banks<T>(((d.back ? i : sources.source()) << log2) + lane)];
      if (!d.back) sources.advance();
    }
    __syncthreads();
  }
}

// Rows [first, first + count) to scratch memory, permuted.
template <class T>
__global__ void __launch_bounds__(kTransposeThreads)
    rows_out_kernel(const T* data, T* scratch, const Decomposition d, int64_t first, int64_t chunks, int64_t all) {
  after_earlier_work();
  for (int64_t at = blockIdx.x; at < all; at += gridDim.x) {
    const Quotient chunk(at, chunks);
    const T* row = data + (first + chunk.quotient) * d.n;
    T* to = scratch + chunk.quotient * d.n;
    const int64_t begin = chunk.rest * kScratchCols + threadIdx.x;
    const int64_t end = d.n < (chunk.rest + 1) * kScratchCols ? d.n : (chunk.rest + 1) * kScratchCols;
    auto places = RowPlaces<int64_t>(d, begin, kTransposeThreads).in_row(first + chunk.quotient);
#pragma unroll 4
    for (int64_t j = begin; j < end; j += kTransposeThreads) {
      const int64_t place = places.place();
      places.advance();
      to[d.back ? j : place] = row[d.back ? place : j];
    }
  }
}

// Columns [first, first + count) to scratch memory, permuted, count to a row; or from there as they are.
template <class T, bool kOut>
__global__ void __launch_bounds__(kTransposeThreads)
    some_columns_kernel(T* data, T* scratch, const Decomposition d, bool rotation, int64_t first, int64_t count,
                        int64_t groups, int64_t all) {
  after_earlier_work();
  const int warp = static_cast<int>(threadIdx.x) / kLanes;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  for (int64_t at = blockIdx.x; at < all; at += gridDim.x) {
    const Quotient part(at, groups);
    const int64_t w = part.rest * kLanes + lane;
    if (w >= count) continue;
    const int64_t begin = part.quotient * kScratchRows + warp;
    const int64_t end = d.m < (part.quotient + 1) * kScratchRows ? d.m : (part.quotient + 1) * kScratchRows;
    T* column = data + first + w;
    if (!kOut) {
#pragma unroll 4
      for (int64_t i = begin; i < end; i += kWarps) column[i * d.n] = scratch[i * count + w];
      continue;
    }
    auto sources = ColumnSources<int64_t>(d, rotation, begin, kWarps).in_column(d, rotation, first + w);
#pragma unroll 4
    for (int64_t i = begin; i < end; i += kWarps) {
      const int64_t source = sources.source();
      sources.advance();
      scratch[(d.back ? source : i) * count + w] = column[(d.back ? i : source) * d.n];
    }
  }
}

// How the passes go. Sizes are in elements.
struct Ways {
  Decomposition d;
  bool rows_fit;
  int columns_log2;         // columns of a group that fits into shared memory; -1: none does
  int64_t scratch_rows;     // rows at a time
  int64_t scratch_columns;  // columns at a time

  Ways(const TransposeParams& params, const LaunchShape& shape)
      : d(params.rows, params.cols),
        rows_fit(transpose_shared_bytes(d.n, params.element_bytes) <= shape.shared_bytes),
        columns_log2(log2_of_columns(params.element_bytes, shape.shared_bytes)),
        scratch_rows(rows_fit ? 0
                              : std::clamp<int64_t>(kTransposeScratchBytes / params.element_bytes / d.n, 1, d.m / 2)),
        scratch_columns(columns_log2 >= 0 ? 0 : columns_of_scratch(params.element_bytes)) {}

  int64_t scratch() const { return std::max(scratch_rows * d.n, scratch_columns * d.m); }

 private:
  // A sector, or half of one where that makes them fit: neighbouring blocks then share a sector in the L2 cache. More of them
  // while several blocks fit on a multiprocessor, and while a block's threads would be idle.
  int log2_of_columns(int64_t bytes, int64_t room) const {
    const auto shared = [&](int log2) { return transpose_shared_bytes(d.m << log2, bytes); };
    int log2 = 0;
    while (bytes << log2 < 32) ++log2;
    if (shared(log2) > room && log2 > 0 && bytes << log2 > 16) --log2;
    if (shared(log2) > room) return -1;
    const auto worth_it = [&](int wider) {
      return shared(wider) <= std::min(room, bytes << wider <= 128 ? kTransposeSharedOfMany : kInPlaceSharedGroup);
    };
    while (1 << (log2 + 1) <= kTransposeThreads && worth_it(log2 + 1)) ++log2;
    return log2;
  }
  int64_t columns_of_scratch(int64_t bytes) const {
    const int64_t most = std::clamp<int64_t>(kTransposeScratchBytes / bytes / d.m, 1, d.n / 2);
    return most < kLanes ? most : most / kLanes * kLanes;
  }
};

template <class T>
class Passes {
 public:
  Passes(const TransposeParams& params, const LaunchShape& shape, void* scratch, Stream stream)
      : ways_(params, shape),
        params_(params),
        shape_(shape),
        data_(static_cast<T*>(params.dst)),
        scratch_(static_cast<T*>(scratch)),
        stream_(stream) {}

  cudaError_t run() {
    const bool back = ways_.d.back;
    const bool rotates = ways_.d.rotates();
    cudaError_t error = cudaSuccess;
    if (back || rotates) error = columns(!back);
    if (error == cudaSuccess) error = rows();
    if (error == cudaSuccess && (!back || rotates)) error = columns(back);
    return error;
  }

 private:
  static constexpr int64_t kBytes = sizeof(T);
  int64_t blocks(int64_t pieces) const { return std::min(pieces, shape_.grid); }

  cudaError_t rows() {
    const Decomposition& d = ways_.d;
    const int64_t all = params_.batches * d.m;
    if (ways_.rows_fit) {
      return start_shared(rows_kernel<T>, shape_, all, transpose_shared_bytes(d.n, kBytes), stream_, data_,
                          params_.dst_batch_stride, d, all);
    }
    const int64_t chunks = tiles_along(d.n, kScratchCols);
    return for_each_part(d.m, ways_.scratch_rows, [&](T* data, int64_t first, int64_t count) {
      const int64_t pieces = count * chunks;
      const cudaError_t error =
          start(rows_out_kernel<T>, blocks(pieces), stream_, data, scratch_, d, first, chunks, pieces);
      if (error != cudaSuccess) return error;
      return cudaMemcpyAsync(data + first * d.n, scratch_, static_cast<size_t>(count * d.n * kBytes),
                             cudaMemcpyDeviceToDevice, stream_);
    });
  }

  cudaError_t columns(bool rotation) {
    const Decomposition& d = ways_.d;
    if (ways_.columns_log2 >= 0) {
      const int64_t width = int64_t{1} << ways_.columns_log2;
      const int64_t groups = tiles_along(d.n, width);
      const int64_t all = groups * params_.batches;
      return start_shared(columns_kernel<T>, shape_, all, transpose_shared_bytes(width * d.m, kBytes), stream_, data_,
                          params_.dst_batch_stride, d, rotation, ways_.columns_log2, groups, all);
    }
    return for_each_part(d.n, ways_.scratch_columns, [&](T* data, int64_t first, int64_t count) {
      const int64_t groups = tiles_along(count, kLanes);
      const int64_t all = groups * tiles_along(d.m, kScratchRows);
      const cudaError_t error = start(some_columns_kernel<T, true>, blocks(all), stream_, data, scratch_, d, rotation,
                                      first, count, groups, all);
      if (error != cudaSuccess) return error;
      return start(some_columns_kernel<T, false>, blocks(all), stream_, data, scratch_, d, rotation, first, count,
                   groups, all);
    });
  }

  // Calls f(matrix, first, count) for the parts of each matrix that go through scratch memory, one after the other.
  template <class F>
  cudaError_t for_each_part(int64_t lines, int64_t at_once, const F& f) {
    for (int64_t batch = 0; batch < params_.batches; ++batch) {
      for (int64_t first = 0; first < lines; first += at_once) {
        const cudaError_t error = f(data_ + batch * params_.dst_batch_stride, first, std::min(at_once, lines - first));
        if (error != cudaSuccess) return error;
      }
    }
    return cudaSuccess;
  }

  Ways ways_;
  TransposeParams params_;
  LaunchShape shape_;
  T* data_;
  T* scratch_;
  Stream stream_;
};

}  // namespace

int64_t transpose_in_place_c2r_scratch(const TransposeParams& params, const LaunchShape& shape) {
  return Ways(params, shape).scratch() * params.element_bytes;
}

cudaError_t transpose_in_place_c2r(const TransposeParams& params, const LaunchShape& shape, void* scratch,
                                   Stream stream) {
  return for_size(params.element_bytes, [&]<int kBytes>() {
    return aligned(params.dst, kBytes) ? Passes<WordOf<kBytes>>(params, shape, scratch, stream).run()
                                       : Passes<Bytes<kBytes>>(params, shape, scratch, stream).run();
  });
}

}  // namespace gpumem::kernels
