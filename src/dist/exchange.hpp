// Elements on their way from the boxes of one layout to those of another: between members of this process at once, and between
// processes in messages.
#pragma once

#include <memory>
#include <vector>

#include "context/context.hpp"
#include "dist/layout.hpp"

namespace gpumem {

// Elements of one box of src that go to one of dst: extents, and where they lie on either side, in elements. The side of another
// process is empty.
struct Piece {
  int32_t src_member = 0;
  int32_t dst_member = 0;
  Index extents{};
  int64_t src_offset = 0;
  Index src_strides{};
  int64_t dst_offset = 0;
  Index dst_strides{};
};

// Pieces that travel together, one behind the other, to a process or from it.
struct Message {
  int32_t process = 0;
  int64_t number = 0;  // among those between the two processes
  int64_t bytes = 0;
  std::vector<Piece> pieces{};
};

// What a process does in an exchange.
struct Route {
  int64_t element_bytes = 0;
  int32_t rank = 0;
  int64_t message_bytes = 0;        // the longest message, without its header; the same on every process
  std::vector<Piece> pulls{};       // between members of this process
  std::vector<Message> sends{};     // nearest process above first, each in the order in which it is received
  std::vector<Message> receives{};  // nearest process below first
};
Route route(const Layout& src, const Layout& dst, const Members& members, int64_t message_bytes, int32_t processes);

// How large messages are where a process keeps that much memory for them. A header goes in front of each.
constexpr int64_t kLeastWorkspace = 4096;
constexpr int64_t kHeaderBytes = 64;
int64_t message_bytes_for(int64_t workspace_bytes) noexcept;

// Contexts of this process's members.
using Contexts = std::vector<Context*>;

class Exchange {
 public:
  // number: of the plan, the same on every process. in_place: what is written lies among what is read.
  Exchange(Communicator& communicator, Contexts contexts, const Members& members, Route route, int64_t workspace_bytes,
           int64_t number, bool in_place = false);

  // A pointer for each member here. Collective.
  void run(const void* const* src, void* const* dst);
  // What failed before run() could be called: tells those that wait for messages of this process, if there are any.
  void give_up(const Error& error) noexcept;

  const Route& its_route() const noexcept { return route_; }
  int64_t workspace_bytes() const noexcept;

 private:
  struct Slot;
  struct Operands;

  // The elements of a member's memory that are read or written: from the first to the end of the last.
  struct Reach {
    int64_t first = INT64_MAX;
    int64_t end = 0;
  };

  // Slots for messages of one direction, in memory that outlives a transport that may still write to it.
  struct Window {
    std::shared_ptr<char[]> memory;
    size_t slots = 0;
    int64_t slot_bytes = 0;

    int64_t bytes() const noexcept { return static_cast<int64_t>(slots) * slot_bytes; }
  };

  static Window window_for(const std::vector<Message>& messages, int64_t workspace_bytes);
  void run_all(const Operands& operands);
  void note_reaches();
  Operands look_up_all(const void* const* src, void* const* dst) const;
  void post(const Message& message, Slot& slot, const Operands& operands);
  void take(const Message& message, const Slot& slot, const Operands& operands);
  void pull(const Piece& piece, const Operands& operands);

  Communicator& communicator_;
  const Contexts contexts_;
  const Members members_;
  const Route route_;
  const int64_t number_;
  const bool in_place_;
  int64_t runs_ = 0;
  std::vector<Reach> src_reach_;  // of each member here
  std::vector<Reach> dst_reach_;
  Window outgoing_;
  Window incoming_;
};

}  // namespace gpumem
