#include "dist/crossing.hpp"

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
// Two H100 or H200 that both read, GB/s each way: a kernel 310 to 335, the copy engines 355 to 390 (docs/experiments.md). A copy takes
// some 15 us to get going.
constexpr int64_t kShortRun = 128;      // bytes; less fills no sector of the link well
constexpr int64_t kLongRun = 4 * kKiB;  // bytes
constexpr int64_t kWorthPacking = 256 * kKiB;
constexpr int64_t kWorthACopy = 4 * kMiB;
constexpr int64_t kWorthFetching = 48 * kMiB;
constexpr int64_t kLeastPart = 8 * kMiB;
constexpr int32_t kAllAxes = static_cast<int32_t>(kAxes);

// Strides without gaps, axes in the order that they have in src.
Index tight_as(const Shape& shape, const Index& src_strides) noexcept {
  Index tight{};
  int64_t stride = 1;
  const AxesInOrder order = in_order_of(src_strides.data(), kAllAxes);
  for (const int32_t axis : order.axis) {
    const auto d = static_cast<size_t>(axis);
    if (shape.extents[d] == 1) continue;
    tight[d] = stride;
    stride *= shape.extents[d];
  }
  return tight;
}

// The copy of rows that moves the piece, where one does.
std::optional<CopyParams> as_rows(const Shape& shape, char* dst, const Index& dst_strides, const char* src,
                                  const Index& src_strides) noexcept {
  const int64_t* const sides[] = {src_strides.data(), dst_strides.data()};
  const FusedAxes axes = fused_axes(kAllAxes, shape.extents.data(), sides);
  const auto stride = [&](const Index& strides, int32_t i) { return strides[static_cast<size_t>(axes.axis[i])]; };
  if (axes.rank == 0) return CopyParams{.dst = dst, .src = src, .row_bytes = shape.element_bytes, .reached = true};
  if (axes.rank > 2 || stride(src_strides, 0) != 1 || stride(dst_strides, 0) != 1) return std::nullopt;
  CopyParams rows{.dst = dst, .src = src, .row_bytes = axes.extent[0] * shape.element_bytes, .reached = true};
  if (axes.rank == 1) return rows;
  rows.rank = 2;
  rows.rows = axes.extent[1];
  rows.dst_pitch = stride(dst_strides, 1) * shape.element_bytes;
  rows.src_pitch = stride(src_strides, 1) * shape.element_bytes;
  if (rows.dst_pitch < rows.row_bytes || rows.src_pitch < rows.row_bytes) return std::nullopt;
  return rows;
}

bool are_long(const std::optional<CopyParams>& rows) noexcept { return rows && rows->row_bytes >= kLongRun; }

// Whether make_block() could be made; a kernel needs no memory. Where a stream is under capture, none can be had either.
template <class F>
bool has_block(const F& make_block) {
  try {
    make_block();
    return true;
  } catch (const Error& error) {
    if (error.status() != GPUMEM_OUT_OF_MEMORY && error.status() != GPUMEM_CAPTURING) throw;
    return false;
  }
}

}  // namespace

Crossing::Fetches::Fetches(Context& of)
    : context(of),
      copies(of.device().create_side_stream()),
      arrived{MemberFence(of.device()), MemberFence(of.device()), MemberFence(of.device()), MemberFence(of.device())},
      left{MemberFence(of.device()), MemberFence(of.device()), MemberFence(of.device()), MemberFence(of.device())} {}

Crossing::Fetches::~Fetches() {
  context.device().finish_stream(copies);
  context.device().destroy_stream(copies);
}

char* Crossing::Fetches::buffer_of(size_t part) const noexcept {
  return static_cast<char*>(block->get()) + static_cast<int64_t>(part % kBuffers) * buffer_bytes;
}

void Crossing::Fetches::end() noexcept {
  parts.clear();
  block.reset();
  buffer_bytes = 0;
}

Crossing::~Crossing() { abandon(); }

Crossing::Fetches& Crossing::fetches_of(size_t member) {
  fetches_.resize(group_.contexts.size());
  std::unique_ptr<Fetches>& fetches = fetches_[member];
  if (fetches == nullptr) fetches = std::make_unique<Fetches>(*group_.contexts[member]);
  return *fetches;
}

