#include <algorithm>
#include <bit>

#include "backend/host/reductions.hpp"
#include "engine/checked.hpp"
#include "engine/float_environment.hpp"
#include "kernels/order.hpp"

namespace gpumem {
namespace {

constexpr int64_t kShortestPiece = int64_t{4} * kLeafTerms;
constexpr int64_t kWorthATask = int64_t{1} << 17;  // elements
constexpr int64_t kStripBytes = 256;               // of a row: a tile of the transpose

}  // namespace

AxisReduction::AxisReduction(const HostTeam& team, HostWay way, const ReduceAxisArgs& args)
    : team_(team),
      args_(args),
      kind_(node_kind(args.dtype, args.op)),
      bytes_(element_bytes(args.dtype)),
      threads_(way.serial ? 1 : team.threads),
      rows_(args.axis == GPUMEM_AXIS_ROWS),
      lines_(args.batches * (rows_ ? args.rows : args.cols)),
      length_(rows_ ? args.cols : args.rows),
      width_(std::max<int64_t>(1, args.shape.tile)) {
  if (rows_) {
    groups_ = groups_of_matrix_ = ceil_div(lines_, width_);
  } else {
    // Whole strips, so that no two units read the same cache lines.
    strip_ = std::min(kStripBytes / bytes_, std::max<int64_t>(1, args.cols));
    width_ = ceil_div(std::min(width_, std::max<int64_t>(1, args.cols)), strip_) * strip_;
    groups_of_matrix_ = ceil_div(args.cols, width_);
    groups_ = args.batches * groups_of_matrix_;
  }
  cut_length();
  size_scratch();
  const int64_t workers = std::min<int64_t>(threads_, groups_ * pieces_);
  if (scratch_lines_ > 0 && workers > 0) {
    scratch_ = std::make_unique_for_overwrite<CacheLine[]>(static_cast<size_t>(workers * scratch_lines_));
  }
  if (pieces_ > 1) partial_.resize(static_cast<size_t>(pieces_ * lines_));
}

// A piece is an aligned run of 2^k leaves.
void AxisReduction::cut_length() noexcept {
  piece_ = length_;
  if (threads_ == 1 || groups_ == 0 || groups_ >= int64_t{2} * threads_) return;
  const int64_t wanted = std::min(ceil_div(4 * int64_t{threads_}, groups_), width_ * length_ / kWorthATask);
  if (wanted < 2) return;
  const int64_t least = std::max(kShortestPiece, ceil_div(length_, wanted));
  piece_ = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(least)));
  pieces_ = ceil_div(length_, piece_);
}

void AxisReduction::size_scratch() noexcept {
  if (rows_ || length_ == 0) return;
  constexpr int64_t kLine = sizeof(CacheLine);
  const int64_t height = std::min<int64_t>(length_, kLeafTerms);
  strip_pitch_ = (ceil_div(height * bytes_, kLine) + 1) * kLine;  // one line more: no power of two
  const auto levels = static_cast<int64_t>(std::bit_width(static_cast<uint64_t>(ceil_div(piece_, kLeafTerms))));
  levels_bytes_ = strip_ * levels * static_cast<int64_t>(sizeof(ReduceNode));
  scratch_lines_ = ceil_div(levels_bytes_, kLine) + strip_ * strip_pitch_ / kLine;
}

AxisReduction::Unit AxisReduction::unit(int64_t index) const noexcept {
  const int64_t group = index / pieces_;
  const int64_t piece = index % pieces_;
  const int64_t lines_of_matrix = rows_ ? lines_ : args_.cols;
  const int64_t matrix = group / groups_of_matrix_;
  const int64_t first = group % groups_of_matrix_ * width_;
  const int64_t last = std::min(first + width_, lines_of_matrix);
  return {matrix * lines_of_matrix + first, matrix * lines_of_matrix + last, piece, piece * piece_,
          std::min((piece + 1) * piece_, length_)};
}

