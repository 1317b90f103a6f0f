// Peer reads between participants of this process.
#include <algorithm>

#include "context/streams.hpp"
#include "dist/exchange.hpp"
#include "ops/operand.hpp"
#include "ops/operations.hpp"

namespace gpumem {

std::optional<Operand> Exchange::src_as_read(const BoxOverlap& piece, const Operands& operands) const {
  Context& reader = group_.context_of(piece.dst_member);
  Context& owner = group_.context_of(piece.src_member);
  Operand src = src_side(piece, operands).operand;
  if (!on_two_devices(reader, owner) || src.kind != GPUMEM_MEMORY_DEVICE) return src;
  if (dst_side(piece, operands).operand.on_host()) return std::nullopt;
  if (src.device != owner.device().props().ordinal) return std::nullopt;
  const size_t pair =
      group_.members.local(piece.dst_member) * operands.src.size() + group_.members.local(piece.src_member);
  const auto bytes = static_cast<size_t>(piece.shape.reach(piece.src_strides) * element_bytes_);
  if (!operands.reached[pair] && !reader.device().reaches(src_of(piece, operands).p, bytes)) return std::nullopt;
  src.device = reader.device().props().ordinal;
  return src;
}

// Opens the used part of each participant's memory once, before any piece.
void Exchange::reach_all(Operands& operands) {
  operands.reached.assign(operands.src.size() * operands.src.size(), false);
  opened_.resize(operands.reached.size());
  for (const auto& [from, to] : pairs_) {
    Context& reader = *group_.contexts[to];
    const Side& src = operands.src[from];
    if (!on_two_devices(reader, *group_.contexts[from]) || src.operand.kind != GPUMEM_MEMORY_DEVICE) continue;
    const size_t pair = to * operands.src.size() + from;
    operands.reached[pair] = opened_[pair].is_reached(reader, src.first, src.bytes, src.operand.ours);
  }
}

void Exchange::at_work(Context& context, NativeStream stream) {
  const std::pair work(&context, stream);
  if (std::find(at_work_.begin(), at_work_.end(), work) == at_work_.end()) at_work_.push_back(work);
}

// Between a device and host memory, as rows; other pieces are reordered on the device. False: neither works.
bool Exchange::pull_over_link(const BoxOverlap& piece, const Operands& operands) {
  constexpr int64_t kWorthABlock = 64 << 10;
  const Operand& from = src_side(piece, operands).operand;
  const Operand& to = dst_side(piece, operands).operand;
  const bool out = to.on_host();
  const int32_t runs = out ? piece.src_member : piece.dst_member;
  Context& runner = group_.context_of(runs);
  const Operand& near = out ? from : to;
  const int64_t bytes = piece.shape.bytes();
  if (out == from.on_host() || !runner.on_cuda() || bytes < kWorthABlock || near.kind != GPUMEM_MEMORY_DEVICE ||
      near.device != runner.device().props().ordinal) {
    return false;
  }
  const StridedArray src = src_of(piece, operands);
  const StridedArray dst = dst_of(piece, operands);
  const NativeStream stream = on_of(runs).stream;
  const Completion completion =
      (out ? to : from).kind == GPUMEM_MEMORY_PINNED ? Completion::asynchronous : Completion::blocking;
  at_work(runner, stream);
  const auto rows_of = [&](const StridedArray& d, const StridedArray& s) {
    return as_rows(piece.shape, static_cast<char*>(d.p), d.strides, static_cast<const char*>(s.p), s.strides);
  };
  if (const auto rows = rows_of(dst, src); are_long(rows)) {
    copy(runner, *rows, stream, completion);
    return true;
  }
  const Index tight = tight_as(piece.shape, (out ? dst : src).strides);
  auto rows = out ? rows_of(dst, {nullptr, tight}) : rows_of({nullptr, tight}, src);
  constexpr int64_t kShortestRow = 256;
  if (!rows || rows->row_bytes < kShortestRow) return false;
  std::optional<TemporaryBlock> block;
  if (!has_block([&] { block.emplace(runner, false, bytes, on_of(runs)); })) return false;
  const StridedArray between{block->get(), tight};
  const Operand of_block = look_up_range(runner, block->get(), bytes, Access::write, "the workspace", bytes);
  if (out) {
    rows->src = static_cast<const char*>(block->get());
    move_part(runner, piece.shape, src, from, between, of_block, stream, Completion::asynchronous);
    copy(runner, *rows, stream, completion);
  } else {
    rows->dst = static_cast<char*>(block->get());
    copy(runner, *rows, stream, completion);
    move_part(runner, piece.shape, between, of_block, dst, to, stream, Completion::asynchronous);
  }
  return true;
}

// Uses the context that reaches both sides: that for dst, or for src if dst is on the host. Elements are disjoint, but
// a halo may be interleaved with reads. Host work is blocking; device work is ordered by the context's stream.
void Exchange::pull(const BoxOverlap& piece, const Operands& operands) {
  if (pull_over_link(piece, operands)) return;
  const std::optional<Operand> read = src_as_read(piece, operands);
  if (!read) return stage(piece, operands);
  Context& of_src = group_.context_of(piece.src_member);
  Context& of_dst = group_.context_of(piece.dst_member);
  Context& runner = of_dst.on_cuda() ? of_dst : of_src;
  const NativeStream stream = on_of(of_dst.on_cuda() ? piece.dst_member : piece.src_member).stream;
  const auto seen = [&](const Side& side, const Context& of_side, Access access) {
    if (of_side.on_cuda() == runner.on_cuda()) return side.operand;
    return look_up_range(runner, side.first, side.bytes, access, access == Access::read ? "src" : "dst", side.bytes);
  };
  const Operand src =
      of_src.on_cuda() == runner.on_cuda() ? *read : seen(src_side(piece, operands), of_src, Access::read);
  const Operand dst = seen(dst_side(piece, operands), of_dst, Access::write);
  const bool enqueued = runner.on_cuda() && !src.on_host() && !dst.on_host();
  move_part(runner, piece.shape, src_of(piece, operands), src, dst_of(piece, operands), dst, stream,
            enqueued ? Completion::asynchronous : Completion::blocking,
            peer_copies_.occupancy(group_.members.local(piece.dst_member), piece.shape.bytes()));
  if (enqueued) at_work(runner, stream);
}

bool Exchange::reads_directly(size_t from, size_t to, const Operands& operands) const {
  Context& reader = *group_.contexts[to];
  Context& owner = *group_.contexts[from];
  if (!reader.on_cuda() || !owner.on_cuda()) return false;
  const auto is_device = [](const Operand& side, Context& of) {
    return side.kind == GPUMEM_MEMORY_DEVICE && side.device == of.device().props().ordinal;
  };
  return is_device(operands.src[from].operand, owner) && is_device(operands.dst[to].operand, reader) &&
         (!on_two_devices(reader, owner) || operands.reached[to * operands.src.size() + from]);
}

void Exchange::sort_pulls(const Operands& operands) {
  Sorted now;
  for (const auto* sides : {&operands.src, &operands.dst}) {
    for (const Side& side : *sides) now.memory.push_back(side.p);
  }
  for (size_t i = 0; i < group_.contexts.size(); ++i) now.memory.push_back(batches_.room_of(i));
  for (const auto& [from, to] : pairs_) now.near.push_back(reads_directly(from, to, operands));
  if (now.memory == sorted_.memory && now.near == sorted_.near) return;
  sorted_ = {};
  batches_.clear();
  for (size_t i = 0; i < route_.pulls.size(); ++i) {
    const BoxOverlap& piece = route_.pulls[i];
    if (is_there(piece, operands)) continue;
    const bool near = now.near[pair_of_[i]];
    if (near && batches_.take(i, src_of(piece, operands).p, dst_of(piece, operands).p)) continue;
    now.alone.push_back(i);
  }
  sorted_ = std::move(now);
}

bool Exchange::take_across(size_t i, const Operands& operands, const std::vector<NativeStream>& streams,
                           bool captured) {
  const BoxOverlap& piece = route_.pulls[i];
  const auto& [from, to] = pairs_[pair_of_[i]];
  const bool near = sorted_.near[pair_of_[i]];
  const Operand& of_src = operands.src[from].operand;
  const Operand& of_dst = operands.dst[to].operand;
  const bool lent = of_src.kind == GPUMEM_MEMORY_MANAGED && !of_dst.on_host() && !captured;
  if ((!near && !lent) || !on_two_devices(*group_.contexts[from], *group_.contexts[to])) return false;
  const StridedArray src = src_of(piece, operands);
  const StridedArray dst = dst_of(piece, operands);
  Crossed crossed{to,          piece.shape, static_cast<char*>(src.p),
                  src.strides, of_src,      static_cast<char*>(dst.p),
                  dst.strides, of_dst,      streams[to]};
  if (near) {
    crossed.src_operand.device = of_dst.device;
    if (!peer_copies_.take(crossed, captured)) return false;
    at_work(*group_.contexts[to], streams[to]);
    return true;
  }
  at_work(*group_.contexts[from], streams[from]);  // a partial failure is waited for
  at_work(*group_.contexts[to], streams[to]);
  return managed_staging_.take(crossed, from, streams[from]);
}

void Exchange::pull_together(const Operands& operands, const std::vector<NativeStream>& streams, bool captured) {
  if (!captured) batches_.make_room(streams);
  sort_pulls(operands);
  for (size_t member = 0; member < group_.contexts.size(); ++member) {
    if (batches_.packs(member)) at_work(*group_.contexts[member], streams[member]);
  }
  batches_.pack(streams);
  here_.clear();
  for (const size_t i : sorted_.alone) {
    if (!take_across(i, operands, streams, captured)) here_.push_back(i);
  }
  managed_staging_.finish();
  peer_copies_.start();
  for (size_t member = 0; member < group_.contexts.size(); ++member) {
    Context& context = *group_.contexts[member];
    if (batches_.empty(member)) continue;
    at_work(context, streams[member]);
    batches_.launch(member, streams[member]);
  }
}

}  // namespace gpumem