void Crossing::put_behind(size_t first, NativeStream of_first, size_t second, NativeStream of_second) {
  if (of_first == of_second && !on_two_devices(*group_.contexts[first], *group_.contexts[second])) return;
  if (!fences_) fences_.emplace(group_.contexts);
  fences_->of(first).record(of_first);
  fences_->of(first).wait(*group_.contexts[second], of_second);
}

bool Crossing::take(const Crossed& piece, bool captured) {
  const int64_t bytes = piece.shape.bytes();
  if (bytes >= kWorthACopy) {
    const auto rows = as_rows(piece.shape, piece.dst, piece.dst_strides, piece.src, piece.src_strides);
    if (are_long(rows)) {
      copy(*group_.contexts[piece.reader], *rows, piece.of_reader, Until::enqueued);
      return true;
    }
  }
  if (captured || piece.src_operand.kind != GPUMEM_MEMORY_DEVICE) return false;
  if (bytes >= kWorthFetching && fetch(piece)) return true;
  const bool short_runs = piece.shape.run(piece.src_strides) * piece.shape.element_bytes < kShortRun;
  return bytes >= kWorthPacking && short_runs && pack(piece);
}

// By the owner's own stream, in whose order the block comes and goes.
bool Crossing::pack(const Crossed& piece) {
  Context& owner = *group_.contexts[piece.owner];
  Context& reader = *group_.contexts[piece.reader];
  const int64_t bytes = piece.shape.bytes();
  int64_t room = workspace_bytes_ - bytes;
  for (const Packed& packed : packed_) room -= packed.bytes;
  if (room < 0) return false;
  if (!has_block([&] { packed_.emplace_back(piece, owner); })) return false;
  void* const p = packed_.back().block.get();
  if (!reader.device().reaches(p, static_cast<size_t>(bytes))) {
    packed_.pop_back();
    return false;
  }
  Operand block = look_up_range(owner, p, bytes, Access::write, "the workspace", bytes);
  Operand src = piece.src_operand;
  src.device = block.device;
  const Index tight = piece.shape.tight_strides();
  put_behind(piece.owner, piece.of_owner, piece.owner, owner.own_stream());
  move_part(owner, piece.shape, {piece.src, piece.src_strides}, src, {p, tight}, block, owner.own_stream(),
            Until::enqueued);
  put_behind(piece.owner, owner.own_stream(), piece.reader, piece.of_reader);
  block.device = reader.device().props().ordinal;
  move_part(reader, piece.shape, {p, tight}, block, {piece.dst, piece.dst_strides}, piece.dst_operand, piece.of_reader,
            Until::enqueued);
  return true;
}

// In parts along src's slowest axis: half of what is left each, at most a buffer, so that little is left to permute behind the last copy.
bool Crossing::fetch(const Crossed& piece) {
  const int64_t bytes = piece.shape.bytes();
  const Index& extents = piece.shape.extents;
  size_t axis = 0;
  for (size_t d = 1; d < kAxes; ++d) {
    if (extents[d] > 1 && (extents[axis] == 1 || piece.src_strides[d] > piece.src_strides[axis])) axis = d;
  }
  const int64_t rows = extents[axis];
  const int64_t of_row = bytes / rows;
  const int64_t most = workspace_bytes_ / static_cast<int64_t>(kBuffers) / of_row;
  if (most < 1) return false;
  const Index tight = tight_as(piece.shape, piece.src_strides);
  if (!are_long(as_rows(piece.shape, piece.dst, tight, piece.src, piece.src_strides))) return false;
  Fetches& fetches = fetches_of(piece.reader);
  constexpr int64_t kTile = 64;  // rows that a transpose takes at a time
  for (int64_t at = 0; at < rows;) {
    int64_t length = std::min({std::max((rows - at) / 2, ceil_div(kLeastPart, of_row)), most, rows - at});
    if (length > kTile && length < rows - at) length = length / kTile * kTile;
    Crossed part = piece;
    part.shape.extents[axis] = length;
    part.src += at * piece.src_strides[axis] * piece.shape.element_bytes;
    part.dst += at * piece.dst_strides[axis] * piece.shape.element_bytes;
    fetches.buffer_bytes = std::max(fetches.buffer_bytes, length * of_row);
    fetches.parts.push_back(part);
    at += length;
  }
  return true;
}

