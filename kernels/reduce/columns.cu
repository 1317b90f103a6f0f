// Reductions of the columns of row-major matrices.
// Moves: reads x once, writes one value per column.
// Access: neighbouring threads read neighbouring columns of a row, then of the next row, so narrow matrices without
//         padding are read in one piece. Of each 128 rows, thread (c, y) takes y, y + side, ... of column c in several
//         passes. Words of 16 bytes are copied to shared memory ahead of the additions. The first steps of the
//         reproducible order stay in the thread, and the last ones use shared memory. A second kernel combines the
//         partial results of columns with several runs.
// Shapes: columns of more rows than few_rows.cu takes. A unit is a run of 1024-element blocks of a group of columns. A
//         thread block takes as many small units as fill it. The rows of sums may lie along two axes (kRuns).
// H200, sums of f32: 3,900 GB/s of 16384 x 4096, 3,600 of 365 x 64800, 3,100 at 129 columns (rows not aligned to
// sectors).
#include "kernels/reduce/columns.cuh"

namespace gpumem::kernels {
namespace {

// Above kThreadRuns runs per column, a column has warps instead of one thread.
constexpr int kThreadRuns = 4;
constexpr int kThreadFold = 64;

struct ColumnShape {
  int width;  // threads per row
  int side;
  int passes;
  int units;
  Divisor<uint32_t> row;   // width
  Divisor<uint32_t> unit;  // threads per unit
  int64_t all;
  int64_t nodes;  // per run
  Divisor<uint64_t> runs;
  Divisor<uint64_t> groups;
  int fold_warps;  // per column, in the second kernel
  Divisor<uint32_t> run;
};

template <class Term, int kColumns>
struct ColumnPlace {
  int y;  // index among the column's threads; `side` for a thread without work, which combines nothing
  int64_t run;
  int64_t batch;
  int64_t first_column;
  bool exists;
  const char* x;  // row 0
  int64_t begin;  // rows of the run
  int64_t end;

  __device__ __forceinline__ ColumnPlace(const ColumnShape& shape, const ReduceLaunch& launch) {
    const LineLayout& lines = launch.lines;
    const auto of_block = static_cast<int>(shape.unit.quotient(threadIdx.x));
    const int t = static_cast<int>(threadIdx.x) - of_block * static_cast<int>(shape.unit.value);
    const bool has_unit = of_block < shape.units;
    const auto row = static_cast<int>(shape.row.quotient(static_cast<uint32_t>(t)));
    y = has_unit ? row : shape.side;
    const int column = t - row * shape.width;
    const uint64_t unit = uint64_t{blockIdx.x} * shape.units + of_block;
    const uint64_t above = shape.runs.value == 1 ? unit : shape.runs.quotient(unit);
    run = static_cast<int64_t>(unit - above * shape.runs.value);
    batch = static_cast<int64_t>(shape.groups.value == 1 ? above : shape.groups.quotient(above));
    const int64_t group = static_cast<int64_t>(above) - batch * static_cast<int64_t>(shape.groups.value);
    first_column = (group * shape.width + column) * Columns<Term, kColumns>::kCount;
    exists = has_unit && static_cast<int64_t>(unit) < shape.all && first_column < lines.per_batch;
    x = static_cast<const char*>(launch.x) + (batch * lines.batch_stride + first_column * lines.pitch) * Term::kBytes;
    begin = run * launch.tile;
    end = exists ? (begin + launch.tile < lines.length ? begin + launch.tile : lines.length) : begin;
  }
};

// A thread's rows of one 1024-element block: n rows from row `at` on, kRows at a time, in shape.passes passes.
template <class Term, int kColumns, int kRows, bool kRuns>
struct LeafRows {
  using Partial = typename Term::Partial;
  using C = Columns<Term, kColumns>;
  using R = Rows<Term, kColumns, kRows>;
  using Passes = PassFold<Partial, C::kCount, kRows>;

  const Term& term;
  const ColumnShape& shape;
  const ColumnRows<kRuns>& column;
  int64_t at;
  int y;
  int n;
  int apart;  // threads and passes that share the rows

