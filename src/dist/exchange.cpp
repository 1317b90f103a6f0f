#include "dist/exchange.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <string>

#include "base/sentences.hpp"
#include "context/streams.hpp"
#include "dist/movement.hpp"
#include "ops/operand.hpp"

namespace gpumem {
namespace {

// In front of each message: which one it is, or that its sender has given up.
struct Header {
  static constexpr uint64_t kMagic = 0x67706d656d2d6d73;
  uint64_t magic = kMagic;
  int64_t plan = 0;
  int64_t run = 0;
  int64_t number = 0;
  int64_t bytes = 0;  // -1: none will come
};
static_assert(sizeof(Header) <= kHeaderBytes);

constexpr int64_t kGivenUp = -1;

void put_header(char* to, const Header& header) noexcept {
  std::memset(to, 0, kHeaderBytes);
  std::memcpy(to, &header, sizeof header);
}

Shape shape_of(const Route& route, const Piece& piece) noexcept {
  return {route.element_bytes, route.rank, piece.extents};
}

// Bytes from the first element of a piece to the end of its last.
int64_t reach_of(const Shape& shape, const Index& strides) noexcept {
  int64_t last = 0;
  for (size_t d = 0; d < static_cast<size_t>(shape.rank); ++d) last += (shape.extents[d] - 1) * strides[d];
  return (last + 1) * shape.element_bytes;
}

bool overlap(const void* a, int64_t a_bytes, const void* b, int64_t b_bytes) noexcept {
  if (a_bytes == 0 || b_bytes == 0) return false;
  const auto at = reinterpret_cast<uintptr_t>(a);
  const auto bt = reinterpret_cast<uintptr_t>(b);
  return at < bt + static_cast<uintptr_t>(b_bytes) && bt < at + static_cast<uintptr_t>(a_bytes);
}

// The memory of a member of this process, and what of it is used.
struct Side {
  char* p = nullptr;
  char* first = nullptr;
  int64_t bytes = 0;
  bool on_host = true;
};

}  // namespace

struct Exchange::Slot {
  char* p = nullptr;
  size_t message = 0;
  void* request = nullptr;
  bool busy = false;
};

// What a run works on: the members' memory, looked up once.
struct Exchange::Operands {
  std::vector<Side> src;
  std::vector<Side> dst;
};

Exchange::Exchange(Communicator& communicator, Contexts contexts, const Members& members, Route route,
                   int64_t workspace_bytes, int64_t number, bool in_place)
    : communicator_(communicator),
      contexts_(std::move(contexts)),
      members_(members),
      route_(std::move(route)),
      number_(number),
      in_place_(in_place),
      src_reach_(contexts_.size()),
      dst_reach_(contexts_.size()),
      outgoing_(window_for(route_.sends, workspace_bytes / 2)),
      incoming_(window_for(route_.receives, workspace_bytes / 2)) {
  note_reaches();
}

void Exchange::note_reaches() {
  const auto note = [&](const Piece& piece, int32_t member, int64_t offset, const Index& strides,
                        std::vector<Reach>& reaches) {
    if (!members_.is_here(member)) return;
    Reach& reach = reaches[members_.local(member)];
    reach.first = std::min(reach.first, offset);
    reach.end = std::max(reach.end, offset + reach_of(shape_of(route_, piece), strides) / route_.element_bytes);
  };
  const auto note_all = [&](const std::vector<Piece>& pieces) {
    for (const Piece& piece : pieces) {
      note(piece, piece.src_member, piece.src_offset, piece.src_strides, src_reach_);
      note(piece, piece.dst_member, piece.dst_offset, piece.dst_strides, dst_reach_);
    }
  };
  note_all(route_.pulls);
  for (const Message& message : route_.sends) note_all(message.pieces);
  for (const Message& message : route_.receives) note_all(message.pieces);
}

Exchange::Window Exchange::window_for(const std::vector<Message>& messages, int64_t workspace_bytes) {
  Window window;
  for (const Message& message : messages) window.slot_bytes = std::max(window.slot_bytes, kHeaderBytes + message.bytes);
  if (messages.empty()) return window;
  window.slots = static_cast<size_t>(std::max<int64_t>(workspace_bytes / window.slot_bytes, 1));
  window.slots = std::min(window.slots, messages.size());
  window.memory.reset(new char[static_cast<size_t>(window.bytes())]);
  return window;
}

int64_t Exchange::workspace_bytes() const noexcept { return outgoing_.bytes() + incoming_.bytes(); }

void Exchange::post(const Message& message, Slot& slot, const Operands& operands) {
  put_header(slot.p, {.plan = number_, .run = runs_, .number = message.number, .bytes = message.bytes});
  char* to = slot.p + kHeaderBytes;
  for (const Piece& piece : message.pieces) {
    const Side& side = operands.src[members_.local(piece.src_member)];
    const Shape shape = shape_of(route_, piece);
    pack(*contexts_[members_.local(piece.src_member)], shape,
         {side.p + piece.src_offset * route_.element_bytes, piece.src_strides}, side.on_host, to);
    to += shape.bytes();
  }
  slot.request = communicator_.begin_send(slot.p, kHeaderBytes + message.bytes, message.process);
}

void Exchange::take(const Message& message, const Slot& slot, const Operands& operands) {
  Header header;
  std::memcpy(&header, slot.p, sizeof header);
  if (header.magic == Header::kMagic && header.bytes == kGivenUp) {
    fail(GPUMEM_PEER_LOST, "process %d could not go on with its part of the plan", message.process);
  }
  const Header expected{.plan = number_, .run = runs_, .number = message.number, .bytes = message.bytes};
  if (std::memcmp(&header, &expected, sizeof header) != 0) {
    fail(GPUMEM_PEER_LOST,
         "process %d sent a message of another call; expected the same calls in the same order on every process",
         message.process);
  }
  const char* from = slot.p + kHeaderBytes;
  for (const Piece& piece : message.pieces) {
    const Side& side = operands.dst[members_.local(piece.dst_member)];
    const Shape shape = shape_of(route_, piece);
    unpack(*contexts_[members_.local(piece.dst_member)], shape, from,
           {side.p + piece.dst_offset * route_.element_bytes, piece.dst_strides}, side.on_host);
    from += shape.bytes();
  }
}

// On the context that reaches both sides: that of dst, or that of src where dst's is the host's. Two devices reach each other by way of
// the heap.
void Exchange::pull(const Piece& piece, const Operands& operands) {
  Context& of_src = *contexts_[members_.local(piece.src_member)];
  Context& of_dst = *contexts_[members_.local(piece.dst_member)];
  const Side& from = operands.src[members_.local(piece.src_member)];
  const Side& to = operands.dst[members_.local(piece.dst_member)];
  const Shape shape = shape_of(route_, piece);
  const Strided src{from.p + piece.src_offset * shape.element_bytes, piece.src_strides};
  const Strided dst{to.p + piece.dst_offset * shape.element_bytes, piece.dst_strides};
  const bool one_device =
      !of_src.on_cuda() || !of_dst.on_cuda() || of_src.device().props().ordinal == of_dst.device().props().ordinal;
  if (!one_device) {
    const TemporaryBlock block(of_src, true, shape.bytes());
    pack(of_src, shape, src, from.on_host, block.get());
    return unpack(of_dst, shape, block.get(), dst, to.on_host);
  }
  Context& runner = of_dst.on_cuda() ? of_dst : of_src;
  if (!overlap(src.p, reach_of(shape, piece.src_strides), dst.p, reach_of(shape, piece.dst_strides))) {
    return move(runner, shape, src, dst);
  }
  const TemporaryBlock block(runner, from.on_host, shape.bytes());
  const Index tight = shape.tight_strides();
  move(runner, shape, src, {block.get(), tight});
  move(runner, shape, {block.get(), tight}, dst);
}

// Messages of both directions go through their windows in one order on every process, so that the one that all wait for can always go;
// what stays here is moved while they travel.
void Exchange::run_all(const Operands& operands) {
  const auto slots_of = [&](const Window& window) {
    std::vector<Slot> slots(window.slots);
    for (size_t i = 0; i < slots.size(); ++i)
      slots[i].p = window.memory.get() + i * static_cast<size_t>(window.slot_bytes);
    return slots;
  };
  std::vector<Slot> out = slots_of(outgoing_);
  std::vector<Slot> in = slots_of(incoming_);
  size_t sent = 0;
  size_t received = 0;
  size_t pulled = 0;
  const auto over = [&] {
    const auto busy = [](const Slot& slot) { return slot.busy; };
    return sent == route_.sends.size() && received == route_.receives.size() &&
           std::none_of(out.begin(), out.end(), busy) && std::none_of(in.begin(), in.end(), busy);
  };
  communicator_.begin_deadline();
  while (!over() || pulled < route_.pulls.size()) {
    bool moved = false;
    for (Slot& slot : in) {
      if (slot.busy && communicator_.ended(slot.request)) {
        take(route_.receives[slot.message], slot, operands);
        slot.busy = false;
        moved = true;
      }
      if (slot.busy || received == route_.receives.size()) continue;
      slot.message = received++;
      slot.request = communicator_.begin_receive(slot.p, incoming_.slot_bytes, route_.receives[slot.message].process);
      slot.busy = true;
    }
    for (Slot& slot : out) {
      if (slot.busy && communicator_.ended(slot.request)) slot.busy = false;
      if (slot.busy || sent == route_.sends.size()) continue;
      slot.message = sent++;
      post(route_.sends[slot.message], slot, operands);
      slot.busy = true;
      moved = true;
      break;  // what has arrived meanwhile comes first
    }
    if (moved) continue;
    if (pulled == route_.pulls.size()) {
      communicator_.pause();
    } else {
      pull(route_.pulls[pulled++], operands);
      communicator_.begin_deadline();  // nobody listened
    }
  }
}

// A word to each process that waits for messages; nobody waits here until it is there.
void Exchange::give_up(const Error& error) noexcept {
  if (route_.sends.empty() && route_.receives.empty()) return;  // the others don't miss it
  try {
    keep_for_ever(outgoing_.memory);
    keep_for_ever(incoming_.memory);
    const std::shared_ptr<char[]> word(new char[kHeaderBytes]);
    put_header(word.get(), {.bytes = kGivenUp});
    keep_for_ever(word);
    int32_t last = communicator_.rank();
    for (const Message& message : route_.sends) {
      if (message.process == last || communicator_.status() != GPUMEM_OK) continue;
      last = message.process;
      communicator_.begin_send(word.get(), kHeaderBytes, last);
    }
  } catch (const std::exception&) {
    // Their deadlines tell them.
  }
  communicator_.stick(error);
}

// All of it before anything is written. What lies between the elements need not be there.
Exchange::Operands Exchange::look_up_all(const void* const* src, void* const* dst) const {
  const auto look = [&](const char* name, const void* const* pointers, const std::vector<Reach>& reaches,
                        Access access) {
    std::vector<Side> sides(contexts_.size());
    for (size_t at = 0; at < sides.size(); ++at) {
      if (reaches[at].end == 0) continue;
      const int32_t member = members_.first() + static_cast<int32_t>(at);
      const std::string argument =
          std::string(name) + "[" + std::to_string(at) + "] of member " + std::to_string(member);
      if (pointers == nullptr || pointers[at] == nullptr) {
        fail(GPUMEM_INVALID_ARGUMENT, "%s is NULL; expected memory: the member has boxes", argument.c_str());
      }
      Side& side = sides[at];
      side.p = static_cast<char*>(const_cast<void*>(pointers[at]));
      side.first = side.p + reaches[at].first * route_.element_bytes;
      side.bytes = (reaches[at].end - reaches[at].first) * route_.element_bytes;
      side.on_host =
          look_up_range(*contexts_[at], side.first, side.bytes, access, argument.c_str(), side.bytes).on_host();
    }
    return sides;
  };
  Operands operands{look("src", src, src_reach_, Access::read), look("dst", dst, dst_reach_, Access::write)};
  for (size_t i = 0; !in_place_ && i < contexts_.size(); ++i) {
    for (size_t j = 0; j < contexts_.size(); ++j) {
      const Side& to = operands.dst[i];
      const Side& from = operands.src[j];
      if (!overlap(from.first, from.bytes, to.first, to.bytes)) continue;
      fail(GPUMEM_INVALID_ARGUMENT, "dst[%zu] overlaps src[%zu]; expected disjoint memory", i, j);
    }
  }
  return operands;
}

// Members take from each other's memory, so all of their streams come first.
void Exchange::run(const void* const* src, void* const* dst) {
  ++runs_;
  try {
    const Operands operands = look_up_all(src, dst);
    for (Context* context : contexts_) synchronize(*context, context->own_stream());
    run_all(operands);
  } catch (const Error& error) {
    give_up(error);
    throw;
  } catch (const std::bad_alloc&) {
    give_up(Error(GPUMEM_OUT_OF_MEMORY, "host memory has run out inside the library"));
    throw;
  }
}

}  // namespace gpumem
