// Columns of row-major matrices, each in the reproducible order: x is read once, a few neighbouring columns a thread, and one
// value a column is written. A block takes 16 threads' columns; its 16 rows of threads share the lanes of a leaf among them
// (thread row t has lanes t, t + 16, ...), so neighbouring rows are read together and every thread folds a subtree. Grid: x
// blocks of columns, matrix after matrix; y aligned runs of 2^k leaves, folded by the last block of each column block.
#include "kernels/reduce/bundles.cuh"

namespace gpumem::kernels {
namespace {

constexpr int kSide = kColumnSide;
constexpr int kLanesEach = kLeafLanes / kSide;  // lanes of a leaf a thread has

// The columns of a block, and a thread's place among them: its row of threads and its first column.
template <class Entry>
struct Columns {
  static constexpr int kCount = Bundle<Entry::kBytes>::kCount;
  static constexpr int kWidth = kSide * kCount;
  int t;
  const char* x;  // row 0 of the thread's first column
  int64_t pitch;  // bytes from row to row
  int64_t rows;
  int64_t there;       // of the thread's columns; more than kCount count as kCount
  bool words;          // they can be loaded as one word
  int64_t first_line;  // of the block
  int64_t lines;       // of the block; more than kWidth count as kWidth

  __device__ explicit Columns(const ReduceLaunch& launch) : t(threadIdx.x / kSide) {
    const LineLayout& all = launch.lines;
    const int64_t across = (all.per_batch + kWidth - 1) / kWidth;
    const int64_t batch = blockIdx.x / across;
    const int64_t of_block = (blockIdx.x - batch * across) * kWidth;
    const int64_t column = of_block + threadIdx.x % kSide * kCount;
    x = static_cast<const char*>(launch.x) + (batch * all.batch_stride + column) * Entry::kBytes;
    pitch = all.stride * Entry::kBytes;
    rows = all.length;
    there = all.per_batch - column;
    constexpr int kWord = Bundle<Entry::kBytes>::kWordBytes;
    words = there >= kCount && reinterpret_cast<uintptr_t>(x) % kWord == 0 && pitch % kWord == 0;
    first_line = batch * all.per_batch + of_block;
    lines = all.per_batch - of_block;
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

// What may be added in any order is one sum.
template <class Entry>
inline constexpr int kSums = is_ordered<Entry> ? kLanesEach : 1;

template <class Entry>
__device__ __forceinline__ Subtree<Entry> folded(Subtree<Entry> (&sum)[kSums<Entry>]) {
#pragma unroll
  for (int half = kSums<Entry> / 2; half > 0; half /= 2) {
#pragma unroll
    for (int i = 0; i < half; ++i) add(sum[i], sum[i + half]);
  }
  return sum[0];
}

// A leaf's lanes t, t + 16, ..., all at once, so that the rows are read in the order in which they lie; p is lane t's first. For a
// leaf of which all rows are there, as words.
template <class Entry>
__device__ __forceinline__ Subtree<Entry> whole_leaf(const Entry& entry, const char* p, int64_t pitch) {
  Subtree<Entry> sum[kSums<Entry>];
  const int64_t step = kSide * pitch;
#pragma unroll(is_plain_sum <Entry> ? kLeafRows : 1)
  for (int r = 0; r < kLeafRows; ++r) {
    Bundle<Entry::kBytes> bundle[kLanesEach];
#pragma unroll
    for (int i = 0; i < kLanesEach; ++i, p += step) bundle[i].load_word(p);
#pragma unroll
    for (int i = 0; i < kLanesEach; ++i) enter(entry, sum[i % kSums<Entry>], bundle[i]);
  }
  return folded<Entry>(sum);
}

// The same for any leaf q. Not inlined, and it finds its columns by itself: nothing is kept for it beside whole leaves.
template <class Entry>
__device__ __noinline__ Subtree<Entry> any_leaf(const ReduceLaunch& launch, int q) {
  const Entry entry(launch);
  const Columns<Entry> columns(launch);
  const int64_t row = int64_t{q} * kLeafTerms + columns.t;
  const int64_t left = columns.rows - row;
  const char* p = columns.x + row * columns.pitch;
  Subtree<Entry> sum[kSums<Entry>];
#pragma unroll 1
  for (int r = 0; r < kLeafRows; ++r, p += kLeafLanes * columns.pitch) {
    const auto there = [&](int i) { return r * kLeafLanes + i * kSide < left; };
    Bundle<Entry::kBytes> bundle[kLanesEach];
#pragma unroll
    for (int i = 0; i < kLanesEach; ++i) {
      const char* from = p + i * kSide * columns.pitch;
      if (columns.words && there(i)) {
        bundle[i].load_word(from);
      } else if (there(i)) {
        bundle[i].load_elements(from, columns.there);
      }
    }
#pragma unroll
    for (int i = 0; i < kLanesEach; ++i) {
      if (there(i)) enter(entry, sum[i % kSums<Entry>], bundle[i]);
    }
  }
  return folded<Entry>(sum);
}

// What the rows of threads have of each column, in shared memory; one of two, where there is room, so that a leaf can be written
// while the one before it is read.
template <class Entry>
struct Shared {
  static constexpr int kWidth = Columns<Entry>::kWidth;
  using Sums = typename Entry::Light[kSide][kWidth];
  using Nodes = typename Entry::Node[kSide][kWidth];
  static constexpr int kBuffers = 2 * sizeof(Sums) <= 40960 ? 2 : 1;
  static constexpr size_t kBytes = kBuffers * sizeof(Sums) > sizeof(Nodes) ? kBuffers * sizeof(Sums) : sizeof(Nodes);
};

// The sum of a column's leaf, of which row t of threads has lanes t, t + 16, ....
template <class Entry>
__device__ __forceinline__ typename Entry::Light fold_leaf(const typename Shared<Entry>::Sums& sums, int column) {
  typename Entry::Light lane[kSide / 2];
#pragma unroll
  for (int t = 0; t < kSide / 2; ++t) lane[t] = added<Entry>(sums[t][column], sums[t + kSide / 2][column]);
#pragma unroll
  for (int half = kSide / 4; half > 0; half /= 2) {
#pragma unroll
    for (int t = 0; t < kSide / 4; ++t) {
      if (t < half) lane[t] = added<Entry>(lane[t], lane[t + half]);
    }
  }
  return lane[0];
}

// The node of a column of which row t of threads has the t-th run.
template <class Entry>
__device__ __forceinline__ typename Entry::Node fold_runs(const typename Shared<Entry>::Nodes& nodes, int column) {
  typename Entry::Node run[kSide];
#pragma unroll
  for (int t = 0; t < kSide; ++t) run[t] = nodes[t][column];
#pragma unroll
  for (int width = 1; width < kSide; width *= 2) {
#pragma unroll
    for (int t = 0; t < kSide; t += 2 * width) run[t] = combine(run[t], run[t + width]);
  }
  return run[0];
}

// Nodes [begin, end), `apart` from each other.
template <class Node>
__device__ __forceinline__ Node run_node(const Node* nodes, int64_t apart, int64_t begin, int64_t end) {
  const auto load = [&](int64_t i) { return load_node(nodes + i * apart); };
  if (end - begin <= 8) return eight_tree<Node>(load, begin, end);
  if constexpr (sizeof(Node) == 8) {
    static_assert(kColumnNodesAtOnce == 16);
    if (end - begin <= kColumnNodesAtOnce)
      return combine(eight_tree<Node>(load, begin, end), eight_tree<Node>(load, begin + 8, end));
  }
  TreeStack<Node, 16> stack;
  for (int64_t at = begin; at < end; at += 8) stack.push(eight_tree<Node>(load, at, end));
  return stack.whole();
}

template <class Entry>
__global__ void __launch_bounds__(kSide* kSide, 2) columns_kernel(const __grid_constant__ ReduceLaunch launch) {
  using Node = typename Entry::Node;
  constexpr int kCount = Columns<Entry>::kCount;
  constexpr int kWidth = Columns<Entry>::kWidth;
  alignas(16) __shared__ unsigned char room[Shared<Entry>::kBytes];
  auto* sums = reinterpret_cast<typename Shared<Entry>::Sums*>(room);
  const Entry entry(launch);
  const Columns<Entry> columns(launch);
  const int x = threadIdx.x % kSide;
  const auto all = static_cast<int>((columns.rows + kLeafTerms - 1) / kLeafTerms);
  const auto tile = gridDim.y == 1 ? all : static_cast<int>(launch.tile / kLeafTerms);
  const int first = blockIdx.y * tile;
  const int last = min(first + tile, all);
  // Of the block: the leaves of which every thread has all rows, as words.
  const bool words = __syncthreads_and(columns.words) != 0;
  const int whole = words ? min(last, static_cast<int>(columns.rows / kLeafTerms)) : first;

  // The first threads fold a leaf, a column each, while the others read on.
  TreeStack<Node, 28> stack;
  int buffer = 0;
  const auto take = [&](const Subtree<Entry>& mine) {
    if (Shared<Entry>::kBuffers == 1) __syncthreads();
#pragma unroll
    for (int k = 0; k < kCount; ++k) sums[buffer][columns.t][x * kCount + k] = mine.light[k];
    __syncthreads();
    if (threadIdx.x < kWidth) stack.push(entry.heavy(fold_leaf<Entry>(sums[buffer], threadIdx.x)));
    buffer = (buffer + 1) % Shared<Entry>::kBuffers;
  };
  int q = first;
  const char* p = columns.x + (int64_t{first} * kLeafTerms + columns.t) * columns.pitch;
  for (; q < whole; ++q, p += kLeafTerms * columns.pitch) take(whole_leaf(entry, p, columns.pitch));
  for (; q < last; ++q) take(any_leaf<Entry>(launch, q));
  const bool has_line = threadIdx.x < kWidth && threadIdx.x < columns.lines;
  const auto finish = [&](const Node& node) {
    finish_sound_line(launch, columns.first_line + threadIdx.x, columns.rows, node);
  };
  if (gridDim.y == 1) {
    if (has_line) finish(stack.whole());
    return;
  }

  Node* nodes = static_cast<Node*>(launch.scratch.nodes) + int64_t{blockIdx.x} * gridDim.y * kWidth;
  if (threadIdx.x < kWidth) store_node(nodes + blockIdx.y * kWidth + threadIdx.x, stack.whole());
  __syncthreads();
  if (!is_last_block(launch.scratch.counters + blockIdx.x, gridDim.y)) return;
  int64_t run = 1;
  while (run * kSide < gridDim.y) run *= 2;
  const int64_t begin = columns.t * run;
  const int64_t end = begin + run < gridDim.y ? begin + run : gridDim.y;
  Node node[kCount];  // of columns side by side for neighbouring threads: whole sectors
#pragma unroll
  for (int k = 0; k < kCount; ++k) node[k] = run_node<Node>(nodes + x + k * kSide, kWidth, begin, end);
  auto& runs = *reinterpret_cast<typename Shared<Entry>::Nodes*>(room);
#pragma unroll
  for (int k = 0; k < kCount; ++k) runs[columns.t][x + k * kSide] = node[k];
  __syncthreads();
  if (has_line) finish(fold_runs<Entry>(runs, threadIdx.x));
}

}  // namespace

cudaError_t reduce_columns(const ReduceLaunch& launch, Stream stream) {
  return for_entry(launch.dtype, launch.op, [&]<class Entry>() {
    constexpr int64_t kWidth = Columns<Entry>::kWidth;
    const int64_t across = (launch.lines.per_batch + kWidth - 1) / kWidth;
    const int64_t batches = launch.lines.count / launch.lines.per_batch;
    const dim3 grid(static_cast<unsigned>(across * batches), static_cast<unsigned>(launch.blocks_per_line));
    return enqueue(columns_kernel<Entry>, grid, dim3(kSide * kSide), stream, launch);
  });
}

}  // namespace gpumem::kernels
