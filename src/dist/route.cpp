// Which elements go where: the boxes of two layouts met with each other, cut into messages in an order that sender and receiver find
// alike.
#include <algorithm>
#include <map>

#include "dist/exchange.hpp"

namespace gpumem {
namespace {

Piece piece_between(const Box& from, const Box& to, int32_t rank, const Members& members) {
  const Box both = common(from, to, rank);
  Piece piece{.src_member = from.member, .dst_member = to.member};
  for (size_t d = 0; d < static_cast<size_t>(rank); ++d) piece.extents[d] = both.upper[d] - both.lower[d];
  if (members.is_here(from.member)) {
    piece.src_offset = place_of(both.lower, from, rank);
    piece.src_strides = from.strides;
  }
  if (members.is_here(to.member)) {
    piece.dst_offset = place_of(both.lower, to, rank);
    piece.dst_strides = to.strides;
  }
  return piece;
}

// The part of a piece from `first` on along an axis.
Piece part_of(Piece piece, size_t axis, int64_t first, int64_t length) {
  piece.extents[axis] = length;
  piece.src_offset += first * piece.src_strides[axis];
  piece.dst_offset += first * piece.dst_strides[axis];
  return piece;
}

class Messages {
 public:
  Messages(int64_t element_bytes, int32_t rank, int64_t message_bytes)
      : element_bytes_(element_bytes), rank_(static_cast<size_t>(rank)), message_bytes_(message_bytes) {}

  // Cut along its slowest axes where it is longer than a message.
  void add(int32_t process, const Piece& piece) {
    int64_t bytes = element_bytes_;
    for (size_t d = 0; d < rank_; ++d) bytes *= piece.extents[d];
    if (bytes <= message_bytes_) return append(process, piece, bytes);
    size_t axis = 0;
    while (piece.extents[axis] == 1) ++axis;
    const int64_t step = std::max<int64_t>(message_bytes_ / (bytes / piece.extents[axis]), 1);
    for (int64_t at = 0; at < piece.extents[axis]; at += step) {
      add(process, part_of(piece, axis, at, std::min(step, piece.extents[axis] - at)));
    }
  }

  // In the order of distance(process).
  template <class Distance>
  std::vector<Message> in_order(const Distance& distance) && {
    std::vector<Message> all;
    std::map<int32_t, std::vector<Message>> by_distance;
    for (auto& [process, messages] : of_process_) by_distance[distance(process)] = std::move(messages);
    for (auto& [unused, messages] : by_distance) std::move(messages.begin(), messages.end(), std::back_inserter(all));
    return all;
  }

 private:
  void append(int32_t process, const Piece& piece, int64_t bytes) {
    std::vector<Message>& messages = of_process_[process];
    if (messages.empty() || messages.back().bytes + bytes > message_bytes_) {
      messages.push_back({.process = process, .number = static_cast<int64_t>(messages.size())});
    }
    messages.back().bytes += bytes;
    messages.back().pieces.push_back(piece);
  }

  const int64_t element_bytes_;
  const size_t rank_;
  const int64_t message_bytes_;
  std::map<int32_t, std::vector<Message>> of_process_;
};

}  // namespace

int64_t message_bytes_for(int64_t workspace_bytes) noexcept {
  return std::clamp<int64_t>(workspace_bytes / 8, kLeastWorkspace / 8, kMostMessageBytes) - kHeaderBytes;
}

// By boxes of dst, and within those by boxes of src: so both ends list the pieces between two processes in one order.
Route route(const Layout& src, const Layout& dst, const Members& members, int64_t message_bytes, int32_t processes) {
  Route route{.element_bytes = src.element_bytes, .rank = src.rank, .message_bytes = message_bytes};
  Messages sends(src.element_bytes, src.rank, message_bytes);
  Messages receives(src.element_bytes, src.rank, message_bytes);
  BoxIndex index(src);
  for (const Box& to : dst.boxes) {
    for (const int64_t i : index.meeting(to)) {
      const Box& from = src.boxes[static_cast<size_t>(i)];
      const bool sends_it = members.is_here(from.member);
      const bool takes_it = members.is_here(to.member);
      if (!sends_it && !takes_it) continue;
      const Piece piece = piece_between(from, to, src.rank, members);
      if (sends_it && takes_it) {
        route.pulls.push_back(piece);
      } else if (sends_it) {
        sends.add(members.process_of(to.member), piece);
      } else {
        receives.add(members.process_of(from.member), piece);
      }
    }
  }
  const int32_t here = members.process_of(members.first());
  route.sends = std::move(sends).in_order([&](int32_t process) { return (process - here + processes) % processes; });
  route.receives =
      std::move(receives).in_order([&](int32_t process) { return (here - process + processes) % processes; });
  return route;
}

}  // namespace gpumem
