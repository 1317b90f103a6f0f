// Moves elements between the boxes of two layouts: directly within this process, by messages to other processes.
#pragma once

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "dist/batches.hpp"
#include "dist/managed_staging.hpp"
#include "dist/member_fences.hpp"
#include "dist/movement.hpp"
#include "dist/peer_copy_pipeline.hpp"
#include "dist/peers.hpp"

namespace gpumem {

// Elements of one src box that go to one dst box, with their places on both sides in elements. A remote side is empty.
struct BoxOverlap {
  int32_t src_member = 0;
  int32_t dst_member = 0;
  Shape shape;
  int64_t src_offset = 0;
  Index src_strides{};
  int64_t dst_offset = 0;
  Index dst_strides{};
};

// Contiguous pieces to or from one process; as a packet on the link, to or from one participant.
struct Message {
  int32_t process = 0;  // participant, if a packet
  int64_t number = 0;   // between the same two ends
  int64_t bytes = 0;    // without the header
  int64_t place = 0;    // packet offset in its slot
  std::vector<BoxOverlap> pieces{};
};

struct Route {
  std::vector<BoxOverlap> pulls{};                   // within this process, by a reader that reaches both memories
  std::vector<BoxOverlap> staged{};                  // other pieces within this process, through the host
  std::vector<Message> sends{};                      // nearest process above first, each in order of receipt
  std::vector<Message> receives{};                   // nearest process below first
  std::vector<std::vector<Message>> linked_sends{};  // packets of each round
  std::vector<std::vector<Message>> linked_receives{};
};
constexpr int64_t kPacketAlignment = 256;
// Between two participants, a reduction sends less than this by messages, without a kernel launch. Other plans use only
// the link if there is one, so that they can be enqueued.
constexpr int64_t kLeastLinkedOfReduction = 64 << 10;
// The part of the workspace for messages. It is small if packets use a link, because they take the rest.
int64_t staged_share(const Group& group, int64_t workspace_bytes) noexcept;
// workspace_bytes: equal on every process.
Route route(const Layout& src, const Layout& dst, const Group& group, int64_t workspace_bytes, int64_t least_linked);

constexpr int64_t kLeastWorkspace = 4096;
// Whether the participant's device packs the operand in place.
bool is_near(Context& context, const Operand& operand) noexcept;

enum class PlanKind : int32_t { redistribute, halo, reduce };

class Exchange {
 public:
  // A halo writes between the elements that it reads.
  Exchange(PlanKind kind, const Group& group, const Layout& src, const Layout& dst, int64_t workspace_bytes);

  // One pointer per local participant. If in place, dst may be nullptr. src_name: the argument. Collective.
  void run(const void* const* src, void* const* dst, const char* src_name = "src");
  struct Side {
    char* p = nullptr;
    char* first = nullptr;
    int64_t bytes = 0;
    Operand operand{};
  };
  struct Operands {
    std::vector<Side> src;
    std::vector<Side> dst;
    std::vector<bool> reached{};  // by each local participant, for all of src; empty: no pair of devices
  };
  // Throws as run() does for wrong arguments.
  Operands look_up_all(const void* const* src, void* const* dst, const char* src_name) const;
  // run() on other streams than the participants' own, with operands that were looked up before.
  void run_on(const std::vector<WorkStream>& on, const Operands& operands);
  // Enqueues run() on a stream of each local participant. Requires only_pulls(). Not collective. Order::callers: earlier
  // work of the streams is over, and src stays unchanged until they are waited for.
  enum class Order : int32_t { members, callers };
  void enqueue(const void* const* src, void* const* dst, const std::vector<NativeStream>& streams,
               const char* src_name = "src", Order order = Order::members);
  struct Progress {
    // They pass one after the other. The first ones, one per participant, are for earlier work.
    std::deque<MemberFence> fences{};
    std::vector<std::unique_ptr<TemporaryBlock>> blocks{};  // whose release would wait
  };
  using ReadStreams = std::function<std::vector<NativeStream>()>;  // one per local participant
  // Enqueues run() if no piece goes through host memory. Streams of `on` pack and unpack. The caller watches the
  // progress, because a transfer may never end. Collective: returns once every process has called it, or run().
  void enqueue_linked(const std::vector<WorkStream>& on, const void* const* src, void* const* dst,
                      const ReadStreams& read_streams, Progress& progress);
  // Waits for earlier work of the participants' work streams.
  void finish_earlier() const;
  // A failure before run(): notifies processes that wait for messages of this one.
  void give_up(const Error& error) noexcept;