  __device__ __forceinline__ int first_of(int pass) const { return y + Passes::place(pass, shape.passes) * shape.side; }
  __device__ __forceinline__ auto place(int from) const { return column.from(at + from, apart); }
  __device__ __forceinline__ void end_pass(Passes& passes, int pass, R& rows, Partial (&partial)[C::kCount]) const {
    rows.fold();
#pragma unroll
    for (int k = 0; k < C::kCount; ++k) partial[k] = rows.sum[0].of[k];
    if (shape.passes > 1) passes.enter(pass, partial);
  }

  // The next rows of a thread, across passes.
  struct Next {
    int from;
    int pass = 0;
    __device__ __forceinline__ void step(const LeafRows& leaf) {
      from += kRows * leaf.apart;
      if (from >= leaf.n) from = leaf.first_of(++pass);
    }
  };

  // Loads the next rows before it adds up the current ones.
  __device__ __forceinline__ void add_ahead(Partial (&partial)[C::kCount]) const {
    Passes passes;
    const int chunk = kRows * apart;
    int from = y;
    const char* p = column.at(at + from);
    const auto here = [&](int i) { return p + i * (apart * column.pitch); };
    C next[kRows];
    R::load(next, here, from, apart, n);
    R rows;
    for (int pass = 0; pass < shape.passes;) {
      C row[kRows];
#pragma unroll
      for (int i = 0; i < kRows; ++i) row[i] = next[i];
      const int first = from;
      const int of_pass = pass;
      from += chunk;
      p += chunk * column.pitch;
      if (from >= n) {
        from = first_of(++pass);
        p = column.at(at + from);
      }
      if (pass < shape.passes) R::load(next, here, from, apart, n);
      rows.add(term, row, first, apart, n);
      if (pass == of_pass) continue;
      end_pass(passes, of_pass, rows, partial);
      rows = {};
    }
  }

  // Copies the next rows to the thread's own places in shared memory, several steps ahead of the additions.
  template <int kStages>
  __device__ __forceinline__ void add_staged(C (&staged)[kStages][kRows][C::kThreads],
                                             Partial (&partial)[C::kCount]) const {
    Passes passes;
    Next next{y};
    const auto copy = [&](int stage) {
      if (next.pass < shape.passes) R::copy(staged[stage], place(next.from), next.from, apart, n);
      __pipeline_commit();
      next.step(*this);
    };
#pragma unroll
    for (int i = 0; i < kStages; ++i) copy(i);
    R rows;
    int stage = 0;
    for (Next here{y}; here.pass < shape.passes;) {
      __pipeline_wait_prior(kStages - 1);
      C row[kRows];
#pragma unroll
      for (int i = 0; i < kRows; ++i) row[i] = staged[stage][i][threadIdx.x];
      rows.add(term, row, here.from, apart, n);
      copy(stage);
      stage = stage + 1 == kStages ? 0 : stage + 1;
      const int pass = here.pass;
      here.step(*this);
      if (pass == here.pass) continue;
      end_pass(passes, pass, rows, partial);
      rows = {};
    }
    __pipeline_wait_prior(0);
  }