gpumem_status AxisReduction::run() noexcept {
  const int64_t units = groups_ * pieces_;
  team_.parallel(std::min<int64_t>(threads_, units), [this, units](int64_t worker) {
    const DefaultFloatEnvironment environment;
    char* scratch = scratch_ ? scratch_[worker * scratch_lines_].bytes : nullptr;
    for (int64_t i = next_.fetch_add(1, std::memory_order_relaxed); i < units;
         i = next_.fetch_add(1, std::memory_order_relaxed)) {
      reduce(unit(i), scratch);
    }
  });
  if (pieces_ > 1) fold_pieces();
  return worst_.write_to(args_.status);
}

void AxisReduction::reduce(const Unit& u, char* scratch) noexcept {
  if (length_ == 0) {
    for (int64_t i = u.first_line; i < u.last_line; ++i) {
      worst_.add(write_empty(args_.dtype, args_.op, result_of(i)));
    }
  } else if (rows_) {
    for (int64_t i = u.first_line; i < u.last_line; ++i) reduce_row(i, u);
  } else {
    for (int64_t i = u.first_line; i < u.last_line; i += strip_) {
      reduce_strip(i, std::min(strip_, u.last_line - i), u, scratch);
    }
  }
}

void AxisReduction::reduce_row(int64_t row, const Unit& u) noexcept {
  const int64_t start = row / args_.rows * args_.batch_stride + row % args_.rows * args_.ld;
  const Operand elements{static_cast<const char*>(args_.x) + start * bytes_, bytes_};
  put(row, u.piece, Sequence(team_.loops, args_.dtype, args_.op, elements).node(u.first, u.last));
}

// A leaf of every column of the strip at a time is transposed into the scratch memory, and reduced there.
void AxisReduction::reduce_strip(int64_t first_column, int64_t columns, const Unit& u, char* scratch) noexcept {
  const ReduceLoop loop = team_.loops.reduce(args_.dtype, args_.op);
  const auto transpose = team_.loops.moves.transpose[std::countr_zero(static_cast<uint64_t>(bytes_))];
  auto* levels = reinterpret_cast<ReduceNode*>(scratch);
  char* buffer = scratch + ceil_div(levels_bytes_, int64_t{sizeof(CacheLine)}) * int64_t{sizeof(CacheLine)};
  const int64_t start = first_column / args_.cols * args_.batch_stride + first_column % args_.cols;
  const char* matrix = static_cast<const char*>(args_.x) + start * bytes_;
  int64_t leaves = 0;
  for (int64_t row = u.first; row < u.last; row += kLeafTerms, ++leaves) {
    const int64_t rows = std::min<int64_t>(kLeafTerms, u.last - row);
    transpose({matrix + row * args_.ld * bytes_, args_.ld, buffer, strip_pitch_ / bytes_, 0, rows, 0, columns, false});
    for (int64_t c = 0; c < columns; ++c) {
      push_node(kind_, levels + c, strip_, leaves, loop(buffer + c * strip_pitch_, nullptr, rows));
    }
  }
  for (int64_t c = 0; c < columns; ++c) put(first_column + c, u.piece, fold_nodes(kind_, levels + c, strip_, leaves));
}

void AxisReduction::put(int64_t line, int64_t piece, const ReduceNode& node) noexcept {
  if (pieces_ > 1) {
    partial_[static_cast<size_t>(piece * lines_ + line)] = node;
  } else {
    worst_.add(write_value(args_.dtype, args_.op, node, result_of(line)));
  }
}

void AxisReduction::fold_pieces() noexcept {
  const DefaultFloatEnvironment environment;
  for (int64_t line = 0; line < lines_; ++line) {
    ReduceNode levels[kTreeLevels];
    for (int64_t i = 0; i < pieces_; ++i) {
      push_node(kind_, levels, 1, i, partial_[static_cast<size_t>(i * lines_ + line)]);
    }
    worst_.add(write_value(args_.dtype, args_.op, fold_nodes(kind_, levels, 1, pieces_), result_of(line)));
  }
}

char* AxisReduction::result_of(int64_t line) const noexcept {
  return static_cast<char*>(args_.result) + line * value_words(args_.op) * static_cast<int64_t>(sizeof(uint64_t));
}

}  // namespace gpumem
