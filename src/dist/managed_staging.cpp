#include "dist/managed_staging.hpp"

#include <algorithm>

#include "dist/peers.hpp"
#include "ops/operand.hpp"

namespace gpumem {
namespace {

constexpr int64_t kLeastPart = int64_t{16} << 10;  // bytes; for less, page migration is as good

// The legacy stream has one name on all devices.
void put_behind(Context& first, NativeStream of_first, Context& second, NativeStream of_second) {
  if (of_first == of_second && !on_two_devices(first, second)) return;
  const MemberFence fence(first.device());
  fence.record(of_first);
  fence.wait(second, of_second);
}

}  // namespace

bool ManagedStaging::take(const Crossed& piece, size_t owner, NativeStream of_owner) {
  const int64_t bytes = piece.shape.bytes();
  const size_t axis = slowest_axis(piece.shape, piece.src_strides);
  const int64_t rows = piece.shape.extents[axis];
  const int64_t of_row = bytes / rows;
  const int64_t most = std::min(rows, workspace_bytes_ / 2 / of_row);
  if (most == 0 || (most < rows && most * of_row < kLeastPart)) return false;
  for (int64_t at = 0; at < rows; at += most) {
    const Crossed part = piece.part(axis, at, std::min(most, rows - at));
    if (add(part, owner, of_owner)) continue;
    if (at == 0) return false;
    part.pull(*group_.contexts[piece.reader]);
  }
  return true;
}

bool ManagedStaging::add(const Crossed& part, size_t owner, NativeStream of_owner) {
  const int64_t bytes = part.shape.bytes();
  if (bytes_ + bytes > workspace_bytes_) finish();
  Context& context = *group_.contexts[owner];
  Context& reader = *group_.contexts[part.reader];
  std::unique_ptr<TemporaryBlock> block;
  if (!has_block([&] { block = std::make_unique<TemporaryBlock>(context, false, bytes); })) return false;
  if (!reader.device().reaches(block->get(), static_cast<size_t>(bytes))) return false;
  const Operand of_block = look_up_range(context, block->get(), bytes, Access::write, "the workspace");
  Crossed lent = part;
  lent.src = static_cast<char*>(block->get());
  lent.src_strides = tight_as(part.shape, part.src_strides);
  lent.src_operand = of_block;
  lent.src_operand.device = reader.device().props().ordinal;
  parts_.push_back({lent, owner, of_owner, std::move(block)});
  bytes_ += bytes;
  put_behind(context, context.own_stream(), context, of_owner);
  move_part(context, part.shape, {part.src, part.src_strides}, part.src_operand, {lent.src, lent.src_strides}, of_block,
            of_owner, Completion::asynchronous);
  return true;
}

// All owners start before any reader waits for one.
void ManagedStaging::finish() {
  for (const Part& part : parts_) {
    Context& reader = *group_.contexts[part.lent.reader];
    put_behind(*group_.contexts[part.owner], part.of_owner, reader, part.lent.of_reader);
    part.lent.pull(reader);
  }
  for (const Part& part : parts_) {
    Context& owner = *group_.contexts[part.owner];
    put_behind(*group_.contexts[part.lent.reader], part.lent.of_reader, owner, owner.own_stream());
  }
  abandon();
}

void ManagedStaging::abandon() noexcept {
  parts_.clear();
  bytes_ = 0;
}

}  // namespace gpumem