  __device__ __forceinline__ void add(Partial (&partial)[C::kCount]) const {
    Passes passes;
    const int chunk = kRows * apart;
    for (int pass = 0; pass < shape.passes; ++pass) {
      R rows;
      int from = first_of(pass);
#pragma unroll 2
      for (; R::full(from, apart, n); from += chunk) rows.template enter<true>(term, place(from), from, apart, n);
      if (from < n) rows.template enter<false>(term, place(from), from, apart, n);
      end_pass(passes, pass, rows, partial);
    }
  }
};

// Combines the partial results of a column's threads. Thread y == 0 gets the whole.
template <class Partial, int kCount>
__device__ __forceinline__ void fold_sides(const ColumnShape& shape, int y, Partial* shared,
                                           Partial (&partial)[kCount]) {
  for (int half = shape.side / 2; half > 0; half /= 2) {
    if (y >= half && y < 2 * half) {
#pragma unroll
      for (int k = 0; k < kCount; ++k) shared[threadIdx.x * kCount + k] = partial[k];
    }
    __syncthreads();
    if (y < half) {
#pragma unroll
      for (int k = 0; k < kCount; ++k) {
        partial[k] = combine(partial[k], shared[(threadIdx.x + half * shape.width) * kCount + k]);
      }
    }
  }
  if (shape.side > 1) __syncthreads();
}

// kRows: rows per pass, of each 128 (fewer if columns are shorter).
template <class Term, int kColumns, int kRows, bool kRuns>
__global__ void __launch_bounds__(Columns<Term, kColumns>::kThreads, Columns<Term, kColumns>::kBlocks)
    columns_kernel(const ColumnShape shape, const __grid_constant__ ReduceLaunch launch) {
  using C = Columns<Term, kColumns>;
  using Node = typename Term::Node;
  using Partial = typename Term::Partial;
  constexpr int kCount = C::kCount;
  begin_lines(launch);
  __shared__ Partial shared[C::kThreads * kCount];
  const Term term(launch.dtype, launch.op);
  const LineLayout& lines = launch.lines;
  const ColumnPlace<Term, kColumns> place(shape, launch);
  const ColumnRows<kRuns> column{place.x, lines.stride * Term::kBytes, lines.jump * Term::kBytes, shape.run};
  const int64_t longest = launch.tile < lines.length ? launch.tile : lines.length;
  TreeStack<Node, 28> stack[kCount];
  Node node[kCount];
  for (int64_t leaf = 0; leaf < longest; leaf += kLeafTerms) {
    const int64_t at = place.begin + leaf;
    const auto n = static_cast<int>(place.end < at ? 0 : place.end - at < kLeafTerms ? place.end - at : kLeafTerms);
    Partial partial[kCount];
    const LeafRows<Term, kColumns, kRows, kRuns> rows{term, shape, column, at, place.y, n, shape.side * shape.passes};
    if constexpr (staged_columns(Term::kBytes, kCount)) {
      __shared__ C staged[kColumnStages][kRows][C::kThreads];
      rows.add_staged(staged, partial);
    } else if constexpr (!kRuns && rows_ahead(C::kWords, Term::kBytes, Term::Node::kind, leaf_kind_of<Term>())) {
      rows.add_ahead(partial);
    } else {
      rows.add(partial);
    }
    fold_sides(shape, place.y, shared, partial);
#pragma unroll
    for (int k = 0; k < kCount; ++k) node[k] = node_from<Term>(partial[k], at);
    if (longest <= kLeafTerms || place.y != 0) continue;
#pragma unroll
    for (int k = 0; k < kCount; ++k) {
      if (at < place.end) stack[k].push(node[k]);
    }
  }
  const bool owns = place.exists && place.y == 0;
  const int64_t line = place.batch * lines.per_batch + place.first_column;
#pragma unroll
  for (int k = 0; k < kCount; ++k) {
    if (longest > kLeafTerms) node[k] = stack[k].whole();
    if (!owns || place.first_column + k >= lines.per_batch) continue;
    if (shape.runs.value == 1) {
      finish<Term, false>(launch, line + k, {nullptr, nullptr, lines.length, true}, node[k]);
    } else {
      store_node(static_cast<Node*>(launch.scratch.nodes) + place.run * shape.nodes + line + k, node[k]);
    }
  }
}

// Combines the partial results of each column's runs. A thread block has neighbouring columns.
template <class Node>
__global__ void __launch_bounds__(1024)
    fold_columns_kernel(const ColumnShape shape, const __grid_constant__ ReduceLaunch launch) {
  synchronize_and_trigger();
  __shared__ Whole<Node> shared[1024];
  const int warps = shape.fold_warps;
  if (warps == 0) {
    const int64_t line = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const Node* nodes = static_cast<const Node*>(launch.scratch.nodes) + line;
    const auto load = [&](int64_t run) { return as_whole(load_node(nodes + run * shape.nodes)); };
    if (line < launch.lines.count) {
      finish_sound_line<0>(launch, line, launch.lines.length,
                           eight_tree<Whole<Node>>(load, 0, static_cast<int64_t>(shape.runs.value)));
    }
    return;
  }
  const int columns = 32 / warps;
  const int64_t first = int64_t{blockIdx.x} * columns;
  const int64_t line = first + threadIdx.x % columns;
  const int y = static_cast<int>(threadIdx.x) / columns;
  const Node* nodes = static_cast<const Node*>(launch.scratch.nodes) + line;
  const auto load = [&](int64_t i) { return as_whole(load_node(nodes + i * shape.nodes)); };
  shared[threadIdx.x] =
      line < launch.lines.count ? run_of<Whole<Node>>(load, y, 32 * warps, shape.runs.value) : Whole<Node>{};
  __syncthreads();
  // Transposed: each warp combines 32 partial results of one column. The column's first warp combines the rest.
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  const int column = warp / warps;
  const int part = warp - column * warps;
  Whole<Node> node = shared[(part * 32 + lane) * columns + column];
#pragma unroll 1
  for (bool of_column = warps == 1;; of_column = true) {
    node = warp_tree(node);
    if (of_column) break;
    __syncthreads();
    if (lane == 0) shared[warp] = node;
    __syncthreads();
    node = part == 0 && lane < warps ? shared[warp + lane] : Whole<Node>{};
  }
  const bool ends = lane == 0 && part == 0 && first + column < launch.lines.count;
  if (ends) finish_sound_line<0>(launch, first + column, launch.lines.length, node);
}

// Warps per column, up to 8, so that a thread has at most eight partial results. 0: one thread loads all of them.
int fold_warps(int64_t runs) {
  if (runs <= kThreadRuns) return 0;
  int warps = 1;
  while (warps < 8 && warps * 32 * 8 < runs) warps *= 2;
  return warps;
}

template <class Term, int kColumns, bool kRuns>
cudaError_t start(const ReduceLaunch& launch, Stream stream) {
  const ColumnCut& cut = launch.config->cut;
  const ColumnShape shape{static_cast<int>(cut.width),
                          static_cast<int>(cut.side),
                          static_cast<int>(cut.passes),
                          static_cast<int>(cut.units),
                          Divisor<uint32_t>(static_cast<uint32_t>(cut.width)),
                          Divisor<uint32_t>(static_cast<uint32_t>(cut.width * cut.side)),
                          cut.all,
                          launch.lines.count,
                          Divisor<uint64_t>(static_cast<uint64_t>(cut.runs)),
                          Divisor<uint64_t>(static_cast<uint64_t>(cut.groups)),
                          fold_warps(cut.runs),
                          run_of_rows(launch.lines)};
  constexpr int kRows = column_rows(kColumns, Term::kBytes, leaf_kind_of<Term>());
  const cudaError_t error =
      enqueue_programmatic(columns_kernel<Term, kColumns, kRows, kRuns>, static_cast<unsigned>(launch.grid),
                           launch.block, stream, shape, launch);
  if (error != cudaSuccess || cut.runs == 1) return error;
  const int threads = shape.fold_warps == 0 ? kThreadFold : 1024;
  const int64_t columns = shape.fold_warps == 0 ? kThreadFold : 32 / shape.fold_warps;
  return enqueue_programmatic(fold_columns_kernel<typename Term::Node>,
                              static_cast<unsigned>((launch.lines.count + columns - 1) / columns), threads, stream,
                              shape, launch);
}

template <class Term>
constexpr bool kHasRuns = false;
template <gpumem_dtype kType, gpumem_reduce_op kOp>
constexpr bool kHasRuns<FloatElement<kType, kOp>> = columns_in_runs(kType, kOp);

template <class Term, int kColumns>
cudaError_t start_in_runs(const ReduceLaunch& launch, Stream stream) {
  if (launch.lines.jump == 0) return start<Term, kColumns, false>(launch, stream);
  if constexpr (kHasRuns<Term>) return start<Term, kColumns, true>(launch, stream);
  return cudaErrorInvalidValue;  // not planned
}

}  // namespace

LaunchResult reduce_columns(const ReduceLaunch& launch, Stream stream) {
  if (launch.config->few_rows) return reduce_few_rows(launch, stream);
  return for_line_element(launch.dtype, launch.op, [&]<class Term>() {
    constexpr int kWord = columns_of_word(Term::kBytes, false);
    if constexpr (has_column_words(Term::kBytes, leaf_kind_of<Term>())) {
      if (launch.config->words) return start_in_runs<Term, kWord>(launch, stream);
    }
    return start_in_runs<Term, 1>(launch, stream);
  });
}

}  // namespace gpumem::kernels
