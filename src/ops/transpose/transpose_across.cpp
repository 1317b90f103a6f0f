// Transposes between host and device memory. The device does the work. One piece crosses PCIe or NVLink, the slower
// part, while the device transposes the piece before it.
#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "base/scope_exit.hpp"
#include "memory/fences.hpp"
#include "ops/staging.hpp"
#include "ops/transpose/transpose.hpp"

namespace gpumem {
namespace {

constexpr int64_t kPieceBytes = int64_t{8} << 20;
// Rows per block of a matrix with long rows. A row of the transpose receives as many elements per block.
constexpr int64_t kPieceRows = 128;

// A multiple of 64, so the next part is as aligned as this one.
int64_t part(int64_t wanted, int64_t whole) noexcept { return wanted >= whole ? whole : wanted / 64 * 64; }

struct Submatrix {
  int64_t batch;
  int64_t row;
  int64_t col;
  TransposePiece size;
};

std::vector<Submatrix> submatrices_of(const TransposeParams& c, const TransposePiece& largest) {
  std::vector<Submatrix> pieces;
  for (int64_t batch = 0; batch < c.batches; batch += largest.batches) {
    for (int64_t row = 0; row < c.rows; row += largest.rows) {
      for (int64_t col = 0; col < c.cols; col += largest.cols) {
        pieces.push_back({batch,
                          row,
                          col,
                          {std::min(largest.batches, c.batches - batch), std::min(largest.rows, c.rows - row),
                           std::min(largest.cols, c.cols - col)}});
      }
    }
  }
  return pieces;
}

class TransposeAcross {
 public:
  TransposeAcross(Context& context, const TransposePlan& planned)
      : context_(context), device_(context.device()), planned_(planned), call_(planned.whole) {}

  void run() {
    const Placement& placement = planned_.placement;
    const std::vector<Submatrix> pieces = submatrices_of(call_, transpose_piece(call_, placement));
    // Earlier work may still be writing pageable memory, which the driver may read immediately.
    if (to_device() && placement.host_side != HostSide::locked) device_.await_order();
    Fences fences(device_);
    std::array<std::optional<Slot>, 2> slots;
    // Several pieces move on a stream of their own. Both streams finish before the buffers are freed.
    const NativeStream work = device_.own_stream();
    const NativeStream moves = pieces.size() > 1 ? device_.create_side_stream() : work;
    const ScopeExit finish([&]() noexcept {
      device_.finish_stream(work);
      if (moves == work) return;
      device_.finish_stream(moves);
      device_.destroy_stream(moves);
    });
    for (size_t i = 0; i < std::min(pieces.size(), slots.size()); ++i) slots[i].emplace(context_, buffer_bytes());
    fences.record(work)->hold(moves);  // after all earlier work
    // To the device, a piece is moved and then transposed. From the device, it is transposed and then moved.
    const NativeStream first = to_device() ? moves : work;
    const NativeStream second = to_device() ? work : moves;
    const auto begin = [&](size_t i) {
      Slot& slot = *slots[i % slots.size()];
      if (slot.free != nullptr) slot.free->hold(first);
      to_device() ? move(pieces[i], slot, first) : transpose(pieces[i], slot, first);
      slot.filled = fences.record(first);
    };
    const auto end = [&](size_t i) {
      Slot& slot = *slots[i % slots.size()];
      slot.filled->hold(second);
      to_device() ? transpose(pieces[i], slot, second) : move(pieces[i], slot, second);
      slot.free = fences.record(second);
    };
    begin(0);
    for (size_t i = 0; i < pieces.size(); ++i) {
      if (i + 1 < pieces.size()) begin(i + 1);
      end(i);
    }
    device_.synchronize(second);
  }

 private:
  struct Slot {
    Slot(Context& context, int64_t bytes) : buffer(context, ExecutionSpace::cuda, bytes) {}
    Workspace buffer;
    FencePtr filled;
    FencePtr free;
  };

  bool to_device() const noexcept { return planned_.placement.stage_src; }
  // Distinct matrices of a piece. With a stride of 0, src has one.
  int64_t matrices(const Submatrix& piece) const noexcept {
    return to_device() && call_.src_batch_stride == 0 ? 1 : piece.size.batches;
  }
  int64_t buffer_bytes() const noexcept {
    const TransposeParams& p = planned_.params;  // of the largest piece
    const int64_t matrices = to_device() && call_.src_batch_stride == 0 ? 1 : p.batches;
    return matrices * p.rows * p.cols * call_.element_bytes;
  }

