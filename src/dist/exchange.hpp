// Elements on their way from the boxes of one layout to those of another: between members of this process at once, and between
// processes in messages.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "dist/batches.hpp"
#include "dist/managed_staging.hpp"
#include "dist/movement.hpp"
#include "dist/peer_copy_pipeline.hpp"
#include "dist/peers.hpp"

namespace gpumem {

// Elements of one box of src that go to one of dst, and where they lie on either side, in elements. The side of another process is empty.
struct Piece {
  int32_t src_member = 0;
  int32_t dst_member = 0;
  Shape shape;
  int64_t src_offset = 0;
  Index src_strides{};
  int64_t dst_offset = 0;
  Index dst_strides{};
};

// Pieces that travel together, one behind the other, to a process or from it; as a packet over the link, to a member or from it.
struct Message {
  int32_t process = 0;  // of a packet: the member
  int64_t number = 0;   // among those between the two
  int64_t bytes = 0;    // without the header
  int64_t place = 0;    // of a packet: in its member's slot
  std::vector<Piece> pieces{};
};

// What a process does in an exchange.
struct Route {
  std::vector<Piece> pulls{};       // between members of this process, one of which reads the memory of both
  std::vector<Piece> staged{};      // between others of this process: by way of the heap
  std::vector<Message> sends{};     // nearest process above first, each in the order in which it is received
  std::vector<Message> receives{};  // nearest process below first
  std::vector<std::vector<Message>> linked_sends{};  // packets of each round
  std::vector<std::vector<Message>> linked_receives{};
};
constexpr int64_t kPacketAlignment = 256;
constexpr int64_t kLeastLinked = 64 << 10;  // between two members; less goes by messages, with no kernel to launch
// What messages have of the workspace: little, where packets go over a link, which have the rest.
int64_t staged_share(const Group& group, int64_t workspace_bytes) noexcept;
// workspace_bytes: the same on every process.
Route route(const Layout& src, const Layout& dst, const Group& group, int64_t workspace_bytes);

constexpr int64_t kLeastWorkspace = 4096;

class Exchange {
 public:
  // in_place: what is written lies among what is read.
  Exchange(const Group& group, const Layout& src, const Layout& dst, int64_t workspace_bytes, bool in_place = false);

  // A pointer for each member here; in place, dst may be nullptr. src_name: the argument. Collective.
  void run(const void* const* src, void* const* dst, const char* src_name = "src");
  // The same, only enqueued on a stream of each member here. Throws UNSUPPORTED where there is more to do than to pull. Not collective.
  // Order::callers: what the streams were given before is over, and src stays as it is until they are waited for.
  enum class Order : int32_t { members, callers };
  void enqueue(const void* const* src, void* const* dst, const std::vector<NativeStream>& streams,
               const char* src_name = "src", Order order = Order::members);
  // What the members' own streams were given before is over.
  void finish_earlier() const;
  // What failed before run() could be called: tells those that wait for messages of this process, if there are any.
  void give_up(const Error& error) noexcept;

  const Route& its_route() const noexcept { return route_; }
  int64_t workspace_bytes() const noexcept;
  const Members& members() const noexcept { return group_.members; }
  // Whether this process takes part in what goes over the link. Where any does, all agree before each run that nothing is wrong.
  bool is_linked() const noexcept { return !route_.linked_sends.empty() || !route_.linked_receives.empty(); }
  void agree_first() noexcept { agrees_ = true; }
  // Nothing moves, neither here nor to or from another process.
  bool is_empty() const noexcept { return only_pulls() && route_.pulls.empty(); }
  // Whether enqueue() can do what run() does: no other process waits for this one to agree.
  bool can_be_enqueued() const noexcept { return only_pulls() && !agrees_; }

 private:
  // What of a member's memory is used: in elements, from the first to the end of the last.
  struct Reach {
    int64_t first = INT64_MAX;
    int64_t end = INT64_MIN;
  };
  // That memory in a run.
  struct Side {
    char* p = nullptr;
    char* first = nullptr;
    int64_t bytes = 0;
    Operand operand{};
  };
  struct Operands {
    std::vector<Side> src;
    std::vector<Side> dst;
    std::vector<bool> reached{};  // by each member here: all that is used of src of each; empty: between no two devices
  };
  // Memory of a member's device for packets of one round.
  struct Slot {
    std::unique_ptr<TemporaryBlock> block{};
    Operand operand{};
  };
  using SlotPairs = std::array<std::vector<Slot>, 2>;  // of even rounds and of odd ones, for each member here
  // What goes over the link.
  struct Rounds {
    int64_t begun = 0;     // whose transfers were begun
    int64_t over = 0;      // which have arrived and were unpacked
    bool pending = false;  // the last that was begun is not on the streams yet
    SlotPairs outgoing{};
    SlotPairs incoming{};
  };
  // Messages of one direction, of which so many as there are slots are under way.
  struct Window {
    struct Slot {
      const Message* message = nullptr;  // nullptr: free
      void* request = nullptr;
      int64_t sequence = 0;  // of what is received
    };

