#include "dist/batches.hpp"

#include <bit>

#include "kernels/limits.hpp"
#include "ops/strides.hpp"

namespace gpumem {
namespace {

// Pieces of more bytes are worth a launch, with a kernel chosen for them. Neighbouring threads read neighbours, which a link wants; where
// the axes lie in another order in dst, what they write must come together in the cache, or nearly lie together.
constexpr int64_t kMostBytes = int64_t{4} << 20;
constexpr int64_t kMostSmallTransposed = int64_t{64} << 10;  // of small elements
constexpr int64_t kMostNarrow = int64_t{16} << 20;
constexpr int64_t kNarrow = 32;

}  // namespace

void Batches::add(const Shape& shape, const Index& src_strides, const Index& dst_strides, bool crosses) {
  std::optional<Runs>& runs = runs_.emplace_back();
  const int64_t* const sides[] = {src_strides.data(), dst_strides.data()};
  const FusedAxes axes = fused_axes(static_cast<int32_t>(kAxes), shape.extents.data(), sides);
  const auto stride = [&](const Index& strides, int32_t i) { return strides[static_cast<size_t>(axes.axis[i])]; };
  bool in_order = true;
  for (int32_t i = 1; i < axes.rank; ++i) in_order = in_order && stride(dst_strides, i - 1) < stride(dst_strides, i);
  int64_t most = kMostBytes;
  if (!in_order && shape.element_bytes < 4) most = kMostSmallTransposed;
  if (!in_order && shape.element_bytes >= 4 && crosses && axes.extent[0] <= kNarrow) most = kMostNarrow;
  if (shape.bytes() > most) return;
  const bool together = axes.rank > 0 && stride(src_strides, 0) == 1 && stride(dst_strides, 0) == 1;
  const int32_t first = together ? 1 : 0;
  if (axes.rank - first > kPieceAxes) return;
  runs.emplace();
  runs->all = shape.bytes();
  runs->bytes = shape.element_bytes * (together ? axes.extent[0] : 1);
  runs->places = static_cast<uint64_t>(runs->bytes);
  for (int32_t i = first; i < axes.rank; ++i) {
    const int32_t to = runs->rank++;
    runs->extent[to] = axes.extent[i];
    runs->src_stride[to] = stride(src_strides, i) * shape.element_bytes;
    runs->dst_stride[to] = stride(dst_strides, i) * shape.element_bytes;
    runs->places |= static_cast<uint64_t>(runs->src_stride[to] | runs->dst_stride[to]);
  }
}

bool Batches::take(size_t number, size_t reader, const void* src, void* dst) {
  const std::optional<Runs>& runs = runs_[number];
  if (!runs) return false;
  const uint64_t places = runs->places | reinterpret_cast<uintptr_t>(src) | reinterpret_cast<uintptr_t>(dst);
  const int shift = std::countr_zero(static_cast<uint64_t>(widest_access(places)));
  MovedPiece piece{.src = static_cast<const char*>(src), .dst = static_cast<char*>(dst)};
  piece.words = static_cast<uint32_t>(runs->all >> shift);
  piece.shift = shift;
  const auto add_axis = [&](int64_t extent, int64_t src_stride, int64_t dst_stride) {
    if (piece.rank == kPieceAxes || (src_stride | dst_stride) > UINT32_MAX) return false;
    piece.extent[piece.rank] = static_cast<uint32_t>(extent);
    piece.src_stride[piece.rank] = static_cast<uint32_t>(src_stride);
    piece.dst_stride[piece.rank++] = static_cast<uint32_t>(dst_stride);
    return true;
  };
  const int64_t words = runs->bytes >> shift;
  if ((words > 1 || runs->rank == 0) && !add_axis(words, 1, 1)) return false;
  for (int32_t d = 0; d < runs->rank; ++d) {
    if (!add_axis(runs->extent[d], runs->src_stride[d] >> shift, runs->dst_stride[d] >> shift)) return false;
  }
  pieces_[reader].push_back(piece);
  return true;
}

void Batches::launch(size_t reader, Context& context, NativeStream stream) const {
  context.device().move_pieces(stream, pieces_[reader]);
}

void Batches::clear() noexcept {
  for (std::vector<MovedPiece>& pieces : pieces_) pieces.clear();
}

}  // namespace gpumem
