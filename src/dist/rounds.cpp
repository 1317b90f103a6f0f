// Transfers on the link. Round r combines the r-th packet of each pair, so no transfer waits for a later one. A round
// travels on the link's streams while work streams pack the next. The link may break: participants' own streams never
// wait for it, and those of an enqueued exchange wait for it only while a thread watches it.
#include <atomic>
#include <new>
#include <thread>
#include <utility>

#include "dist/exchange.hpp"

namespace gpumem {
namespace {

constexpr std::chrono::seconds kPatience{1};

struct KeptBlock {
  TemporaryBlock* block;
  KeptBlock* next;
};

// Keeps buffers of unfinished transfers as long as the process lives.
void keep(std::unique_ptr<TemporaryBlock> block) noexcept {
  static constinit std::atomic<KeptBlock*> first{nullptr};
  auto* const kept = new (std::nothrow) KeptBlock{block.release(), first.load()};
  while (kept != nullptr && !first.compare_exchange_weak(kept->next, kept)) continue;
}

}  // namespace

bool is_near(Context& context, const Operand& operand) noexcept {
  return context.on_cuda() && !operand.on_host() &&
         (operand.kind != GPUMEM_MEMORY_DEVICE || operand.device == context.device().props().ordinal);
}

// Returns the slot bytes per local participant, and places each packet in its slot.
std::vector<int64_t> Exchange::place_packets(std::vector<std::vector<Message>>& rounds, bool sends) const {
  std::vector<int64_t> room(group_.contexts.size(), 0);
  for (std::vector<Message>& packets : rounds) {
    std::vector<int64_t> used(room.size(), 0);
    for (Message& packet : packets) {
      const BoxOverlap& first = packet.pieces.front();
      const size_t at = group_.members.local(sends ? first.src_member : first.dst_member);
      packet.place = used[at];
      used[at] += (packet.bytes + kPacketAlignment - 1) / kPacketAlignment * kPacketAlignment;
      room[at] = std::max(room[at], used[at]);
    }
  }
  return room;
}

int64_t Exchange::workspace_bytes() const noexcept {
  int64_t bytes = outgoing_.bytes() + incoming_.bytes();
  for (const int64_t room : outgoing_room_) bytes += 2 * room;
  for (const int64_t room : incoming_room_) bytes += 2 * room;
  return bytes;
}

// One piece without padding, in memory that the device's operations reach.
bool Exchange::goes_directly(const Message& packet, bool sends, const Operands& operands) const noexcept {
  if (packet.pieces.size() != 1) return false;
  const BoxOverlap& piece = packet.pieces.front();
  const Operand& operand = (sends ? src_side(piece, operands) : dst_side(piece, operands)).operand;
  const int32_t ordinal = group_.context_of(sends ? piece.src_member : piece.dst_member).device().props().ordinal;
  return operand.kind == GPUMEM_MEMORY_DEVICE && operand.device == ordinal &&
         piece.shape.is_tight(sends ? piece.src_strides : piece.dst_strides);
}

void Exchange::open_slots(const Operands& operands) {
  const size_t members = group_.contexts.size();
  rounds_ = {};
  const auto open = [&](const std::vector<std::vector<Message>>& rounds, bool sends, const std::vector<int64_t>& room,
                        SlotPairs& slots) {
    std::vector<bool> needed(members);
    for (const std::vector<Message>& packets : rounds) {
      for (const Message& packet : packets) {
        const BoxOverlap& first = packet.pieces.front();
        const size_t at = group_.members.local(sends ? first.src_member : first.dst_member);
        if (!needed[at]) needed[at] = !goes_directly(packet, sends, operands);
      }
    }
    for (std::vector<Slot>& of_all : slots) {
      for (size_t at = 0; at < members; ++at) {
        Slot& slot = of_all.emplace_back();
        if (!needed[at]) continue;
        Context& context = *group_.contexts[at];
        slot.block = std::make_unique<TemporaryBlock>(context, false, room[at], on_[at]);
        slot.operand = look_up_range(context, slot.block->get(), room[at], Access::write, "workspace");
      }
    }
  };
  if (!route_.linked_sends.empty()) open(route_.linked_sends, true, outgoing_room_, rounds_.outgoing);
  if (!route_.linked_receives.empty()) open(route_.linked_receives, false, incoming_room_, rounds_.incoming);
}

void Exchange::pack_packet(const Message& packet, const Slot& slot, const Operands& operands) {
  char* to = static_cast<char*>(slot.block->get()) + packet.place;
  for (const BoxOverlap& piece : packet.pieces) {
    Context& context = group_.context_of(piece.src_member);
    const WorkStream& on = on_of(piece.src_member);
    const Side& side = src_side(piece, operands);
    const Index tight = piece.shape.tight_strides();
    if (is_near(context, side.operand)) {
      move_part(context, piece.shape, src_of(piece, operands), side.operand, {to, tight}, slot.operand, on.stream,
                Completion::asynchronous);
      at_work(context, on.stream);
    } else {
      const TemporaryBlock block(context, true, piece.shape.bytes());
      pack(context, piece.shape, src_of(piece, operands), side.operand, block.get(), on);
      unpack(context, piece.shape, block.get(), {to, tight}, slot.operand, on);
    }
    to += piece.shape.bytes();
  }
}

void Exchange::unpack_packet(const Message& packet, const Slot& slot, const Operands& operands) {
  char* from = static_cast<char*>(slot.block->get()) + packet.place;
  for (const BoxOverlap& piece : packet.pieces) {
    Context& context = group_.context_of(piece.dst_member);
    const WorkStream& on = on_of(piece.dst_member);
    const Side& side = dst_side(piece, operands);
    const Index tight = piece.shape.tight_strides();
    if (is_near(context, side.operand)) {
      move_part(context, piece.shape, {from, tight}, slot.operand, dst_of(piece, operands), side.operand, on.stream,
                Completion::asynchronous);
      at_work(context, on.stream);
    } else {
      const TemporaryBlock block(context, true, piece.shape.bytes());
      pack(context, piece.shape, {from, tight}, slot.operand, block.get(), on);
      unpack(context, piece.shape, block.get(), dst_of(piece, operands), side.operand, on);
    }
    from += piece.shape.bytes();
  }
}

// Earlier work of the work streams comes first: packets of this round, and unpacking from the slots it reuses.
void Exchange::begin_round(const Operands& operands) {
  DeviceTransport& wire = *group_.wire;
  const auto round = static_cast<size_t>(rounds_.begun);
  std::vector<Transfer> transfers;
  const auto add = [&](const std::vector<std::vector<Message>>& all, bool sends, SlotPairs& slots) {
    if (round >= all.size()) return;
    for (const Message& packet : all[round]) {
      const BoxOverlap& first = packet.pieces.front();
      const size_t at = group_.members.local(sends ? first.src_member : first.dst_member);
      const Slot& slot = slots[round % 2][at];
      const bool directly = goes_directly(packet, sends, operands);
      void* p = directly ? (sends ? src_of(first, operands) : dst_of(first, operands)).p
                         : static_cast<char*>(slot.block->get()) + packet.place;
      if (sends && !directly) pack_packet(packet, slot, operands);
      transfers.push_back({at, packet.process, sends, p, static_cast<size_t>(packet.bytes)});
    }
  };
  add(route_.linked_sends, true, rounds_.outgoing);
  add(route_.linked_receives, false, rounds_.incoming);
  for (size_t at = 0; at < group_.contexts.size(); ++at) {
    wire.ready[at].record(on_[at].stream);
    wire.ready[at].wait(*group_.contexts[at], wire.streams[at]);
  }
  ++rounds_.begun;
  rounds_.pending = true;
  wire.link->begin(transfers, wire.streams);
}

// Unpacks what has arrived in the first round that is not over.
void Exchange::end_round(const Operands& operands) {
  const auto round = static_cast<size_t>(rounds_.over);
  for (size_t i = 0; round < route_.linked_receives.size() && i < route_.linked_receives[round].size(); ++i) {
    const Message& packet = route_.linked_receives[round][i];
    const size_t at = group_.members.local(packet.pieces.front().dst_member);
    if (!goes_directly(packet, false, operands)) unpack_packet(packet, rounds_.incoming[round % 2][at], operands);
  }
  ++rounds_.over;
}

bool Exchange::go_on(const Operands& operands) {
  if (rounds_.over == rounds()) return false;
  DeviceTransport& wire = *group_.wire;
  if (!wire.link->ready()) return false;
  const auto fence = [&](int64_t round, size_t at) -> const MemberFence& { return wire.done[round % 2][at]; };
  if (rounds_.pending) {
    for (size_t at = 0; at < wire.streams.size(); ++at) {
      fence(rounds_.begun - 1, at).record(wire.streams[at]);
    }
    rounds_.pending = false;
  } else if (rounds_.begun < rounds() && rounds_.begun < rounds_.over + 2) {
    begin_round(operands);
  } else {
    for (size_t at = 0; at < wire.streams.size(); ++at) {
      if (!fence(rounds_.over, at).passed()) return false;
    }
    end_round(operands);
    group_.communicator.begin_deadline();
  }
  return true;
}

// The deadline of a transfer begins when what is before it has passed. Earlier work has none.
void wait_for(const Exchange::Progress& progress, size_t count, const Group& group) {
  constexpr int kYields = 1024;
  constexpr std::chrono::microseconds kNap{50};
  for (size_t i = 0; i < count; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    for (int polls = 0; !progress.fences[i].passed(); ++polls) {
      group.communicator.require_sound();
      group.wire->link->ready();  // throws if the link is broken
      const bool has_deadline = i >= group.contexts.size();
      if (has_deadline && std::chrono::steady_clock::now() - begin > group.communicator.deadline()) {
        throw Error(GPUMEM_TIMED_OUT, "no bytes came or went over NCCL for the deadline");
      }
      if (polls < kYields) {
        std::this_thread::yield();
      } else {
        std::this_thread::sleep_for(kNap);
      }
    }
  }
}

// The work streams wait for each round before they unpack it, and before they pack into its slots again. Local pieces
// are read while the first round travels.
void Exchange::enqueue_rounds(const Operands& operands, Progress& progress) {
  constexpr int64_t kMostAhead = 4;  // a link whose queue is full would block the call
  DeviceTransport& wire = *group_.wire;
  const size_t members = group_.contexts.size();
  const auto begin = [&] {
    if (rounds_.begun >= kMostAhead) {
      wait_for(progress, static_cast<size_t>(rounds_.begun - kMostAhead + 2) * members, group_);
    }
    begin_round(operands);
    group_.communicator.begin_deadline();
    while (!wire.link->ready()) group_.communicator.pause();
    rounds_.pending = false;
    for (size_t at = 0; at < members; ++at) {
      progress.fences.emplace_back(group_.contexts[at]->device()).record(wire.streams[at]);
    }
  };
  if (rounds() > 0) begin();
  std::vector<NativeStream> streams;
  for (const WorkStream& work : on_) streams.push_back(work.stream);
  enqueue_pulls(operands, streams, Order::members);
  while (rounds_.over < rounds()) {
    if (rounds_.begun < rounds()) begin();
    const size_t begun_since = static_cast<size_t>(rounds_.begun - rounds_.over);
    for (size_t at = 0; at < members; ++at) {
      const MemberFence& arrived = progress.fences[progress.fences.size() - begun_since * members + at];
      arrived.wait(*group_.contexts[at], on_[at].stream);
    }
    end_round(operands);
  }
}

void Exchange::end_rounds() noexcept {
  bool ended = true;
  if (rounds_.over < rounds_.begun) {
    DeviceTransport& wire = *group_.wire;
    ended = wire.link->abort();
    const auto idle = [&](size_t at) noexcept {
      try {
        return group_.contexts[at]->device().idle(wire.streams[at]);
      } catch (const Error&) {
        return true;  // the device is lost
      }
    };
    const auto end = std::chrono::steady_clock::now() + kPatience;
    for (size_t at = 0; at < wire.streams.size() && ended; ++at) {
      while (!idle(at) && std::chrono::steady_clock::now() < end) std::this_thread::yield();
      ended = idle(at);
    }
  }
  for (auto* slots : {&rounds_.outgoing, &rounds_.incoming}) {
    for (std::vector<Slot>& of_all : *slots) {
      for (Slot& slot : of_all) {
        if (!ended && slot.block) keep(std::move(slot.block));
      }
      of_all.clear();
    }
  }
}

}  // namespace gpumem
