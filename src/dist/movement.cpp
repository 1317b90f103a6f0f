#include "dist/movement.hpp"

#include <new>

#include "base/limits.hpp"
#include "ops/operand.hpp"
#include "ops/operations.hpp"
#include "ops/strides.hpp"

namespace gpumem {
namespace {

constexpr std::array<int32_t, kAxes> kSameOrder = {0, 1, 2, 3, 4, 5, 6, 7};

int32_t rank_of(const Index& extents) noexcept {
  auto rank = static_cast<int32_t>(kAxes);
  while (rank > 1 && extents[static_cast<size_t>(rank) - 1] == 1) --rank;
  return rank;
}

PermuteCall call_of(const Shape& shape, const StridedArray& src, const StridedArray& dst) noexcept {
  return {.element_bytes = shape.element_bytes,
          .rank = rank_of(shape.extents),
          .extents = shape.extents.data(),
          .order = kSameOrder.data(),
          .src = src.p,
          .src_strides = src.strides.data(),
          .dst = dst.p,
          .dst_strides = dst.strides.data()};
}

void copy_bytes(Context& context, void* dst, const void* src, int64_t bytes, NativeStream stream) {
  copy(context, {.dst = static_cast<char*>(dst), .src = static_cast<const char*>(src), .row_bytes = bytes}, stream,
       Completion::blocking);
}

}  // namespace

int64_t Shape::reach(const Index& strides) const noexcept {
  int64_t last = 0;
  for (size_t d = 0; d < kAxes; ++d) last += (extents[d] - 1) * strides[d];
  return last + 1;
}

Index Shape::tight_strides() const noexcept {
  Index strides{};
  fill_tight(strides.data(), extents.data(), static_cast<int32_t>(kAxes));
  return strides;
}

size_t slowest_axis(const Shape& shape, const Index& strides) noexcept {
  size_t axis = 0;
  for (size_t d = 1; d < kAxes; ++d) {
    if (shape.extents[d] > 1 && (shape.extents[axis] == 1 || strides[d] > strides[axis])) axis = d;
  }
  return axis;
}

Index tight_as(const Shape& shape, const Index& src_strides) noexcept {
  Index tight{};
  int64_t stride = 1;
  const AxesInOrder order = in_order_of(src_strides.data(), static_cast<int32_t>(kAxes));
  for (const int32_t axis : order.axis) {
    const auto d = static_cast<size_t>(axis);
    if (shape.extents[d] == 1) continue;
    tight[d] = stride;
    stride *= shape.extents[d];
  }
  return tight;
}

std::optional<CopyParams> as_rows(const Shape& shape, char* dst, const Index& dst_strides, const char* src,
                                  const Index& src_strides) noexcept {
  const int64_t* const sides[] = {src_strides.data(), dst_strides.data()};
  const FusedAxes axes = fused_axes(static_cast<int32_t>(kAxes), shape.extents.data(), sides);
  const auto stride = [&](const Index& strides, int32_t i) { return strides[static_cast<size_t>(axes.axis[i])]; };
  if (axes.rank == 0) return CopyParams{.dst = dst, .src = src, .row_bytes = shape.element_bytes, .reached = true};
  if (axes.rank > 3 || stride(src_strides, 0) != 1 || stride(dst_strides, 0) != 1) return std::nullopt;
  CopyParams rows{.dst = dst, .src = src, .row_bytes = axes.extent[0] * shape.element_bytes, .reached = true};
  rows.rank = axes.rank;
  if (axes.rank > 1) {
    rows.rows = axes.extent[1];
    rows.dst_pitch = stride(dst_strides, 1) * shape.element_bytes;
    rows.src_pitch = stride(src_strides, 1) * shape.element_bytes;
    if (rows.dst_pitch < rows.row_bytes || rows.src_pitch < rows.row_bytes) return std::nullopt;
  }
  if (axes.rank > 2) {
    rows.slices = axes.extent[2];
    rows.dst_slice = stride(dst_strides, 2) * shape.element_bytes;
    rows.src_slice = stride(src_strides, 2) * shape.element_bytes;
    // If slices are not whole rows, each needs a driver call. Slices that are read may overlap.
    const auto is_whole = [&](int64_t slice, int64_t pitch) {
      return slice % pitch == 0 && slice / pitch >= rows.rows;
    };
    if (!is_whole(rows.dst_slice, rows.dst_pitch) || !is_whole(rows.src_slice, rows.src_pitch)) return std::nullopt;
  }
  return rows;
}

bool Shape::same_places(const Index& a, const Index& b) const noexcept {
  for (size_t d = 0; d < kAxes; ++d) {
    if (extents[d] != 1 && a[d] != b[d]) return false;
  }
  return true;
}

namespace {

void* take_heap(size_t bytes) {
  require_available_for_call(bytes);
  return ::operator new (bytes, std::align_val_t{kBlockUnit});
}

}  // namespace

TemporaryBlock::TemporaryBlock(Context& context, bool on_host, int64_t bytes, const WorkStream& on)
    : context_(context),
      cache_(*on.cache),
      on_heap_(on_host),
      p_(on_host ? take_heap(static_cast<size_t>(bytes))
                 : allocate_async(context, bytes, static_cast<int64_t>(kBlockUnit), *on.cache)) {}

TemporaryBlock::~TemporaryBlock() {
  if (on_heap_) {
    ::operator delete (p_, std::align_val_t{kBlockUnit});
    return;
  }
  try {
    free_async(context_, p_, cache_);
  } catch (const Error&) {
    // The device is lost: the block ends with its context.
  }
}

void move(Context& context, const Shape& shape, const StridedArray& src, const StridedArray& dst, NativeStream stream,
          Completion completion) {
  permute(context, call_of(shape, src, dst), stream, completion);
}

void move_part(Context& context, const Shape& shape, const StridedArray& src, const Operand& src_operand,
               const StridedArray& dst, const Operand& dst_operand, NativeStream stream, Completion completion,
               Occupancy occupancy) {
  permute_part(context, call_of(shape, src, dst), src_operand, dst_operand, stream, completion, occupancy);
}

void pack(Context& context, const Shape& shape, const StridedArray& src, const Operand& operand, void* to,
          const WorkStream& on) {
  if (!context.on_cuda()) {
    const Index tight = shape.tight_strides();
    const Operand of_to = look_up_range(context, to, shape.bytes(), Access::write, "the message", shape.bytes());
    return move_part(context, shape, src, operand, {to, tight}, of_to, on.stream, Completion::blocking);
  }
  if (shape.is_tight(src.strides)) return copy_bytes(context, to, src.p, shape.bytes(), on.stream);
  const Index tight = shape.tight_strides();
  if (operand.on_host()) return move(context, shape, src, {to, tight}, on.stream);
  const TemporaryBlock block(context, false, shape.bytes(), on);
  move(context, shape, src, {block.get(), tight}, on.stream);
  copy_bytes(context, to, block.get(), shape.bytes(), on.stream);
}

void unpack(Context& context, const Shape& shape, const void* from, const StridedArray& dst, const Operand& operand,
            const WorkStream& on) {
  if (!context.on_cuda()) {
    const Index tight = shape.tight_strides();
    void* const p = const_cast<void*>(from);
    const Operand of_from = look_up_range(context, p, shape.bytes(), Access::read, "the message", shape.bytes());
    return move_part(context, shape, {p, tight}, of_from, dst, operand, on.stream, Completion::blocking);
  }
  if (shape.is_tight(dst.strides)) return copy_bytes(context, dst.p, from, shape.bytes(), on.stream);
  const Index tight = shape.tight_strides();
  if (operand.on_host()) return move(context, shape, {const_cast<void*>(from), tight}, dst, on.stream);
  const TemporaryBlock block(context, false, shape.bytes(), on);
  copy_bytes(context, block.get(), from, shape.bytes(), on.stream);
  move(context, shape, {block.get(), tight}, dst, on.stream);
}

}  // namespace gpumem