  char* src_of(const Submatrix& piece) const noexcept {
    const int64_t at = piece.batch * call_.src_batch_stride + piece.row * call_.src_ld + piece.col;
    return const_cast<char*>(static_cast<const char*>(call_.src)) + at * call_.element_bytes;
  }
  char* dst_of(const Submatrix& piece) const noexcept {
    const int64_t at = piece.batch * call_.dst_batch_stride + piece.col * call_.dst_ld + piece.row;
    return static_cast<char*>(call_.dst) + at * call_.element_bytes;
  }

  // Copies between host memory and the slot's buffer, where rows and matrices have no padding.
  void move(const Submatrix& piece, const Slot& slot, NativeStream stream) {
    const int64_t e = call_.element_bytes;
    const int64_t rows = to_device() ? piece.size.rows : piece.size.cols;
    const int64_t row_bytes = (to_device() ? piece.size.cols : piece.size.rows) * e;
    const int64_t pitch = (to_device() ? call_.src_ld : call_.dst_ld) * e;
    const int64_t stride = (to_device() ? call_.src_batch_stride : call_.dst_batch_stride) * e;
    const auto block = [&](int64_t matrix, int64_t slices) {
      const CopyParams in_place{.dst = dst_of(piece) + matrix * stride,
                                .dst_pitch = pitch,
                                .dst_slice = stride,
                                .src = src_of(piece) + matrix * stride,
                                .src_pitch = pitch,
                                .src_slice = stride,
                                .row_bytes = row_bytes,
                                .rows = rows,
                                .slices = slices};
      char* const buffer = static_cast<char*>(slot.buffer.get()) + matrix * rows * row_bytes;
      return to_device() ? into(in_place, buffer) : out_of(in_place, buffer);
    };
    const auto enqueue = [&](const CopyParams& b) {
      transfer_rows(context_, stream, b, planned_.placement.host_side,
                    to_device() ? ExecutionSpace::cuda : ExecutionSpace::host, Completion::asynchronous);
    };
    if (matrices(piece) == 1 || stride >= rows * pitch) return enqueue(block(0, matrices(piece)));
    for (int64_t i = 0; i < matrices(piece); ++i) enqueue(block(i, 1));  // they overlap
  }

  void transpose(const Submatrix& piece, const Slot& slot, NativeStream stream) {
    TransposeParams params = params_of_piece(call_, piece.size, planned_.placement);
    const TransposeParams& largest = planned_.params;
    const bool as_large =
        params.batches == largest.batches && params.rows == largest.rows && params.cols == largest.cols;
    const auto selection =
        as_large ? planned_.selection : decide<TransposeFamily>(context_, planned_.placement.space, params);
    params.src = to_device() ? slot.buffer.get() : src_of(piece);
    params.dst = to_device() ? dst_of(piece) : slot.buffer.get();
    device_.launch(stream, Work<TransposeFamily>{params, selection}, Completion::asynchronous);
  }

  Context& context_;
  Backend& device_;
  const TransposePlan& planned_;
  const TransposeParams& call_;
};

}  // namespace

TransposePiece transpose_piece(const TransposeParams& c, const Placement& placement) noexcept {
  const int64_t room = kPieceBytes / c.element_bytes;
  const bool same = placement.stage_src && c.src_batch_stride == 0;
  const int64_t matrix = c.rows * c.cols;
  if (matrix <= room) return {same ? c.batches : std::min(c.batches, room / matrix), c.rows, c.cols};
  const int64_t across = placement.stage_src ? c.rows : c.cols;
  const int64_t along = placement.stage_src ? c.cols : c.rows;
  const int64_t rows = part(std::max(room / along, kPieceRows), across);
  const int64_t cols = part(room / rows, along);
  const int64_t batches = same ? c.batches : 1;
  return placement.stage_src ? TransposePiece{batches, rows, cols} : TransposePiece{batches, cols, rows};
}

TransposeParams params_of_piece(const TransposeParams& whole, const TransposePiece& piece,
                                const Placement& placement) noexcept {
  TransposeParams p = whole;
  p.batches = piece.batches;
  p.rows = piece.rows;
  p.cols = piece.cols;
  const int64_t stride = piece.batches == 1 ? 0 : piece.rows * piece.cols;
  if (placement.stage_src) {
    p.src_ld = piece.cols;
    p.src = placeholder();
    if (p.src_batch_stride != 0) p.src_batch_stride = stride;
  } else {
    p.dst_ld = piece.rows;
    p.dst = placeholder();
    p.dst_batch_stride = stride;
  }
  return p;
}

void transpose_across(Context& context, const TransposePlan& planned) { TransposeAcross(context, planned).run(); }

}  // namespace gpumem
