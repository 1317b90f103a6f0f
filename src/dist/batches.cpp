#include "dist/batches.hpp"

#include <algorithm>

#include "base/checked.hpp"
#include "kernels/limits.hpp"
#include "ops/strides.hpp"

namespace gpumem {
namespace {

// Larger pieces are worth a launch, with a kernel chosen for them. Adjacent threads read adjacent elements, which suits
// PCIe and NVLink. If dst has another axis order, writes must combine in the cache, or almost be adjacent.
constexpr int64_t kMostBytes = int64_t{4} << 20;
constexpr int64_t kMostSmallTransposed = int64_t{64} << 10;  // for small elements
constexpr int64_t kMostNarrow = int64_t{16} << 20;
constexpr int64_t kNarrow = 32;

// A peer read of a few bytes costs as much as 32. Two H200, 2^19 runs of 8 bytes: one launch 79 us, packed 9 + 23.
constexpr int64_t kShortRun = 16;
constexpr int64_t kApart = 64;
constexpr int64_t kManyRuns = int64_t{1} << 17;
constexpr int64_t kRoomUnit = 256;

}  // namespace

void Batches::add(const Shape& shape, const Index& src_strides, const Index& dst_strides, size_t owner, size_t reader) {
  const bool crosses = on_two_devices(*contexts_[owner], *contexts_[reader]);
  std::optional<Runs>& added = runs_.emplace_back();
  const int64_t* const sides[] = {src_strides.data(), dst_strides.data()};
  const FusedAxes axes = fused_axes(static_cast<int32_t>(kAxes), shape.extents.data(), sides);
  const auto stride = [&](const Index& strides, int32_t i) { return strides[static_cast<size_t>(axes.axis[i])]; };
  bool in_order = true;
  for (int32_t i = 1; i < axes.rank; ++i) in_order = in_order && stride(dst_strides, i - 1) < stride(dst_strides, i);
  int64_t most = kMostBytes;
  if (!in_order && shape.element_bytes < 4) most = kMostSmallTransposed;
  if (!in_order && shape.element_bytes >= 4 && crosses && axes.extent[0] <= kNarrow) most = kMostNarrow;
  if (shape.bytes() > most) return;
  const StridedRuns runs = runs_of(axes, shape.element_bytes, src_strides.data(), dst_strides.data());
  if (runs.rank > kPieceAxes) return;
  added = Runs{.runs = runs, .owner = owner, .reader = reader};
  Member& member = members_[owner];
  const int64_t room = ceil_div(runs.all, kRoomUnit) * kRoomUnit;
  const int32_t read_on = axes.rank > 0 && stride(src_strides, 0) == 1 ? 1 : 0;
  const int64_t read_at_once = shape.element_bytes * (read_on == 1 ? axes.extent[0] : 1);
  if (!crosses || read_at_once > kShortRun || runs.all / read_at_once < kManyRuns) return;
  if (axes.rank == read_on || stride(src_strides, read_on) * shape.element_bytes < kApart) return;
  if (member.room + room > workspace_bytes_) return;
  added->packed = member.room;
  member.room += room;
  if (!member.fence) member.fence.emplace(contexts_[owner]->device());
  std::vector<size_t>& readers = member.readers_of_room;
  if (std::find(readers.begin(), readers.end(), reader) == readers.end()) readers.push_back(reader);
}

bool Batches::take(size_t number, const void* src, void* dst) {
  const std::optional<Runs>& taken = runs_[number];
  if (!taken) return false;
  Member& owner = members_[taken->owner];
  Member& reader = members_[taken->reader];
  if (taken->packed >= 0 && owner.block) {
    char* const between = static_cast<char*>(owner.block->get()) + taken->packed;
    const RunsThrough through = through_tight(taken->runs);
    const auto packed = piece_of(through.in, src, between);
    const auto moved = piece_of(through.out, between, dst);
    if (!packed || !moved) return false;
    owner.packed.push_back(*packed);
    reader.moved.push_back(*moved);
    return true;
  }
  const auto piece = piece_of(taken->runs, src, dst);
  if (piece) reader.moved.push_back(*piece);
  return piece.has_value();
}

void Batches::make_room(const std::vector<NativeStream>& streams) {
  for (size_t i = 0; i < members_.size(); ++i) {
    Member& member = members_[i];
    Context& context = *contexts_[i];
    if (member.room == 0 || !has_block([&] { member.block.emplace(context, false, member.room); })) continue;
    member.opened.resize(member.readers_of_room.size());
    for (size_t r = 0; r < member.opened.size() && member.block; ++r) {
      Context& reader = *contexts_[member.readers_of_room[r]];
      if (!member.opened[r].is_reached(reader, member.block->get(), member.room, true)) member.block.reset();
    }
    if (!member.block || streams[i] == context.own_stream()) continue;
    member.fence->record(context.own_stream());  // the memory is ordered by that stream
    member.fence->wait(context, streams[i]);
  }
}

void Batches::pack(const std::vector<NativeStream>& streams) const {
  for (size_t i = 0; i < members_.size(); ++i) {
    if (!packs(i)) continue;
    contexts_[i]->device().move_pieces(streams[i], members_[i].packed);
    members_[i].fence->record(streams[i]);
  }
  for (size_t i = 0; i < members_.size(); ++i) {
    if (!packs(i)) continue;
    for (const size_t reader : members_[i].readers_of_room)
      members_[i].fence->wait(*contexts_[reader], streams[reader]);
  }
}

// A block is released in the order of its owner's own stream.
void Batches::leave_room(const std::vector<NativeStream>& streams) {
  for (size_t i = 0; i < members_.size(); ++i) {
    Member& member = members_[i];
    if (!member.block || streams[i] == contexts_[i]->own_stream()) continue;
    member.fence->record(streams[i]);
    member.fence->wait(*contexts_[i], contexts_[i]->own_stream());
  }
  abandon();
}

void Batches::abandon() noexcept {
  for (Member& member : members_) member.block.reset();
}

void Batches::launch(size_t reader, NativeStream stream) const {
  contexts_[reader]->device().move_pieces(stream, members_[reader].moved);
}

void Batches::clear() noexcept {
  for (Member& member : members_) {
    member.moved.clear();
    member.packed.clear();
  }
}

}  // namespace gpumem
