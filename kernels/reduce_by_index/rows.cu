// Sums of rows of floating-point elements by bin, with the bits of a reduction of each column (kernels/order.hpp).
// Moves: reads the numbers of the rows once per 32 columns, and x once. Writes one value per bin and column.
// Access: neighbouring threads take neighbouring columns of a row. Rows have any order in memory.
//         few_rows: a thread has a column of a bin. It takes the lanes of the fold in the order in which it adds them, so
//         that it keeps one sum per step.
//         many_rows: 16 warps have 1024 rows of a bin, and 32 columns. Each warp has 8 lanes of the fold. A second kernel
//         adds the sums of these blocks.
// Shapes: sums of any rows. A thread has up to 512 rows, and a bin with more is divided.
// H200: 2^20 rows of 32 f32 in 10,000 bins 152 us, which is 1.6 of PyTorch's atomics. The sort takes about 60 of it.
#include "kernels/reduce_by_index/rows.hpp"

#include "kernels/convert/element.hpp"
#include "kernels/enqueue.cuh"
#include "kernels/limits.hpp"
#include "kernels/order.hpp"
#include "kernels/reduce_by_index/tree.cuh"

namespace gpumem::kernels {
namespace {

constexpr int kThreads = 256;
constexpr int kTogether = 8;  // lanes that a thread has at a time
constexpr int kTiny = 2;      // rows
constexpr int kWarps = kLeafLanes / kTogether;
constexpr int kSteps = 4;  // of the fold, for kWarps sums
constexpr unsigned kLongBlocks = 1024;

// The sum of kLanes lanes of the fold: first, first + step, and so on. x: a column of the first row in memory.
template <int kLanes = kTogether, class T>
__device__ __forceinline__ double sum_lanes(const T* x, int64_t ld, const uint32_t* rows, int count, int first,
                                            int step) {
  double lane[kLanes] = {};
#pragma unroll 1
  for (int row = first; row < count; row += kLeafLanes) {
    uint32_t number[kLanes];
    T element[kLanes] = {};
#pragma unroll
    for (int k = 0; k < kLanes; ++k) number[k] = row + k * step < count ? rows[row + k * step] : 0;
#pragma unroll
    for (int k = 0; k < kLanes; ++k) {
      if (row + k * step < count) element[k] = x[number[k] * ld];
    }
#pragma unroll
    for (int k = 0; k < kLanes; ++k) lane[k] += converted<double>(element[k]);
  }
#pragma unroll
  for (int half = kLanes / 2; half > 0; half /= 2) {
#pragma unroll
    for (int k = 0; k < half; ++k) lane[k] += lane[k + half];
  }
  return lane[0];
}

// Of up to 1024 rows. No sum is -0, so lanes without rows change nothing.
template <class T>
__device__ __forceinline__ double sum_of_few(const T* x, int64_t ld, const uint32_t* rows, int count) {
  if (count <= kTiny) return sum_lanes<kTiny>(x, ld, rows, count, 0, 1);
  int bits = 0;  // there are kTogether << bits lanes with rows, at most
  while (bits < kSteps && kTogether << bits < count) ++bits;
  double sums[kSteps] = {};  // of halves that wait for the other one
  double sum = 0;
#pragma unroll 1
  for (unsigned i = 0; i < 1u << bits; ++i) {
    const auto first = static_cast<int>(bits == 0 ? 0 : __brev(i) >> (32 - bits));
    sum = add_to_tree(sums, i, sum_lanes(x, ld, rows, count, first, 1 << bits));
  }
  return sum;
}

template <class T>
__global__ void __launch_bounds__(kThreads, resident_blocks(3, kThreads)) few_rows(const __grid_constant__ RowSums s) {
  synchronize_and_trigger();
  if (s.head->bad != 0) return;
  const int64_t all = s.bins * s.cols;
  const int64_t step = int64_t{gridDim.x} * kThreads;
  for (int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x; i < all; i += step) {
    const auto bin = static_cast<int64_t>(s.by_cols.quotient(static_cast<uint64_t>(i)));
    const int64_t col = i - bin * s.cols;
    const int64_t first = s.offsets[bin];
    const int64_t count = s.offsets[bin + 1] - first;
    if (count <= kRowsOfThread) {
      const double sum = sum_of_few(static_cast<const T*>(s.x) + col, s.ld, s.rows + first, static_cast<int>(count));
      s.result[i] = canonical(sum);
    } else if (col == 0) {
      const int64_t blocks = ceil_div(count, int64_t{kLeafTerms});
      auto at = static_cast<int64_t>(atomicAdd(&s.head->row_blocks, static_cast<unsigned long long>(blocks)));
      for (int64_t number = 0; number < blocks; ++number, ++at) s.blocks[at] = {bin, number};
    }
  }
}

// The fold of a column's sums of all warps. sums: by warps and lanes.
__device__ __forceinline__ double fold_warps(double (*sums)[32], double sum) {
  const auto warp = static_cast<int>(threadIdx.x / 32);
  const auto lane = static_cast<int>(threadIdx.x % 32);
#pragma unroll 1
  for (int half = kWarps / 2; half > 0; half /= 2) {
    if (warp >= half) sums[warp][lane] = sum;
    __syncthreads();
    if (warp < half) sum += sums[warp + half][lane];
    __syncthreads();
  }
  return sum;
}

template <class T>
__global__ void __launch_bounds__(kWarps * 32) many_rows(const __grid_constant__ RowSums s) {
  __shared__ double sums[kWarps][32];
  synchronize_and_trigger();
  if (s.head->bad != 0) return;
  const auto warp = static_cast<int>(threadIdx.x / 32);
  const auto blocks = static_cast<int64_t>(s.head->row_blocks);
  const int64_t groups = ceil_div(s.cols, int64_t{32});
  for (int64_t i = blockIdx.x; i < blocks * groups; i += gridDim.x) {
    const Quotient q(i, groups);
    const auto [bin, number] = s.blocks[q.quotient];
    const int64_t col = q.rest * 32 + threadIdx.x % 32;
    const int64_t first = s.offsets[bin] + number * kLeafTerms;
    const int count = static_cast<int>(min(s.offsets[bin + 1] - first, int64_t{kLeafTerms}));
    double sum = 0;
    if (col < s.cols) sum = sum_lanes(static_cast<const T*>(s.x) + col, s.ld, s.rows + first, count, warp, kWarps);
    sum = fold_warps(sums, sum);
    if (warp == 0 && col < s.cols) s.sums[q.quotient * s.cols + col] = sum;
  }
}

// The sums of bins with many rows. Each warp has an aligned power of two of the blocks of a bin.
__global__ void __launch_bounds__(kWarps * 32) add_blocks(const __grid_constant__ RowSums s) {
  constexpr int kLevels = 32;
  __shared__ double sums[kWarps][32];
  synchronize_and_trigger();
  if (s.head->bad != 0) return;
  const auto warp = static_cast<int64_t>(threadIdx.x / 32);
  const auto all = static_cast<int64_t>(s.head->row_blocks);
  const int64_t groups = ceil_div(s.cols, int64_t{32});
  for (int64_t i = blockIdx.x; i < all * groups; i += gridDim.x) {
    const Quotient q(i, groups);
    const auto [bin, number] = s.blocks[q.quotient];
    if (number != 0) continue;
    const int64_t col = q.rest * 32 + threadIdx.x % 32;
    const int64_t blocks = ceil_div(s.offsets[bin + 1] - s.offsets[bin], int64_t{kLeafTerms});
    int64_t share = 1;
    while (share * kWarps < blocks) share *= 2;
    double level[kLevels] = {};  // the sums of 2^k blocks that wait for the next ones
    double sum = 0;
    for (int64_t k = 0; k < share; ++k) {
      const int64_t block = warp * share + k;
      sum = block < blocks && col < s.cols ? s.sums[(q.quotient + block) * s.cols + col] : 0;
      int at = 0;
      for (; (k >> at & 1) != 0; ++at) sum = level[at] + sum;
      level[at] = sum;
    }
    // Not in the order of the lanes: neighbours first.
    for (int distance = 1; distance < kWarps; distance *= 2) {
      sums[warp][threadIdx.x % 32] = sum;
      __syncthreads();
      if (warp % (2 * distance) == 0) sum += sums[warp + distance][threadIdx.x % 32];
      __syncthreads();
    }
    if (warp == 0 && col < s.cols) s.result[bin * s.cols + col] = canonical(sum);
  }
}

template <class T>
cudaError_t sum_rows_of(const RowSums& s, Stream stream) {
  const int64_t threads = ceil_div(s.bins * s.cols, int64_t{kThreads});
  const auto blocks = static_cast<unsigned>(threads < kMaxGrid ? threads : kMaxGrid);
  cudaError_t error = enqueue_programmatic(few_rows<T>, blocks, kThreads, stream, s);
  if (error == cudaSuccess) error = enqueue_programmatic(many_rows<T>, kLongBlocks, kWarps * 32, stream, s);
  if (error == cudaSuccess) error = enqueue_programmatic(add_blocks, kLongBlocks, kWarps * 32, stream, s);
  return error;
}

}  // namespace

LaunchResult sum_rows(const RowSums& s, Stream stream) {
  return for_floating_type(s.dtype, [&]<gpumem_dtype kType>() { return sum_rows_of<ElementOf<kType>>(s, stream); });
}

}  // namespace gpumem::kernels
