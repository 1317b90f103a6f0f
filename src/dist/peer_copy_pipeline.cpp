#include "dist/peer_copy_pipeline.hpp"

#include <algorithm>

#include "base/checked.hpp"
#include "base/error.hpp"
#include "ops/operand.hpp"
#include "ops/operations.hpp"
#include "ops/strides.hpp"

namespace gpumem {
namespace {

constexpr int64_t kKiB = 1024;
constexpr int64_t kMiB = 1024 * kKiB;
// H100, H200, GB/s each way: kernel 310 to 335, copy engines 355 to 390 (bench/experiments.csv). Latency: 15 us.
constexpr int64_t kWorthACopy = 4 * kMiB;
constexpr int64_t kWorthFetching = 48 * kMiB;
constexpr int64_t kLeastPart = 16 * kMiB;

}  // namespace

Crossed Crossed::part(size_t axis, int64_t first, int64_t length) const noexcept {
  Crossed part = *this;
  part.shape.extents[axis] = length;
  part.src += first * src_strides[axis] * shape.element_bytes;
  part.dst += first * dst_strides[axis] * shape.element_bytes;
  return part;
}

void Crossed::pull(Context& by) const {
  move_part(by, shape, {src, src_strides}, src_operand, {dst, dst_strides}, dst_operand, of_reader,
            Completion::asynchronous);
}

PeerCopyPipeline::Fetches::Fetches(Context& of)
    : context(of),
      copies{of.device().create_side_stream(), of.device().create_side_stream()},
      placing(of.device().create_side_stream()),
      begun(of.device()),
      arrived{MemberFence(of.device()), MemberFence(of.device())},
      left{MemberFence(of.device()), MemberFence(of.device())} {}

PeerCopyPipeline::Fetches::~Fetches() {
  for (const NativeStream stream : streams()) {
    context.device().finish_stream(stream);
    context.device().destroy_stream(stream);
  }
}

char* PeerCopyPipeline::Fetches::buffer_of(size_t part) const noexcept {
  return static_cast<char*>(block->get()) + static_cast<int64_t>(part % kBuffers) * buffer_bytes;
}

void PeerCopyPipeline::Fetches::end() noexcept {
  beside.reset();
  parts.clear();
  block.reset();
  buffer_bytes = bytes = bytes_beside = 0;
}

PeerCopyPipeline::~PeerCopyPipeline() { abandon(); }

PeerCopyPipeline::Fetches& PeerCopyPipeline::fetches_of(size_t member) {
  fetches_.resize(group_.contexts.size());
  std::unique_ptr<Fetches>& fetches = fetches_[member];
  if (fetches == nullptr) fetches = std::make_unique<Fetches>(*group_.contexts[member]);
  return *fetches;
}

bool PeerCopyPipeline::take(const Crossed& piece, bool captured) {
  const int64_t bytes = piece.shape.bytes();
  if (bytes >= kWorthACopy) {
    const auto rows = as_rows(piece.shape, piece.dst, piece.dst_strides, piece.src, piece.src_strides);
    if (are_long(rows)) {
      copy_beside(piece, *rows, captured);
      return true;
    }
  }
  return !captured && bytes >= kWorthFetching && fetch(piece);
}

// Runs concurrently with the reader's kernels.
void PeerCopyPipeline::copy_beside(const Crossed& piece, const CopyParams& rows, bool captured) {
  Context& reader = *group_.contexts[piece.reader];
  if (captured) return copy(reader, rows, piece.of_reader, Completion::asynchronous);
  Fetches& fetches = fetches_of(piece.reader);
  if (!fetches.beside) {
    fetches.begun.record(piece.of_reader);
    fetches.begun.wait(reader, fetches.copies[0]);
    fetches.beside = piece.of_reader;
  }
  copy(reader, rows, fetches.copies[0], Completion::asynchronous);
}

// Each copied part is half of the rest along src's slowest axis, at most a buffer, so that little is left to permute at
// the end. Local permutations continue meanwhile: both use few blocks, so they run concurrently.
bool PeerCopyPipeline::fetch(const Crossed& piece) {
  const int64_t bytes = piece.shape.bytes();
  const size_t axis = slowest_axis(piece.shape, piece.src_strides);
  const int64_t rows = piece.shape.extents[axis];
  const int64_t of_row = bytes / rows;
  const int64_t most = workspace_bytes_ / static_cast<int64_t>(kBuffers) / of_row;
  if (most < 1) return false;
  const Index tight = tight_as(piece.shape, piece.src_strides);
  if (!are_long(as_rows(piece.shape, piece.dst, tight, piece.src, piece.src_strides))) return false;
  Fetches& fetches = fetches_of(piece.reader);
  fetches.bytes += bytes;
  constexpr int64_t kTile = 64;  // rows of a transpose's tile
  for (int64_t at = 0; at < rows;) {
    int64_t length = std::min({std::max((rows - at) / 2, ceil_div(kLeastPart, of_row)), most, rows - at});
    if (length > kTile && length < rows - at) length = length / kTile * kTile;
    fetches.buffer_bytes = std::max(fetches.buffer_bytes, length * of_row);
    fetches.parts.push_back(piece.part(axis, at, length));
    at += length;
  }
  return true;
}

template <class F>
void PeerCopyPipeline::for_each_part(size_t first, size_t end, const F& f) {
  for (size_t part = first, more = 1; part < end && more > 0; ++part) {
    more = 0;
    for (const auto& fetches : fetches_) {
      if (fetches == nullptr || part >= fetches->parts.size()) continue;
      f(*fetches, part);
      ++more;
    }
  }
}

void PeerCopyPipeline::copy_part(Fetches& fetches, size_t number) {
  if (!fetches.block) return;
  const Crossed& part = fetches.parts[number];
  char* const buffer = fetches.buffer_of(number);
  const NativeStream copies = fetches.copies[number % kBuffers];
  const Index tight = tight_as(part.shape, part.src_strides);
  const auto rows = as_rows(part.shape, buffer, tight, part.src, part.src_strides);
  copy(fetches.context, rows.value(), copies, Completion::asynchronous);
  fetches.arrived[number % kBuffers].record(copies);
}

void PeerCopyPipeline::place_part(Fetches& fetches, size_t number) {
  const Crossed& part = fetches.parts[number];
  if (!fetches.block) return part.pull(fetches.context);
  char* const buffer = fetches.buffer_of(number);
  const Index tight = tight_as(part.shape, part.src_strides);
  fetches.arrived[number % kBuffers].wait(fetches.context, fetches.placing);
  move_part(fetches.context, part.shape, {buffer, tight}, fetches.operand, {part.dst, part.dst_strides},
            part.dst_operand, fetches.placing, Completion::asynchronous,
            number + 1 < fetches.parts.size() ? Occupancy::limited : Occupancy::full);
  if (number + kBuffers >= fetches.parts.size()) return;
  fetches.left[number % kBuffers].record(fetches.placing);
  fetches.left[number % kBuffers].wait(fetches.context, fetches.copies[number % kBuffers]);
  copy_part(fetches, number + kBuffers);
}

void PeerCopyPipeline::start() {
  for (const auto& fetches : fetches_) {
    if (fetches == nullptr || fetches->parts.empty()) continue;
    Context& context = fetches->context;
    const int64_t bytes = static_cast<int64_t>(std::min(kBuffers, fetches->parts.size())) * fetches->buffer_bytes;
    if (!has_block([&] { fetches->block.emplace(context, false, bytes); })) continue;
    fetches->operand = look_up_range(context, fetches->block->get(), bytes, Access::write, "the workspace", bytes);
    for (const NativeStream stream : {context.own_stream(), fetches->parts[0].of_reader}) {
      fetches->arrived[0].record(stream);
      for (const NativeStream side : fetches->streams()) fetches->arrived[0].wait(context, side);
    }
  }
  for_each_part(0, kBuffers, [this](Fetches& fetches, size_t part) { copy_part(fetches, part); });
}

// Blocks are released in the order of their owner's own stream.
void PeerCopyPipeline::finish() {
  for_each_part(0, SIZE_MAX, [this](Fetches& fetches, size_t part) { place_part(fetches, part); });
  for (const auto& fetches : fetches_) {
    if (fetches != nullptr && fetches->beside) {
      fetches->begun.record(fetches->copies[0]);
      fetches->begun.wait(fetches->context, *fetches->beside);
      fetches->beside.reset();
    }
    if (fetches == nullptr || fetches->parts.empty()) continue;
    if (fetches->block) {
      const NativeStream own = fetches->context.own_stream();
      const NativeStream of_reader = fetches->parts[0].of_reader;
      fetches->arrived[0].record(fetches->placing);
      fetches->arrived[0].wait(fetches->context, of_reader);
      if (of_reader != own) fetches->arrived[0].wait(fetches->context, own);
    }
    fetches->end();
  }
}

// With few blocks, permuting a byte takes a third of its transfer. Above twice the fetched bytes, it would limit.
Occupancy PeerCopyPipeline::occupancy(size_t member, int64_t bytes) noexcept {
  if (member >= fetches_.size() || fetches_[member] == nullptr || !fetches_[member]->block) return Occupancy::full;
  Fetches& fetches = *fetches_[member];
  fetches.bytes_beside += bytes;
  return fetches.bytes_beside <= 2 * fetches.bytes ? Occupancy::limited : Occupancy::full;
}

void PeerCopyPipeline::abandon() noexcept {
  for (const auto& fetches : fetches_) {
    if (fetches == nullptr || (fetches->parts.empty() && !fetches->beside)) continue;
    for (const NativeStream side : fetches->streams()) fetches->context.device().finish_stream(side);
    fetches->end();
  }
}

}  // namespace gpumem
