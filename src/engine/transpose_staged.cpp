// Transposes between host and device memory. The work runs where dst lies, and src comes over the link in pieces.
#include <algorithm>
#include <optional>

#include "engine/scratch.hpp"
#include "engine/staging.hpp"
#include "engine/transpose.hpp"

namespace gpumem {
namespace {

constexpr int64_t kPieceBytes = int64_t{8} << 20;
// Rows of a piece of a matrix whose rows are long: what a row of dst gets of it at a time.
constexpr int64_t kPieceRows = 128;

// Part of `whole`, in steps that leave the next one as aligned as this one.
int64_t part(int64_t wanted, int64_t whole) noexcept { return wanted >= whole ? whole : wanted / 64 * 64; }

// One piece and where it is.
struct Piece {
  int64_t batch;
  int64_t row;
  int64_t col;
  TransposePiece size;
};

template <class F>
void for_each_piece(const TransposeCall& c, const TransposePiece& largest, const F& f) {
  for (int64_t batch = 0; batch < c.batches; batch += largest.batches) {
    for (int64_t row = 0; row < c.rows; row += largest.rows) {
      for (int64_t col = 0; col < c.cols; col += largest.cols) {
        f(Piece{batch,
                row,
                col,
                {std::min(largest.batches, c.batches - batch), std::min(largest.rows, c.rows - row),
                 std::min(largest.cols, c.cols - col)}});
      }
    }
  }
}

class Staged {
 public:
  Staged(Context& context, const Plan<TransposeFamily>& planned, const TransposeCall& call)
      : context_(context), planned_(planned), call_(call) {}

  void run() {
    const Runs runs = planned_.placement.runs;
    const auto kind = runs == Runs::cuda ? GPUMEM_MEMORY_DEVICE : GPUMEM_MEMORY_PAGEABLE;
    const Scratch buffer(context_.running(runs), kind, buffer_bytes());
    for_each_piece(call_, transpose_piece(call_), [&](const Piece& piece) {
      bring(piece, buffer.get());
      transpose_piece_of(piece, buffer.get());
    });
  }

 private:
  const TransposeProblem& first() const noexcept { return planned_.problem; }
  // Matrices of a piece that differ: with a stride of 0 there is one.
  int64_t matrices(const Piece& piece) const noexcept { return call_.src_batch_stride == 0 ? 1 : piece.size.batches; }
  size_t buffer_bytes() const noexcept {
    const int64_t matrices = call_.src_batch_stride == 0 ? 1 : first().batches;
    return static_cast<size_t>(matrices * first().rows * first().src_ld * call_.element_bytes);
  }

  // Rows of several matrices follow each other in src and in the buffer where the batches leave the gap of one more row.
  void bring(const Piece& piece, void* buffer) {
    const int64_t e = call_.element_bytes;
    const auto* src = static_cast<const char*>(call_.src) +
                      (piece.batch * call_.src_batch_stride + piece.row * call_.src_ld + piece.col) * e;
    const bool rows_follow = matrices(piece) == 1 || call_.src_batch_stride == call_.rows * call_.src_ld;
    const int64_t times = rows_follow ? 1 : matrices(piece);
    const int64_t rows = rows_follow ? piece.size.rows * matrices(piece) : piece.size.rows;
    for (int64_t i = 0; i < times; ++i) {
      const Copy2dArgs args{static_cast<char*>(buffer) + i * rows * first().src_ld * e,
                            static_cast<size_t>(first().src_ld * e),
                            src + i * call_.src_batch_stride * e,
                            static_cast<size_t>(call_.src_ld * e),
                            static_cast<size_t>(piece.size.cols * e),
                            static_cast<size_t>(rows)};
      stage_rows(context_, planned_.placement.runs, args, planned_.placement.src_mixed);
    }
  }

  void transpose_piece_of(const Piece& piece, const void* buffer) {
    const Runs runs = planned_.placement.runs;
    TransposeProblem problem = first();
    Decision decision = planned_.decision;
    if (piece.size.batches != problem.batches || piece.size.rows != problem.rows || piece.size.cols != problem.cols) {
      problem.batches = piece.size.batches;
      problem.rows = piece.size.rows;
      problem.cols = piece.size.cols;
      decision = decide<TransposeFamily>(context_, problem);
    }
    auto* dst = static_cast<char*>(call_.dst) +
                (piece.batch * call_.dst_batch_stride + piece.col * call_.dst_ld + piece.row) * call_.element_bytes;
    const TransposeArgs args{decision.row,   decision.shape,  call_.element_bytes,      problem.rows,
                             problem.cols,   buffer,          problem.src_ld,           dst,
                             problem.dst_ld, problem.batches, problem.src_batch_stride, problem.dst_batch_stride};
    context_.running(runs).transpose(runs == Runs::cuda ? context_.own_stream() : nullptr, args, Until::complete);
  }

  Context& context_;
  const Plan<TransposeFamily>& planned_;
  const TransposeCall& call_;
};

}  // namespace

TransposePiece transpose_piece(const TransposeCall& c) noexcept {
  const int64_t room = kPieceBytes / c.element_bytes;
  const int64_t matrix = c.rows * c.cols;
  const bool same = c.src_batch_stride == 0;
  if (matrix <= room) return {same ? c.batches : std::min(c.batches, room / matrix), c.rows, c.cols};
  const int64_t rows = part(std::max(room / c.cols, kPieceRows), c.rows);
  return {same ? c.batches : 1, rows, part(room / rows, c.cols)};
}

TransposeProblem problem_of_piece(const TransposeProblem& whole, const TransposePiece& piece) noexcept {
  TransposeProblem p = whole;
  p.batches = piece.batches;
  p.rows = piece.rows;
  p.cols = piece.cols;
  p.src_ld = piece.cols;
  p.src_misalignment = 0;
  if (p.src_batch_stride != 0) p.src_batch_stride = piece.batches == 1 ? 0 : piece.rows * piece.cols;
  return p;
}

void transpose_staged(Context& context, const Plan<TransposeFamily>& planned, const TransposeCall& call) {
  Staged(context, planned, call).run();
}

}  // namespace gpumem
