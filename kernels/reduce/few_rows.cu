// Reductions of columns of few rows.
// Moves: reads x once, writes one value per column.
// Access: a thread has one column, or two (f32) or four (1 and 2 bytes) neighbouring columns, which one load reads.
// Shapes: up to 16 rows, or up to 128 if the columns occupy the device (few_rows()).
// H200: maxima of 64 x 1048576 i16 take 41 us, maxima of 8 x 33 x 262144 f32 80 us.
// Sums of 64 x 1000000 f32 take 61 us.
#include "kernels/reduce/columns.cuh"

namespace gpumem::kernels {
namespace {

// A pass takes kRows of a column's rows: consecutive ones if order does not matter. kOnce: one pass takes all.
template <class Term, int kColumns, int kRows, bool kOnce>
__global__ void __launch_bounds__(kFewRowsThreads, kOnce                            ? 1
                                                   : kColumns > 1 && Term::kOrdered ? 2
                                                                                    : 4)
    few_rows_kernel(const __grid_constant__ ReduceLaunch launch, const Divisor<uint64_t> per_batch, int all_passes) {
  using C = Columns<Term, kColumns>;
  using Partial = typename Term::Partial;
  begin_lines(launch);
  const LineLayout& lines = launch.lines;
  const int64_t word = int64_t{blockIdx.x} * kFewRowsThreads + threadIdx.x;
  const int64_t line = word * C::kCount;
  if (line >= lines.count) return;
  const Term term(launch.dtype, launch.op);
  const auto batch =
      lines.per_batch == lines.count ? 0 : static_cast<int64_t>(per_batch.quotient(static_cast<uint64_t>(line)));
  const int64_t place = batch * lines.batch_stride + (line - batch * lines.per_batch) * lines.pitch;
  const ColumnRows<false> column{static_cast<const char*>(launch.x) + place * Term::kBytes,
                                 lines.stride * Term::kBytes};
  const auto n = static_cast<int>(lines.length);
  Partial partial[C::kCount];
  if constexpr (!Term::kOrdered) {
    Rows<Term, kColumns, kRows> rows;
    int from = 0;
    for (; from + kRows <= n; from += kRows) {
      rows.template enter<true>(term, column.from(from, 1), from, 1, n);
    }
    if (from < n) rows.template enter<false>(term, column.from(from, 1), from, 1, n);
#pragma unroll
    for (int k = 0; k < C::kCount; ++k) partial[k] = rows.sum[0].of[k];
  } else {
    const int passes = kOnce ? 1 : all_passes;
    PassFold<Partial, C::kCount, kRows> fold;
#pragma unroll 1
    for (int pass = 0; pass < passes; ++pass) {
      const int from = kOnce ? 0 : PassFold<Partial, C::kCount, kRows>::place(pass, passes);
      Rows<Term, kColumns, kRows> rows;
      rows.template enter<false>(term, column.from(from, passes), from, passes, n);
      rows.fold();
#pragma unroll
      for (int k = 0; k < C::kCount; ++k) partial[k] = rows.sum[0].of[k];
      if (!kOnce) fold.enter(pass, partial);
    }
  }
#pragma unroll
  for (int k = 0; k < C::kCount; ++k) {
    finish<Term, false>(launch, line + k, {nullptr, nullptr, lines.length, true}, node_from<Term>(partial[k]));
  }
}

template <class Term>
cudaError_t start(const ReduceLaunch& launch, Stream stream) {
  const LineLayout& lines = launch.lines;
  const auto with = [&](auto kernel, int rows_each) {
    return enqueue_programmatic(kernel, static_cast<unsigned>(launch.grid), launch.block, stream, launch,
                                Divisor<uint64_t>(static_cast<uint64_t>(lines.per_batch)),
                                static_cast<int>(most_column_sides(lines.length, rows_each)));
  };
  if constexpr (has_column_words(Term::kBytes, leaf_kind_of<Term>())) {
    constexpr int kCount = columns_of_word(Term::kBytes, true);
    if (launch.config->words) return with(few_rows_kernel<Term, kCount, kColumnRows, false>, kColumnRows);
  }
  if (lines.length <= 4) return with(few_rows_kernel<Term, 1, 4, true>, kFewRows);
  if (lines.length <= kFewRows) return with(few_rows_kernel<Term, 1, kFewRows, true>, kFewRows);
  return with(few_rows_kernel<Term, 1, kFewRows, false>, kFewRows);
}

}  // namespace

LaunchResult reduce_few_rows(const ReduceLaunch& launch, Stream stream) {
  return for_line_element(launch.dtype, launch.op, [&]<class Term>() { return start<Term>(launch, stream); });
}

}  // namespace gpumem::kernels