template <class F>
void Crossing::for_each_part(size_t first, size_t end, const F& f) {
  for (size_t part = first, more = 1; part < end && more > 0; ++part) {
    more = 0;
    for (const auto& fetches : fetches_) {
      if (fetches == nullptr || part >= fetches->parts.size()) continue;
      f(*fetches, part);
      ++more;
    }
  }
}

void Crossing::copy_part(Fetches& fetches, size_t number) {
  if (!fetches.block) return;
  const Crossed& part = fetches.parts[number];
  char* const buffer = fetches.buffer_of(number);
  const Index tight = tight_as(part.shape, part.src_strides);
  const auto rows = as_rows(part.shape, buffer, tight, part.src, part.src_strides);
  copy(fetches.context, rows.value(), fetches.copies, Until::enqueued);
  fetches.arrived[number % kBuffers].record(fetches.copies);
}

void Crossing::place_part(Fetches& fetches, size_t number) {
  const Crossed& part = fetches.parts[number];
  if (!fetches.block) {
    return move_part(fetches.context, part.shape, {part.src, part.src_strides}, part.src_operand,
                     {part.dst, part.dst_strides}, part.dst_operand, part.of_reader, Until::enqueued);
  }
  char* const buffer = fetches.buffer_of(number);
  const Index tight = tight_as(part.shape, part.src_strides);
  fetches.arrived[number % kBuffers].wait(fetches.context, part.of_reader);
  move_part(fetches.context, part.shape, {buffer, tight}, fetches.operand, {part.dst, part.dst_strides},
            part.dst_operand, part.of_reader, Until::enqueued);
  if (number + kBuffers >= fetches.parts.size()) return;
  fetches.left[number % kBuffers].record(part.of_reader);
  fetches.left[number % kBuffers].wait(fetches.context, fetches.copies);
  copy_part(fetches, number + kBuffers);
}

void Crossing::start() {
  for (const auto& fetches : fetches_) {
    if (fetches == nullptr || fetches->parts.empty()) continue;
    Context& context = fetches->context;
    const int64_t bytes = static_cast<int64_t>(std::min(kBuffers, fetches->parts.size())) * fetches->buffer_bytes;
    if (!has_block([&] { fetches->block.emplace(context, false, bytes); })) continue;
    fetches->operand = look_up_range(context, fetches->block->get(), bytes, Access::write, "the workspace", bytes);
    for (const NativeStream stream : {context.own_stream(), fetches->parts[0].of_reader}) {
      fetches->arrived[0].record(stream);
      fetches->arrived[0].wait(context, fetches->copies);
    }
  }
  for_each_part(0, kBuffers, [this](Fetches& fetches, size_t part) { copy_part(fetches, part); });
}

// Blocks go back in the order of their owner's own stream.
void Crossing::finish() {
  for_each_part(0, SIZE_MAX, [this](Fetches& fetches, size_t part) { place_part(fetches, part); });
  for (size_t member = 0; member < fetches_.size(); ++member) {
    Fetches* const fetches = fetches_[member].get();
    if (fetches == nullptr || fetches->parts.empty()) continue;
    put_behind(member, fetches->parts[0].of_reader, member, fetches->context.own_stream());
    fetches->end();
  }
  for (const Packed& packed : packed_) {
    put_behind(packed.reader, packed.of_reader, packed.owner, group_.contexts[packed.owner]->own_stream());
  }
  packed_.clear();
}

void Crossing::abandon() noexcept {
  for (const auto& fetches : fetches_) {
    if (fetches == nullptr || fetches->parts.empty()) continue;
    fetches->context.device().finish_stream(fetches->copies);
    fetches->end();
  }
  packed_.clear();
}

}  // namespace gpumem
