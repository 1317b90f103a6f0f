// Columns of row-major matrices, each in the reproducible order: x is read once, a few neighbouring columns a thread, and one
// value a column is written. A block takes 16 threads' columns; its 16 rows of threads share the lanes of a leaf among them
// (thread row t has lanes t, t + 16, ...), so neighbouring rows are read together and every thread folds a subtree. Grid: x
// blocks of columns, matrix after matrix; y aligned runs of 2^k leaves, folded by the last block of each column block.
#include "kernels/reduce/bundles.cuh"

namespace gpumem::kernels {
namespace {

constexpr int kSide = kColumnSide;
constexpr int kLanesEach = kLeafLanes / kSide;  // lanes of a leaf a thread has

// A thread's place: its first column and how many are there.
template <class Entry>
struct Columns {
  static constexpr int kCount = Bundle<Entry::kBytes>::kCount;
  const char* x;  // row 0 of the first column
  int64_t pitch;  // bytes from row to row
  int64_t rows;
  int64_t there;  // columns; more than kCount count as kCount
  bool words;     // they can be loaded as one word
  int64_t first_line;

  __device__ explicit Columns(const ReduceLaunch& launch) {
    const Lines& lines = launch.lines;
    const int64_t across = (lines.per_batch + kSide * kCount - 1) / (kSide * kCount);
    const int64_t batch = blockIdx.x / across;
    const int64_t column = (blockIdx.x - batch * across) * kSide * kCount + threadIdx.x * kCount;
    x = static_cast<const char*>(launch.x) + (batch * lines.batch_stride + column) * Entry::kBytes;
    pitch = lines.stride * Entry::kBytes;
    rows = lines.length;
    there = lines.per_batch - column;
    constexpr int kWord = Bundle<Entry::kBytes>::kWordBytes;
    words = there >= kCount && reinterpret_cast<uintptr_t>(x) % kWord == 0 && pitch % kWord == 0;
    first_line = batch * lines.per_batch + column;
  }
};

template <class Entry>
struct Subtree {
  static constexpr int kCount = Columns<Entry>::kCount;
  typename Entry::Light light[kCount];
};

template <class Entry>
__device__ __forceinline__ void add(Subtree<Entry>& a, const Subtree<Entry>& b) {
#pragma unroll
  for (int k = 0; k < Subtree<Entry>::kCount; ++k) a.light[k] = added<Entry>(a.light[k], b.light[k]);
}

template <class Entry>
__device__ __forceinline__ void enter(const Entry& entry, Subtree<Entry>& sum, const Bundle<Entry::kBytes>& bundle) {
#pragma unroll
  for (int k = 0; k < Subtree<Entry>::kCount; ++k) entry.enter(sum.light[k], bundle.element[k]);
}

// A leaf's lanes t, t + 16, ..., all at once, so that the rows are read in the order in which they lie; `row` is lane t's first.
// What may be added in any order is one sum.
template <class Entry>
__device__ __forceinline__ Subtree<Entry> subtree(const Entry& entry, const Columns<Entry>& columns, int64_t row) {
  constexpr int kSums = is_ordered<Entry> ? kLanesEach : 1;
  Subtree<Entry> sum[kSums];
  const char* p = columns.x + row * columns.pitch;
  const auto left = static_cast<int>(columns.rows - row < kLeafTerms ? columns.rows - row : kLeafTerms);
  if (columns.words) {
#pragma unroll
    for (int r = 0; r < kLeafRows; ++r) {
      Bundle<Entry::kBytes> bundle[kLanesEach];
#pragma unroll
      for (int i = 0; i < kLanesEach; ++i) {
        const int at = r * kLeafLanes + i * kSide;
        if (at < left) bundle[i].load_word(p + at * columns.pitch);
      }
#pragma unroll
      for (int i = 0; i < kLanesEach; ++i) {
        if (r * kLeafLanes + i * kSide < left) enter(entry, sum[i % kSums], bundle[i]);
      }
    }
  } else {
#pragma unroll 1
    for (int r = 0; r < kLeafRows; ++r) {
#pragma unroll
      for (int i = 0; i < kLanesEach; ++i) {
        const int at = r * kLeafLanes + i * kSide;
        if (at >= left) break;
        Bundle<Entry::kBytes> bundle;
        bundle.load_elements(p + at * columns.pitch, columns.there);
        enter(entry, sum[i % kSums], bundle);
      }
    }
  }
#pragma unroll
  for (int half = kSums / 2; half > 0; half /= 2) {
#pragma unroll
    for (int i = 0; i < half; ++i) add(sum[i], sum[i + half]);
  }
  return sum[0];
}

template <class Entry>
__global__ void __launch_bounds__(kSide* kSide, 2) columns_kernel(const __grid_constant__ ReduceLaunch launch) {
  using Node = typename Entry::Node;
  constexpr int kCount = Columns<Entry>::kCount;
  constexpr int kWidth = kSide * kCount;
  __shared__ Node shared[kSide][kWidth];
  const Entry entry(launch);
  const Columns<Entry> columns(launch);
  const int t = threadIdx.y;
  const int c = threadIdx.x * kCount;
  const int64_t all = (columns.rows + kLeafTerms - 1) / kLeafTerms;
  const int64_t tile = gridDim.y == 1 ? all : launch.tile / kLeafTerms;
  const int64_t first = blockIdx.y * tile;
  const int64_t last = first + tile < all ? first + tile : all;

  // Column t of a thread's columns is in the hands of row t of threads, whose stack it waits in while the others read on.
  TreeStack<Node, 28> stack;
  for (int64_t q = first; q < last; ++q) {
    const Subtree<Entry> mine = subtree(entry, columns, q * kLeafTerms + t);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kCount; ++k) shared[t][c + k] = entry.heavy(mine.light[k]);
    for (int half = kSide / 2; half > 0; half /= 2) {
      __syncthreads();
      if (t < half) {
#pragma unroll
        for (int k = 0; k < kCount; ++k) shared[t][c + k] = combine(shared[t][c + k], shared[t + half][c + k]);
      }
    }
    __syncthreads();
    if (t < kCount && last - first > 1) stack.push(shared[0][c + t]);
  }
  const auto of_block = [&] { return last - first == 1 ? shared[0][c + t] : stack.whole(); };
  const auto finish = [&](const Node& node) {
    if (t < columns.there) finish_sound_line(launch, columns.first_line + t, columns.rows, node);
  };
  if (gridDim.y == 1) {
    if (t < kCount) finish(of_block());
    return;
  }

