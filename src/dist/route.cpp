// Which elements go where: the boxes of two layouts met with each other, cut into messages in an order that sender and receiver find
// alike.
#include <algorithm>
#include <iterator>
#include <map>

#include "dist/exchange.hpp"

namespace gpumem {
namespace {

// How large messages are where a process keeps that much memory for them.
int64_t message_bytes_for(int64_t workspace_bytes) noexcept {
  return std::clamp<int64_t>(workspace_bytes / 8, kLeastWorkspace / 8, kMostMessageBytes) - kHeaderBytes;
}

Piece piece_between(const Box& from, const Box& to, int64_t element_bytes, const Members& members) {
  const Box both = common(from, to);
  Piece piece{.src_member = from.member, .dst_member = to.member, .shape = {element_bytes, both.extents()}};
  if (members.is_here(from.member)) {
    piece.src_offset = from.place_of(both.lower);
    piece.src_strides = from.strides;
  }
  if (members.is_here(to.member)) {
    piece.dst_offset = to.place_of(both.lower);
    piece.dst_strides = to.strides;
  }
  return piece;
}

// The part of a piece from `first` on along an axis.
Piece part_of(Piece piece, size_t axis, int64_t first, int64_t length) {
  piece.shape.extents[axis] = length;
  piece.src_offset += first * piece.src_strides[axis];
  piece.dst_offset += first * piece.dst_strides[axis];
  return piece;
}

class Messages {
 public:
  explicit Messages(int64_t most_bytes) : most_bytes_(most_bytes) {}

  // Cut along its slowest axes where it is longer than a message.
  void add(int32_t process, int32_t distance, const Piece& piece) {
    const int64_t bytes = piece.shape.bytes();
    if (bytes <= most_bytes_) return append(process, distance, piece);
    const Index& extents = piece.shape.extents;
    size_t axis = 0;
    while (extents[axis] == 1) ++axis;
    const int64_t step = std::max<int64_t>(most_bytes_ / (bytes / extents[axis]), 1);
    for (int64_t at = 0; at < extents[axis]; at += step) {
      add(process, distance, part_of(piece, axis, at, std::min(step, extents[axis] - at)));
    }
  }

  std::vector<Message> in_order() && {
    std::vector<Message> all;
    for (auto& [unused, messages] : by_distance_) std::move(messages.begin(), messages.end(), std::back_inserter(all));
    return all;
  }

 private:
  void append(int32_t process, int32_t distance, const Piece& piece) {
    std::vector<Message>& messages = by_distance_[distance];
    const int64_t bytes = piece.shape.bytes();
    if (messages.empty() || messages.back().bytes + bytes > most_bytes_) {
      messages.push_back({.process = process, .number = static_cast<int64_t>(messages.size())});
    }
    messages.back().bytes += bytes;
    messages.back().pieces.push_back(piece);
  }

  const int64_t most_bytes_;
  std::map<int32_t, std::vector<Message>> by_distance_;
};

}  // namespace

// By boxes of dst, and within those by boxes of src: so both ends list the pieces between two processes in one order.
Route route(const Layout& src, const Layout& dst, const Group& group, int64_t workspace_bytes) {
  const Members& members = group.members;
  const int32_t here = group.communicator.rank();
  const int32_t processes = group.communicator.size();
  Route all;
  Messages sends(message_bytes_for(workspace_bytes));
  Messages receives(message_bytes_for(workspace_bytes));
  BoxIndex index(src);
  for (const Box& to : dst.boxes) {
    for (const int64_t i : index.meeting(to)) {
      const Box& from = src.boxes[static_cast<size_t>(i)];
      const bool sends_it = members.is_here(from.member);
      const bool takes_it = members.is_here(to.member);
      if (!sends_it && !takes_it) continue;
      const Piece piece = piece_between(from, to, src.element_bytes, members);
      if (sends_it && takes_it) {
        (group.reads(to.member, from.member) ? all.pulls : all.staged).push_back(piece);
      } else if (sends_it) {
        const int32_t process = members.process_of(to.member);
        sends.add(process, (process - here + processes) % processes, piece);
      } else {
        const int32_t process = members.process_of(from.member);
        receives.add(process, (here - process + processes) % processes, piece);
      }
    }
  }
  all.sends = std::move(sends).in_order();
  all.receives = std::move(receives).in_order();
  return all;
}

}  // namespace gpumem
