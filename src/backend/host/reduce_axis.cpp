#include <algorithm>
#include <bit>

#include "backend/host/reduce.hpp"
#include "base/checked.hpp"
#include "base/float_environment.hpp"
#include "kernels/order.hpp"

namespace gpumem {
namespace {

constexpr int64_t kShortestPiece = int64_t{4} * kLeafTerms;
constexpr int64_t kWorthATask = int64_t{1} << 17;  // elements
constexpr int64_t kRowsAtOnce = 64;                // short ones

// Longer runs of each row are prefetched better, but several strips per thread let all threads end together.
int64_t strip_columns(int64_t columns, int64_t threads) noexcept {
  constexpr int64_t kNarrow = 512;
  const int64_t wanted = threads == 1 ? columns : columns / (4 * threads);
  return std::clamp(ceil_div(wanted, kNarrow) * kNarrow, kNarrow, kStripColumns);
}

// Lines of neighbouring matrices that begin one element apart, such as windows over a vector, are columns of one
// matrix.
ReduceAxisParams windows_as_columns(ReduceAxisParams p) noexcept {
  if (p.batches < 2) return p;
  if (p.of_rows() && p.rows == 1 && p.batch_stride == 1) {
    p.axis = GPUMEM_AXIS_COLS;
    p.rows = p.cols;
    p.cols = p.ld = 1;
  }
  if (!p.of_rows() && p.batch_stride == p.cols) {
    p.cols *= p.batches;
    p.batches = 1;
  }
  return p;
}

}  // namespace

AxisReduction::AxisReduction(const HostTeam& team, HostWay way, const ReduceAxisParams& params, const Config& config)
    : team_(team),
      params_(windows_as_columns(params)),
      kind_(node_kind(params.dtype, params.op)),
      loop_(team.loops.lines(params.dtype, params.op)),
      bytes_(element_bytes(params.dtype)),
      threads_(way.serial ? 1 : team.threads),
      rows_(params_.of_rows()),
      lines_(params_.lines()),
      length_(params_.length()),
      width_(std::max<int64_t>(1, config.tile)) {
  if (rows_) {
    groups_ = groups_of_matrix_ = ceil_div(lines_, width_);
  } else {
    // Whole strips, so that no two units read the same cache lines.
    strip_ = std::min(strip_columns(lines_, threads_), std::max<int64_t>(1, params_.cols));
    width_ = ceil_div(std::min(width_, std::max<int64_t>(1, params_.cols)), strip_) * strip_;
    groups_of_matrix_ = ceil_div(params_.cols, width_);
    groups_ = params_.batches * groups_of_matrix_;
  }
  cut_length();
  size_scratch();
  const int64_t workers = std::min<int64_t>(threads_, groups_ * pieces_);
  if (scratch_lines_ > 0) {
    scratch_ = std::make_unique_for_overwrite<CacheLine[]>(static_cast<size_t>(workers * scratch_lines_));
  }
  direct_ = loop_.segments != nullptr && pieces_ == 1 && length_ <= kLeafTerms;
  if (pieces_ > 1) partial_.resize(static_cast<size_t>(pieces_ * lines_));
}

// A piece is an aligned run of 2^k 1024-element blocks.
void AxisReduction::cut_length() noexcept {
  piece_ = length_;
  if (threads_ == 1 || groups_ >= int64_t{2} * threads_) return;
  const int64_t wanted = std::min(ceil_div(4 * int64_t{threads_}, groups_), width_ * length_ / kWorthATask);
  if (wanted < 2) return;
  const int64_t least = std::max(kShortestPiece, ceil_div(length_, wanted));
  piece_ = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(least)));
  pieces_ = ceil_div(length_, piece_);
}

// Per worker on columns: subtrees of every column of a strip, the partial results of one block of each, and the loop's
// own scratch.
void AxisReduction::size_scratch() noexcept {
  if (rows_) return;
  constexpr int64_t kNode = sizeof(ReduceNode);
  const auto levels = static_cast<int64_t>(std::bit_width(static_cast<uint64_t>(ceil_div(piece_, kLeafTerms))));
  nodes_at_ = strip_ * levels * kNode;
  scratch_lines_ = (kColumnScratchBytes + nodes_at_ + strip_ * kNode) / int64_t{sizeof(CacheLine)} + 1;
}

// Avoids divisions, because batches of small matrices make many units.
AxisReduction::Unit AxisReduction::unit(int64_t index) const noexcept {
  const int64_t group = pieces_ == 1 ? index : index / pieces_;
  const int64_t piece = index - group * pieces_;
  const int64_t lines_of_matrix = rows_ ? lines_ : params_.cols;
  const int64_t matrix = groups_of_matrix_ == 1 ? group : group / groups_of_matrix_;
  const int64_t first = (group - matrix * groups_of_matrix_) * width_;
  const int64_t last = std::min(first + width_, lines_of_matrix);
  const int64_t before = matrix * lines_of_matrix;
  return {matrix, before + first, before + last, piece, piece * piece_, std::min((piece + 1) * piece_, length_)};
}

gpumem_status AxisReduction::run() noexcept {
  const int64_t units = groups_ * pieces_;
  const int64_t at_once = std::max<int64_t>(1, kWorthATask / 8 / std::max<int64_t>(1, width_ * piece_));
  team_.parallel(std::min<int64_t>(threads_, units), [this, units, at_once](int64_t worker) {
    const DefaultFloatEnvironment environment;
    char* scratch = scratch_ ? scratch_[worker * scratch_lines_].bytes : nullptr;
    for (int64_t first = 0; (first = next_.fetch_add(at_once, std::memory_order_relaxed)) < units;) {
      for (int64_t i = first; i < std::min(first + at_once, units); ++i) reduce(unit(i), scratch);
    }
  });
  if (pieces_ > 1) fold_pieces();
  return worst_.write_to(params_.status);
}