  Node* nodes = static_cast<Node*>(launch.scratch.nodes) + int64_t{blockIdx.x} * gridDim.y * kWidth;
  if (t < kCount) store_node(nodes + blockIdx.y * kWidth + c + t, of_block());
  __syncthreads();
  __shared__ bool is_last;
  if (threadIdx.x == 0 && t == 0) {
    __threadfence();
    is_last = atomicInc(launch.scratch.counters + blockIdx.x, gridDim.y - 1) == gridDim.y - 1;
    __threadfence();
  }
  __syncthreads();
  if (!is_last) return;
  int64_t run = 1;
  while (run * kSide < gridDim.y) run *= 2;
  const int64_t begin = t * run;
  const int64_t end = begin + run < gridDim.y ? begin + run : gridDim.y;
#pragma unroll
  for (int k = 0; k < kCount; ++k) {
    const auto load = [&](int64_t i) { return load_node(nodes + i * kWidth + c + k); };
    if (run <= 16) {
      shared[t][c + k] = combine(eight_tree<Node>(load, begin, end), eight_tree<Node>(load, begin + 8, end));
    } else {
      TreeStack<Node, 16> of_run;
      for (int64_t at = begin; at < end; at += 8) of_run.push(eight_tree<Node>(load, at, end));
      shared[t][c + k] = of_run.whole();
    }
  }
  for (int distance = 1; distance < kSide; distance *= 2) {
    __syncthreads();
    if (t % (2 * distance) == 0) {
      for (int k = 0; k < kCount; ++k) shared[t][c + k] = combine(shared[t][c + k], shared[t + distance][c + k]);
    }
  }
  __syncthreads();
  if (t < kCount) finish(shared[0][c + t]);
}

}  // namespace

cudaError_t reduce_columns(const ReduceLaunch& launch, Stream stream) {
  return for_entry(launch.dtype, launch.op, [&]<class Entry>() {
    constexpr int64_t kWidth = kSide * Columns<Entry>::kCount;
    const int64_t across = (launch.lines.per_batch + kWidth - 1) / kWidth;
    const int64_t batches = launch.lines.count / launch.lines.per_batch;
    const dim3 grid(static_cast<unsigned>(across * batches), static_cast<unsigned>(launch.blocks_per_line));
    return enqueue(columns_kernel<Entry>, grid, dim3(kSide, kSide), stream, launch);
  });
}

}  // namespace gpumem::kernels