  const Route& its_route() const noexcept { return route_; }
  int64_t workspace_bytes() const noexcept;
  const Members& members() const noexcept { return group_.members; }
  // Whether this process uses the link. If any process does, all agree before each run that nothing is wrong.
  bool is_linked() const noexcept { return !route_.linked_sends.empty() || !route_.linked_receives.empty(); }
  void agree_first() noexcept { agrees_ = true; }
  bool is_empty() const noexcept { return only_pulls() && route_.pulls.empty(); }
  // Whether enqueue() can replace run(): no other process waits for this one to agree.
  bool can_be_enqueued() const noexcept { return only_pulls() && !agrees_; }
  bool avoids_host() const noexcept { return route_.sends.empty() && route_.receives.empty() && route_.staged.empty(); }
  bool only_pulls() const noexcept { return avoids_host() && !is_linked(); }

 private:
  // The used part of a participant's memory: from the first to the end of the last element.
  struct Reach {
    int64_t first = INT64_MAX;
    int64_t end = INT64_MIN;
  };
  struct Slot {
    std::unique_ptr<TemporaryBlock> block{};
    Operand operand{};
  };
  using SlotPairs = std::array<std::vector<Slot>, 2>;
  struct Rounds {
    int64_t begun = 0;
    int64_t over = 0;      // arrived and unpacked
    bool pending = false;  // the last begun round is not enqueued yet
    SlotPairs outgoing{};
    SlotPairs incoming{};
  };
  // Messages of one direction in flight, at most one per slot.
  struct Window {
    struct Slot {
      const Message* message = nullptr;
      void* request = nullptr;
      int64_t sequence = 0;
    };

    Window(const std::vector<Message>& all, int64_t most_bytes);
    int64_t bytes() const noexcept { return static_cast<int64_t>(slots.size()) * slot_bytes; }
    char* data_of(size_t slot) const noexcept { return memory.data() + static_cast<int64_t>(slot) * slot_bytes; }
    void begin() noexcept;
    bool over() const noexcept { return left == 0; }
    // The other end of the first message in flight; -1: none.
    int32_t first_process() const noexcept;

    const std::vector<Message>& messages;
    const int64_t slot_bytes;
    std::vector<Slot> slots;
    MessageMemory memory;
    size_t next = 0;  // first without a slot
    size_t left = 0;
  };