    Window(const std::vector<Message>& all, int64_t most_bytes);
    int64_t bytes() const noexcept { return static_cast<int64_t>(slots.size()) * slot_bytes; }
    char* data_of(size_t slot) const noexcept { return memory.data() + static_cast<int64_t>(slot) * slot_bytes; }
    void begin() noexcept;
    bool over() const noexcept { return left == 0; }
    // The process that the first one under way goes to, or comes from; -1: none is.
    int32_t first_process() const noexcept;

    const std::vector<Message>& messages;
    const int64_t slot_bytes;
    std::vector<Slot> slots;
    MessageMemory memory;
    size_t next = 0;  // that has no slot yet
    size_t left = 0;  // that have not ended
  };

  const Side& src_side(const Piece& piece, const Operands& operands) const noexcept {
    return operands.src[group_.members.local(piece.src_member)];
  }
  const Side& dst_side(const Piece& piece, const Operands& operands) const noexcept {
    return operands.dst[group_.members.local(piece.dst_member)];
  }
  StridedArray src_of(const Piece& piece, const Operands& operands) const noexcept {
    return {src_side(piece, operands).p + piece.src_offset * element_bytes_, piece.src_strides};
  }
  StridedArray dst_of(const Piece& piece, const Operands& operands) const noexcept {
    return {dst_side(piece, operands).p + piece.dst_offset * element_bytes_, piece.dst_strides};
  }
  // Of a halo between boxes that are neighbours in one array: what lies round the one is in the other.
  bool is_there(const Piece& piece, const Operands& operands) const noexcept {
    const StridedArray from = src_of(piece, operands);
    const StridedArray to = dst_of(piece, operands);
    return from.p == to.p && piece.shape.same_places(from.strides, to.strides);
  }
  void note_reaches(const Piece& piece);
  Operands look_up_all(const void* const* src, void* const* dst, const char* src_name) const;
  void run_all(const Operands& operands);
  bool receive_some(const Operands& operands);
  bool send_one(const Operands& operands);
  void post(const Message& message, char* to, const Operands& operands) const;
  void take(const Window::Slot& slot, const char* from, const Operands& operands) const;
  // What is read, as the context that gets it sees it: of memory on another device, as its own. Nothing: it can't read that.
  std::optional<Operand> src_as_read(const Piece& piece, const Operands& operands) const;
  void reach_all(Operands& operands);
  bool pull_over_link(const Piece& piece, const Operands& operands);
  void pull(const Piece& piece, const Operands& operands);
  // Whether both sides of a pair of members lie in device memory, which the second one's device reads and writes.
  bool reads_directly(size_t from, size_t to, const Operands& operands) const;
  void sort_pulls(const Operands& operands);
  bool take_across(size_t i, const Operands& operands, const std::vector<NativeStream>& streams, bool captured);
  // Enqueues what peer_copies_, managed_staging_ and batches_ take, and leaves the numbers of the other pulls in here_.
  void pull_together(const Operands& operands, const std::vector<NativeStream>& streams, bool captured);
  void at_work(Context& context);
  void stage(const Piece& piece, const Operands& operands) const;
  bool move_next(const Operands& operands, size_t& moved);
  void finish_pulls();
  bool only_pulls() const noexcept {
    return route_.sends.empty() && route_.receives.empty() && route_.staged.empty() && !is_linked();
  }
  int64_t rounds() const noexcept {
    return static_cast<int64_t>(std::max(route_.linked_sends.size(), route_.linked_receives.size()));
  }
  std::vector<int64_t> place_packets(std::vector<std::vector<Message>>& rounds, bool sends) const;
  bool goes_directly(const Message& packet, bool sends, const Operands& operands) const noexcept;
  void open_slots(const Operands& operands);
  void pack_packet(const Message& packet, const Slot& slot, const Operands& operands);
  void unpack_packet(const Message& packet, const Slot& slot, const Operands& operands);
  void begin_round(const Operands& operands);
  bool go_on(const Operands& operands);
  void end_rounds() noexcept;
  void find_pairs();
  void require_enqueued(const Operands& operands, const std::vector<NativeStream>& streams) const;
  void order(const std::vector<NativeStream>& streams, bool back) const;

  const Group group_;
  const int64_t element_bytes_;
  Route route_;
  const std::vector<int64_t> outgoing_room_;  // bytes of a slot, of each member here
  const std::vector<int64_t> incoming_room_;
  const bool in_place_;
  bool agrees_ = false;
  bool under_way_ = false;  // a run, behind the agreement
  Rounds rounds_;
  std::vector<Reach> src_reach_;  // of each member here
  std::vector<Reach> dst_reach_;
  std::vector<Context*> at_work_;                 // with pulls that were enqueued
  std::vector<std::pair<size_t, size_t>> pairs_;  // of members here: who has what the other pulls
  std::vector<OpenedMemory> opened_;              // src, to each member by each other
  std::optional<MemberFences> fences_;            // where all is pulled
  PeerCopyPipeline peer_copies_;
  ManagedStaging managed_staging_;
  Batches batches_;
  // The pulls, sorted for memory that lies so; the next run mostly has the same.
  struct Sorted {
    std::vector<const void*> memory{};
    std::vector<bool> near{};  // of each pair
    std::vector<size_t> alone{};
  };
  Sorted sorted_;
  std::vector<size_t> pair_of_;  // of each pull
  std::vector<size_t> here_;     // pulls of a run that go by themselves
  Window outgoing_;
  Window incoming_;
};

}  // namespace gpumem
