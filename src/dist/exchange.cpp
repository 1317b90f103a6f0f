#include "dist/exchange.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "base/scope_exit.hpp"
#include "base/sentences.hpp"
#include "context/streams.hpp"
#include "ops/operand.hpp"

namespace gpumem {
namespace {

constexpr int64_t kAlignment = 64;  // of messages

bool overlap(const void* a, int64_t a_bytes, const void* b, int64_t b_bytes) noexcept {
  const auto at = reinterpret_cast<uintptr_t>(a);
  const auto bt = reinterpret_cast<uintptr_t>(b);
  return a_bytes > 0 && b_bytes > 0 && at < bt + static_cast<uintptr_t>(b_bytes) &&
         bt < at + static_cast<uintptr_t>(a_bytes);
}

int64_t slot_bytes_for(const std::vector<Message>& messages) noexcept {
  int64_t bytes = 0;
  for (const Message& message : messages) bytes = std::max(bytes, message.bytes);
  bytes = std::max(kHeaderBytes + bytes + kTrailerBytes, kNoticeBytes);
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

Exchange::Window::Window(const std::vector<Message>& all, int64_t most_bytes)
    : messages(all),
      slot_bytes(slot_bytes_for(all)),
      slots(std::min(all.size(), static_cast<size_t>(std::max<int64_t>(most_bytes / slot_bytes, 1)))),
      memory(static_cast<size_t>(bytes())) {}

void Exchange::Window::begin() noexcept {
  next = 0;
  left = messages.size();
  for (Slot& slot : slots) slot.message = nullptr;
  memory.under_way = left > 0;
}

int32_t Exchange::Window::first_process() const noexcept {
  for (const Slot& slot : slots) {
    if (slot.message != nullptr) return slot.message->process;
  }
  return -1;
}

Exchange::Exchange(PlanKind kind, const Group& group, const Layout& src, const Layout& dst, int64_t workspace_bytes)
    : group_(group),
      element_bytes_(src.element_bytes),
      route_(route(src, dst, group, workspace_bytes, kind == PlanKind::reduce ? kLeastLinkedOfReduction : 0)),
      outgoing_room_(place_packets(route_.linked_sends, true)),
      incoming_room_(place_packets(route_.linked_receives, false)),
      in_place_(kind == PlanKind::halo),
      src_reach_(group_.contexts.size()),
      dst_reach_(group_.contexts.size()),
      peer_copies_(group_, workspace_bytes),
      managed_staging_(group_, workspace_bytes),
      batches_(group_.contexts, workspace_bytes),
      outgoing_(route_.sends, staged_share(group, workspace_bytes) / 2),
      incoming_(route_.receives, staged_share(group, workspace_bytes) / 2) {
  for (const BoxOverlap& piece : route_.pulls) note_reaches(piece);
  for (const BoxOverlap& piece : route_.staged) note_reaches(piece);
  for (const BoxOverlap& piece : route_.pulls) {
    batches_.add(piece.shape, piece.src_strides, piece.dst_strides, group_.members.local(piece.src_member),
                 group_.members.local(piece.dst_member));
  }
  use_own_streams();
  here_.reserve(route_.pulls.size());
  at_work_.reserve(group_.contexts.size());
  find_pairs();
  for (const auto* messages : {&route_.sends, &route_.receives}) {
    for (const Message& message : *messages) {
      for (const BoxOverlap& piece : message.pieces) note_reaches(piece);
    }
  }
  for (const auto* rounds : {&route_.linked_sends, &route_.linked_receives}) {
    for (const std::vector<Message>& packets : *rounds) {
      for (const Message& packet : packets) {
        for (const BoxOverlap& piece : packet.pieces) note_reaches(piece);
      }
    }
  }
}

void Exchange::note_reaches(const BoxOverlap& piece) {
  const auto note = [&](int32_t member, int64_t offset, const Index& strides, std::vector<Reach>& reaches) {
    if (!group_.members.is_here(member)) return;
    Reach& reach = reaches[group_.members.local(member)];
    reach.first = std::min(reach.first, offset);
    reach.end = std::max(reach.end, offset + piece.shape.reach(strides));
  };
  note(piece.src_member, piece.src_offset, piece.src_strides, src_reach_);
  note(piece.dst_member, piece.dst_offset, piece.dst_strides, dst_reach_);
}

void Exchange::post(const Message& message, char* to, const Operands& operands) const {
  const MessageHeader header = group_.communicator.next_header(message.process, MessageHeader::kPieces, message.bytes);
  std::memcpy(to, &header, kHeaderBytes);
  to += kHeaderBytes;
  for (const BoxOverlap& piece : message.pieces) {
    pack(group_.context_of(piece.src_member), piece.shape, src_of(piece, operands), src_side(piece, operands).operand,
         to, on_of(piece.src_member));
    to += piece.shape.bytes();
  }
  std::memcpy(to, &header.sum, kTrailerBytes);
}

void Exchange::take(const Window::Slot& slot, const char* from, const Operands& operands) const {
  const Message& message = *slot.message;
  const Communicator& communicator = group_.communicator;
  const MessageHeader header =
      communicator.read_header(from, message.process, slot.sequence, MessageHeader::kPieces, message.bytes);
  from += kHeaderBytes;
  if (std::memcmp(from + message.bytes, &header.sum, kTrailerBytes) != 0) {
    communicator.fail_changed(message.process, slot.sequence);
  }
  for (const BoxOverlap& piece : message.pieces) {
    unpack(group_.context_of(piece.dst_member), piece.shape, from, dst_of(piece, operands),
           dst_side(piece, operands).operand, on_of(piece.dst_member));
    from += piece.shape.bytes();
  }
}

void Exchange::stage(const BoxOverlap& piece, const Operands& operands) const {
  Context& of_src = group_.context_of(piece.src_member);
  const TemporaryBlock block(of_src, true, piece.shape.bytes());
  pack(of_src, piece.shape, src_of(piece, operands), src_side(piece, operands).operand, block.get(),
       on_of(piece.src_member));
  unpack(group_.context_of(piece.dst_member), piece.shape, block.get(), dst_of(piece, operands),
         dst_side(piece, operands).operand, on_of(piece.dst_member));
}

// Moves one piece within this process. False: none left.
bool Exchange::move_next(const Operands& operands, size_t& moved) {
  const size_t pulls = here_.size();
  if (moved == pulls + route_.staged.size()) return false;
  if (moved < pulls) {
    pull(route_.pulls[here_[moved]], operands);
  } else {
    stage(route_.staged[moved - pulls], operands);
  }
  ++moved;
  return true;
}

void Exchange::finish_pulls() {
  peer_copies_.finish();
  for (const auto& [context, stream] : at_work_) synchronize(*context, stream);
  at_work_.clear();
}

// Whether a message arrived. Its completion makes room for the next.
bool Exchange::receive_some(const Operands& operands) {
  bool came = false;
  for (size_t i = 0; i < incoming_.slots.size(); ++i) {
    Window::Slot& slot = incoming_.slots[i];
    if (slot.message != nullptr && group_.communicator.ended(slot.request, slot.message->process)) {
      take(slot, incoming_.data_of(i), operands);
      slot.message = nullptr;
      --incoming_.left;
      came = true;
    }
    if (slot.message != nullptr || incoming_.next == route_.receives.size()) continue;
    const Message& message = route_.receives[incoming_.next++];
    char* const to = incoming_.data_of(i);  // a transport may write less than expected
    std::memset(to, 0, kNoticeBytes);
    std::memset(to + kHeaderBytes + message.bytes, 0, kTrailerBytes);
    slot.sequence = group_.communicator.next_from(message.process);
    slot.request = group_.communicator.begin_receive(to, incoming_.slot_bytes, message.process);
    slot.message = &message;
  }
  return came;
}

// Sends at most one message, because arrived messages come first. Returns whether one went.
bool Exchange::send_one(const Operands& operands) {
  for (size_t i = 0; i < outgoing_.slots.size(); ++i) {
    Window::Slot& slot = outgoing_.slots[i];
    if (slot.message != nullptr && group_.communicator.ended(slot.request, slot.message->process)) {
      slot.message = nullptr;
      --outgoing_.left;
    }
    if (slot.message != nullptr || outgoing_.next == route_.sends.size()) continue;
    const Message& message = route_.sends[outgoing_.next++];
    post(message, outgoing_.data_of(i), operands);
    slot.request = group_.communicator.begin_send(outgoing_.data_of(i), kHeaderBytes + message.bytes + kTrailerBytes,
                                                  message.process);
    slot.message = &message;
    return true;
  }
  return false;
}

// Messages of both directions go through their windows in one order on every process. So the first unfinished message
// always has a slot at both ends. Local pieces move while messages travel.
void Exchange::run_all(const Operands& operands) {
  outgoing_.begin();
  incoming_.begin();
  size_t moved = 0;
  group_.communicator.begin_deadline();
  while (true) {
    if (group_.communicator.aborted()) group_.communicator.require_sound();
    const bool came = receive_some(operands);
    const bool went = send_one(operands);
    const bool linked = go_on(operands);
    if (came || went || linked) continue;
    if (move_next(operands, moved)) {
      group_.communicator.begin_deadline();  // no message was polled for meanwhile
    } else if (!outgoing_.over() || !incoming_.over() || rounds_.over < rounds()) {
      const int32_t from = incoming_.first_process();
      group_.communicator.pause(from >= 0 ? from : outgoing_.first_process());
    } else {
      break;
    }
  }
  outgoing_.memory.under_way = false;
  incoming_.memory.under_way = false;
}

void Exchange::give_up(const Error& error) noexcept {
  if (agrees_ && !under_way_) return;
  if (route_.sends.empty() && route_.receives.empty() && !is_linked()) return;  // no other process waits for this one
  group_.communicator.give_up(error);
}

// All operands are looked up before anything is written. Padding between the elements need not be mapped.
Exchange::Operands Exchange::look_up_all(const void* const* src, void* const* dst, const char* src_name) const {
  const auto look = [&](const char* name, const void* const* pointers, const std::vector<Reach>& reaches,
                        Access access) {
    std::vector<Side> sides(group_.contexts.size());
    for (size_t at = 0; at < sides.size(); ++at) {
      if (reaches[at].first >= reaches[at].end) continue;
      const int32_t member = group_.members.first() + static_cast<int32_t>(at);
      std::string argument = std::string(name) + "[" + std::to_string(at) + "] of member " + std::to_string(member);
      if (reaches[at].first < 0)
        argument += ", whose halo begins " + std::to_string(-reaches[at].first) + " elements before it,";
      if (pointers == nullptr || pointers[at] == nullptr) {
        fail(GPUMEM_INVALID_ARGUMENT, "%s is NULL; expected memory: the member has boxes", argument.c_str());
      }
      Side& side = sides[at];
      side.p = static_cast<char*>(const_cast<void*>(pointers[at]));
      side.first = side.p + reaches[at].first * element_bytes_;
      side.bytes = (reaches[at].end - reaches[at].first) * element_bytes_;
      Context& context = *group_.contexts[at];
      side.operand = look_up_range(context, side.first, side.bytes, access, argument.c_str(), side.bytes);
    }
    return sides;
  };
  if (in_place_ && dst == nullptr) {
    return {look("src", src, src_reach_, Access::read), look("src", src, dst_reach_, Access::write)};
  }
  Operands operands{look(src_name, src, src_reach_, Access::read), look("dst", dst, dst_reach_, Access::write)};
  for (size_t i = 0; i < operands.dst.size(); ++i) {
    if (in_place_ && src != nullptr && dst[i] != src[i]) {
      fail(GPUMEM_INVALID_ARGUMENT, "dst[%zu] is not src[%zu]; expected the same memory, or dst NULL, for a halo", i,
           i);
    }
    for (size_t j = 0; !in_place_ && j < operands.src.size(); ++j) {
      const Side& to = operands.dst[i];
      const Side& from = operands.src[j];
      if (!overlap(from.first, from.bytes, to.first, to.bytes)) continue;
      fail(GPUMEM_INVALID_ARGUMENT, "dst[%zu] overlaps %s[%zu]; expected disjoint memory", i, src_name, j);
    }
  }
  return operands;
}

// Before anything is sent: a failure on one process is a failure on all.
void Exchange::agree(const Communicator::Make& make_ready) {
  group_.communicator.agree(0, make_ready, [](const Bytes&, const Bytes&, int32_t) { return Bytes(); });
  under_way_ = true;
}

void Exchange::use_own_streams() {
  on_.clear();
  for (Context* context : group_.contexts) on_.push_back(WorkStream::own(*context));
}

void Exchange::finish_earlier() const {
  for (size_t i = 0; i < on_.size(); ++i) synchronize(*group_.contexts[i], on_[i].stream);
}

// Participants read each other's memory, so all of their streams finish first.
void Exchange::run(const void* const* src, void* const* dst, const char* src_name) {
  use_own_streams();
  run_with([&] { return look_up_all(src, dst, src_name); });
}

void Exchange::run_on(const std::vector<WorkStream>& on, const Operands& operands) {
  on_ = on;
  run_with([&] { return operands; });
}

template <class GetOperands>
void Exchange::run_with(const GetOperands& get_operands) {
  const ScopeExit end([this]() noexcept {
    end_rounds();
    under_way_ = false;
    for (const auto& [context, stream] : at_work_) context->device().finish_stream(stream);
    at_work_.clear();
    peer_copies_.abandon();
    managed_staging_.abandon();
    batches_.abandon();
  });
  Operands operands;
  const auto make_ready = [&] {
    operands = get_operands();
    reach_all(operands);
    open_slots(operands);
    return Bytes();
  };
  if (agrees_) agree(make_ready);
  try {
    if (!agrees_) make_ready();
    if (is_empty()) return;
    finish_earlier();
    // An override may fit only some pieces, which shows after the first ones are written.
    const ScopedOverride by_table(GPUMEM_FAMILY_PERMUTE);
    std::vector<NativeStream> streams;
    for (const WorkStream& work : on_) streams.push_back(work.stream);
    pull_together(operands, streams, false);
    run_all(operands);
    finish_pulls();
  } catch (...) {
    give_up(current_error());
    throw;
  }
}

}  // namespace gpumem