  const Side& src_side(const BoxOverlap& piece, const Operands& operands) const noexcept {
    return operands.src[group_.members.local(piece.src_member)];
  }
  const Side& dst_side(const BoxOverlap& piece, const Operands& operands) const noexcept {
    return operands.dst[group_.members.local(piece.dst_member)];
  }
  StridedArray src_of(const BoxOverlap& piece, const Operands& operands) const noexcept {
    return {src_side(piece, operands).p + piece.src_offset * element_bytes_, piece.src_strides};
  }
  StridedArray dst_of(const BoxOverlap& piece, const Operands& operands) const noexcept {
    return {dst_side(piece, operands).p + piece.dst_offset * element_bytes_, piece.dst_strides};
  }
  // For halos between adjacent boxes in one array: one box's halo is already in the other.
  bool is_there(const BoxOverlap& piece, const Operands& operands) const noexcept {
    const StridedArray from = src_of(piece, operands);
    const StridedArray to = dst_of(piece, operands);
    return from.p == to.p && piece.shape.same_places(from.strides, to.strides);
  }
  void note_reaches(const BoxOverlap& piece);
  template <class GetOperands>
  void run_with(const GetOperands& get_operands);
  void use_own_streams();
  void run_all(const Operands& operands);
  bool receive_some(const Operands& operands);
  bool send_one(const Operands& operands);
  void post(const Message& message, char* to, const Operands& operands) const;
  void take(const Window::Slot& slot, const char* from, const Operands& operands) const;
  // The source as seen by the reading context: memory of another device counts as its own. Nothing: not readable.
  std::optional<Operand> src_as_read(const BoxOverlap& piece, const Operands& operands) const;
  void reach_all(Operands& operands);
  bool pull_over_link(const BoxOverlap& piece, const Operands& operands);
  void pull(const BoxOverlap& piece, const Operands& operands);
  // Whether both operands of a pair are device memory that the second participant's device reads and writes.
  bool reads_directly(size_t from, size_t to, const Operands& operands) const;
  void sort_pulls(const Operands& operands);
  bool take_across(size_t i, const Operands& operands, const std::vector<NativeStream>& streams, bool captured);
  // Enqueues the peer reads that peer_copies_, managed_staging_ and batches_ take. The rest stay in here_ by number.
  void pull_together(const Operands& operands, const std::vector<NativeStream>& streams, bool captured);
  const WorkStream& on_of(int32_t member) const noexcept { return on_[group_.members.local(member)]; }
  void at_work(Context& context, NativeStream stream);
  void stage(const BoxOverlap& piece, const Operands& operands) const;
  bool move_next(const Operands& operands, size_t& moved);
  void finish_pulls();
  int64_t rounds() const noexcept {
    return static_cast<int64_t>(std::max(route_.linked_sends.size(), route_.linked_receives.size()));
  }
  std::vector<int64_t> place_packets(std::vector<std::vector<Message>>& rounds, bool sends) const;
  bool goes_directly(const Message& packet, bool sends, const Operands& operands) const noexcept;
  void open_slots(const Operands& operands);
  void pack_packet(const Message& packet, const Slot& slot, const Operands& operands);
  void unpack_packet(const Message& packet, const Slot& slot, const Operands& operands);
  void begin_round(const Operands& operands);
  void end_round(const Operands& operands);
  void enqueue_rounds(const Operands& operands, Progress& progress);
  void agree(const Communicator::Make& make_ready);
  bool go_on(const Operands& operands);
  void end_rounds() noexcept;
  void find_pairs();
  void require_enqueued(const Operands& operands, const std::vector<NativeStream>& streams) const;
  void require_near(const Operands& operands, const std::vector<NativeStream>& streams) const;
  void enqueue_pulls(const Operands& operands, const std::vector<NativeStream>& streams, Order order_by);
  void order(const std::vector<NativeStream>& streams, bool back) const;

  const Group group_;
  const int64_t element_bytes_;
  Route route_;
  const std::vector<int64_t> outgoing_room_;  // bytes of a slot, per local participant
  const std::vector<int64_t> incoming_room_;
  const bool in_place_;
  bool agrees_ = false;
  bool under_way_ = false;  // a run, after the agreement
  Rounds rounds_;
  std::vector<Reach> src_reach_;
  std::vector<Reach> dst_reach_;
  std::vector<WorkStream> on_;  // per local participant
  std::vector<std::pair<Context*, NativeStream>> at_work_;
  std::vector<std::pair<size_t, size_t>> pairs_;  // local participants: owner and reader
  std::vector<OpenedMemory> opened_;              // src, per pair of local participants
  std::optional<MemberFences> fences_;            // if all pieces are peer reads
  PeerCopyPipeline peer_copies_;
  ManagedStaging managed_staging_;
  Batches batches_;
  // Peer reads sorted for this placement of memory; the next run usually has the same.
  struct Sorted {
    std::vector<const void*> memory{};
    std::vector<bool> near{};
    std::vector<size_t> alone{};
  };
  Sorted sorted_;
  std::vector<size_t> pair_of_;
  std::vector<size_t> here_;  // peer reads of a run that go separately
  Window outgoing_;
  Window incoming_;
};

// Waits until the first `count` fences have passed, in any thread. Throws if the link or the dist fails meanwhile.
void wait_for(const Exchange::Progress& progress, size_t count, const Group& group);

}  // namespace gpumem