void AxisReduction::reduce(const Unit& u, char* scratch) noexcept {
  if (rows_) {
    if (length_ <= loop_.longest && params_.axes == nullptr) return reduce_short_rows(u);
    for (int64_t i = u.first_line; i < u.last_line; ++i) reduce_row(i, u);
  } else {
    for (int64_t i = u.first_line; i < u.last_line; i += strip_) {
      reduce_strip(i, std::min(strip_, u.last_line - i), u, scratch);
    }
  }
}

const char* AxisReduction::row_at(int64_t row) const noexcept {
  if (const LineAxes* const axes = params_.axes; axes != nullptr) {
    int64_t offset = 0;
    for (int32_t d = axes->kept - 1; d >= 0; --d) {
      offset += row % axes->extents[d] * axes->strides[d];
      row /= axes->extents[d];
    }
    return static_cast<const char*>(params_.x) + offset * bytes_;
  }
  const int64_t start = row / params_.rows * params_.batch_stride + row % params_.rows * params_.ld;
  return static_cast<const char*>(params_.x) + start * bytes_;
}

void AxisReduction::reduce_row(int64_t row, const Unit& u) noexcept {
  PitchedElements elements{row_at(row), bytes_};
  ReduceView view;
  if (const LineAxes* const axes = params_.axes; axes != nullptr) {
    view.rank = axes->rank - axes->kept;
    std::copy_n(axes->extents + axes->kept, view.rank, view.extents);
    elements.strides = axes->strides + axes->kept;
  }
  const Sequence sequence(team_.loops, params_.dtype, params_.op, elements, {}, false, &view);
  const ReduceNode node = sequence.node(u.first, u.last);
  put(row, 1, u.piece, &node);
}

void AxisReduction::reduce_short_rows(const Unit& u) noexcept {
  ReduceNode nodes[kRowsAtOnce];
  for (int64_t i = u.first_line; i < u.last_line;) {
    const int64_t of_matrix = params_.rows - i % params_.rows;
    const int64_t rows = std::min({direct_ ? INT64_MAX : kRowsAtOnce, u.last_line - i, of_matrix});
    loop_.rows(row_at(i), params_.ld * bytes_, rows, length_, results(i, nodes));
    if (!direct_) put(i, rows, u.piece, nodes);
    i += rows;
  }
}

void AxisReduction::reduce_strip(int64_t first_column, int64_t columns, const Unit& u, char* scratch) noexcept {
  auto* levels = reinterpret_cast<ReduceNode*>(scratch + kColumnScratchBytes);
  auto* nodes = reinterpret_cast<ReduceNode*>(scratch + kColumnScratchBytes + nodes_at_);
  const int64_t start = u.matrix * params_.batch_stride + first_column - u.matrix * params_.cols;
  const char* matrix = static_cast<const char*>(params_.x) + start * bytes_;
  const int64_t pitch = params_.ld * bytes_;
  if (direct_) return loop_.columns(matrix, pitch, length_, columns, scratch, results(first_column, nullptr));
  const bool single = u.last - u.first <= kLeafTerms;
  int64_t leaves = 0;
  for (int64_t row = u.first; row < u.last; row += kLeafTerms, ++leaves) {
    const int64_t rows = std::min<int64_t>(kLeafTerms, u.last - row);
    loop_.columns(matrix + row * pitch, pitch, rows, columns, scratch, {.nodes = nodes});
    if (kind_ == NodeKind::arg) {
      for (int64_t c = 0; c < columns; ++c) nodes[c].word[1] += static_cast<uint64_t>(row);
    }
    for (int64_t c = 0; c < columns && !single; ++c) push_node(kind_, levels + c, strip_, leaves, nodes[c]);
  }
  for (int64_t c = 0; c < columns && !single; ++c) nodes[c] = fold_nodes(kind_, levels + c, strip_, leaves);
  put(first_column, columns, u.piece, nodes);
}

LineResults AxisReduction::results(int64_t line, ReduceNode* nodes) const noexcept {
  if (!direct_) return {.nodes = nodes};
  return {.values = result_at(params_, line)};
}

gpumem_status AxisReduction::write(int64_t line, int64_t count, const ReduceNode* nodes) const noexcept {
  const auto& p = params_;
  if (kind_ != NodeKind::arg) return write_values(p.dtype, p.op, nodes, count, result_at(p, line));
  char* const values = p.result == nullptr ? nullptr : result_at(p, line);
  return write_found(p.dtype, p.op, nodes, count, values, reinterpret_cast<char*>(p.index) + line * 8);
}

void AxisReduction::put(int64_t line, int64_t count, int64_t piece, const ReduceNode* nodes) noexcept {
  if (pieces_ == 1) return worst_.add(write(line, count, nodes));
  std::copy_n(nodes, count, &partial_[static_cast<size_t>(piece * lines_ + line)]);
}

void AxisReduction::fold_pieces() noexcept {
  const DefaultFloatEnvironment environment;
  for (int64_t line = 0; line < lines_; ++line) {
    const ReduceNode node = fold_all(kind_, &partial_[static_cast<size_t>(line)], lines_, pieces_);
    worst_.add(write(line, 1, &node));
  }
}

}  // namespace gpumem
