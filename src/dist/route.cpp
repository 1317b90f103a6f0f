// Intersects the boxes of two layouts, and cuts the pieces into messages in the same order for sender and receiver.
#include <algorithm>
#include <iterator>
#include <map>

#include "dist/exchange.hpp"
#include "ops/strides.hpp"

namespace gpumem {
namespace {

int64_t message_bytes_for(int64_t workspace_bytes) noexcept {
  return std::clamp<int64_t>(workspace_bytes / 8, kLeastWorkspace / 8, kMostMessageBytes) - kHeaderBytes -
         kTrailerBytes;
}

BoxOverlap piece_between(const Box& from, const Box& to, int64_t element_bytes, const Members& members) {
  const Box both = common(from, to);
  BoxOverlap piece{.src_member = from.member, .dst_member = to.member, .shape = {element_bytes, both.extents()}};
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

BoxOverlap part_of(BoxOverlap piece, size_t axis, int64_t first, int64_t length) {
  piece.shape.extents[axis] = length;
  piece.src_offset += first * piece.src_strides[axis];
  piece.dst_offset += first * piece.dst_strides[axis];
  return piece;
}

// The piece and count - 1 repetitions at those steps; nothing if one piece can't express that.
std::optional<BoxOverlap> repeated(BoxOverlap piece, int64_t count, int64_t src_step, int64_t dst_step) noexcept {
  const auto free = std::find(piece.shape.extents.begin(), piece.shape.extents.end(), 1);
  if (free == piece.shape.extents.end() || src_step <= 0 || dst_step <= 0) return std::nullopt;
  const auto axis = static_cast<size_t>(free - piece.shape.extents.begin());
  piece.shape.extents[axis] = count;
  piece.src_strides[axis] = src_step;
  piece.dst_strides[axis] = dst_step;
  for (const Index* strides : {&piece.src_strides, &piece.dst_strides}) {
    const auto rank = static_cast<int32_t>(kAxes);
    if (find_short_stride(rank, piece.shape.extents.data(), strides->data()).axis >= 0) return std::nullopt;
  }
  return piece;
}

// Joins small equidistant pieces, as in block-cyclic layouts. Two H200, rows of 8 KiB: 1,024 pieces 113 us, joined to
// four 32 to 36. Larger pieces gain nothing, because a piece of more axes is not a copy of rows.
constexpr int64_t kMostJoined = int64_t{64} << 10;

// For halos: the piece is already in place if both sides share memory.
bool may_be_there(const BoxOverlap& piece) noexcept {
  return piece.src_member == piece.dst_member && piece.src_offset == piece.dst_offset &&
         piece.shape.same_places(piece.src_strides, piece.dst_strides);
}

// Sorted so that each reader begins with itself and then the participant after it: readers do not share an owner's link.
std::vector<BoxOverlap> joined(std::vector<BoxOverlap> pieces, int32_t members) {
  const auto between = [&](const BoxOverlap& piece) {
    return std::pair((piece.src_member - piece.dst_member + members) % members, piece.dst_member);
  };
  std::stable_sort(pieces.begin(), pieces.end(),
                   [&](const BoxOverlap& a, const BoxOverlap& b) { return between(a) < between(b); });
  std::vector<BoxOverlap> all;
  for (size_t first = 0, next = 0; first < pieces.size(); first = next) {
    const BoxOverlap& piece = pieces[first];
    const auto is_like = [&](const BoxOverlap& other) {
      return piece.shape.bytes() <= kMostJoined && may_be_there(other) == may_be_there(piece) &&
             between(other) == between(piece) && other.shape.extents == piece.shape.extents &&
             piece.shape.same_places(other.src_strides, piece.src_strides) &&
             piece.shape.same_places(other.dst_strides, piece.dst_strides);
    };
    int64_t src_step = 0;
    int64_t dst_step = 0;
    for (next = first + 1; next < pieces.size() && is_like(pieces[next]); ++next) {
      const int64_t from_src = pieces[next].src_offset - pieces[next - 1].src_offset;
      const int64_t from_dst = pieces[next].dst_offset - pieces[next - 1].dst_offset;
      if (next > first + 1 && (from_src != src_step || from_dst != dst_step)) break;
      src_step = from_src;
      dst_step = from_dst;
    }
    const auto count = static_cast<int64_t>(next - first);
    if (const auto one = count > 2 ? repeated(piece, count, src_step, dst_step) : std::nullopt) {
      all.push_back(*one);
      continue;
    }
    next = std::max(first + 1, next - 1);  // the last may begin another row of them
    std::copy(pieces.begin() + static_cast<std::ptrdiff_t>(first), pieces.begin() + static_cast<std::ptrdiff_t>(next),
              std::back_inserter(all));
  }
  return all;
}

class Messages {
 public:
  explicit Messages(int64_t most_bytes) : most_bytes_(most_bytes) {}

  void add(int32_t process, int32_t distance, const BoxOverlap& piece) {
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
  void append(int32_t process, int32_t distance, const BoxOverlap& piece) {
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

void add_rounds(std::vector<std::vector<Message>>& rounds, std::vector<Message> packets, int32_t peer) {
  for (Message& packet : packets) {
    const auto round = static_cast<size_t>(packet.number);
    if (rounds.size() <= round) rounds.resize(round + 1);
    packet.process = peer;
    rounds[round].push_back(std::move(packet));
  }
}

}  // namespace

// Two slots per direction hold the packets of all peers. Fewer packets are faster, down to a few. Two H200, 256 MiB per
// process: packets of 112 MiB 0.68 ms, 16 MiB 0.77, 4 MiB 1.13.
int64_t packet_bytes_for(const Group& group, int64_t workspace_bytes) noexcept {
  constexpr int64_t kLeast = 4096;
  if (group.wire == nullptr) return 0;
  const int64_t slots = int64_t{4} * (group.members.all() - 1) * group.members.most_of_a_process();
  const int64_t bytes = std::min(workspace_bytes / slots, kMostMessageBytes) / kPacketAlignment * kPacketAlignment;
  return bytes < kLeast ? 0 : bytes;
}

int64_t staged_share(const Group& group, int64_t workspace_bytes) noexcept {
  const int64_t staged = workspace_bytes / 8;
  return packet_bytes_for(group, workspace_bytes - staged) == 0 ? workspace_bytes : staged;
}

// Ordered by dst box, then src box, so both ends list the pieces between two processes in one order.
Route route(const Layout& src, const Layout& dst, const Group& group, int64_t workspace_bytes, int64_t least_linked) {
  const Members& members = group.members;
  const int32_t here = group.communicator.rank();
  const int32_t processes = group.communicator.size();
  Route all;
  const int64_t staged = staged_share(group, workspace_bytes);
  Messages sends(message_bytes_for(staged));
  Messages receives(message_bytes_for(staged));
  const int64_t packet_bytes = packet_bytes_for(group, workspace_bytes - staged);
  std::vector<BoxOverlap> others;
  std::map<std::pair<int32_t, int32_t>, int64_t> bytes_between;
  BoxIndex index(src);
  for (const Box& to : dst.boxes) {
    for (const int64_t i : index.meeting(to)) {
      const Box& from = src.boxes[static_cast<size_t>(i)];
      const bool sends_it = members.is_here(from.member);
      const bool takes_it = members.is_here(to.member);
      if (!sends_it && !takes_it) continue;
      const BoxOverlap piece = piece_between(from, to, src.element_bytes, members);
      if (sends_it && takes_it) {
        (group.reads(to.member, from.member) ? all.pulls : all.staged).push_back(piece);
      } else {
        others.push_back(piece);
        bytes_between[{from.member, to.member}] += piece.shape.bytes();
      }
    }
  }
  std::map<std::pair<int32_t, int32_t>, Messages> packets;
  for (const BoxOverlap& piece : others) {
    const std::pair between(piece.src_member, piece.dst_member);
    const int32_t from = members.process_of(piece.src_member);
    const int32_t to = members.process_of(piece.dst_member);
    if (packet_bytes > 0 && bytes_between[between] >= least_linked) {
      packets.try_emplace(between, packet_bytes).first->second.add(from, 0, piece);
    } else if (from == here) {
      sends.add(to, (to - here + processes) % processes, piece);
    } else {
      receives.add(from, (here - from + processes) % processes, piece);
    }
  }
  for (auto& [between, of_both] : packets) {
    const auto& [from, to] = between;
    if (members.is_here(from))
      add_rounds(all.linked_sends, std::move(of_both).in_order(), to);
    else
      add_rounds(all.linked_receives, std::move(of_both).in_order(), from);
  }
  for (size_t before = SIZE_MAX; all.pulls.size() < before;) {  // rows of blocks, then rows of those rows
    before = all.pulls.size();
    all.pulls = joined(std::move(all.pulls), group.members.all());
  }
  all.sends = std::move(sends).in_order();
  all.receives = std::move(receives).in_order();
  return all;
}

}  // namespace gpumem
