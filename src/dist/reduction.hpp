// Reductions of an array in boxes: each member makes nodes of what it has, and the processes combine them. The bits of a
// floating-point sum are those of the whole sequence, as its leaves are (kernels/order.hpp): terms travel to where they make whole leaves.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "dist/exchange.hpp"
#include "kernels/reduce/params.hpp"
#include "kernels/values.hpp"

namespace gpumem {

// A node of the tree over leaves, and its place: 2^level leaves from `first` on. Where order does not matter, all are of leaf 0, and level
// is the number of boxes.
struct Subtree {
  int64_t first = 0;
  int64_t level = 0;
  ReduceNode node;
};

class Reduction {
 public:
  Reduction(const Group& group, Layout layout, int64_t workspace_bytes);

  // Collective. what() gives dtype and op, or throws what is wrong with the arguments of this process. y is for GPUMEM_DOT alone.
  using Read = std::function<ReduceParams()>;
  ReduceValue run(const Read& what, const void* const* x, const void* const* y);

  int64_t element_bytes() const noexcept { return layout_.element_bytes; }
  // What goes to other members before an ordered sum.
  Exchange& exchange() const noexcept { return *exchange_; }
  // Elements that the members of this process keep room for then.
  int64_t room() const noexcept;

 private:
  // Terms of the sequence that begin with a leaf, in a box of this process or in a member's room.
  struct Run {
    int32_t member;
    int64_t box;  // -1: in the room
    int64_t first;
    int64_t terms;
    int64_t offset;  // in elements, from the box's first element or the room's
  };
  class Operand;
  class UnderWay;

  Layout whole_leaves();
  void add_run(const Run& run);
  void add_in_room(Layout& wanted, int32_t member, int64_t first, int64_t end);
  std::vector<Subtree> nodes_of(const ReduceParams& what, const void* const* x, const void* const* y);
  void begin_ordered(const ReduceParams& what, Operand& x, Operand* y, bool in_rooms, UnderWay& under_way);
  void add_unordered(const ReduceParams& what, Operand& x, std::vector<Subtree>& to);
  void append_subtrees(NodeKind kind, std::vector<Subtree>& to, const Bytes& bytes, int32_t from) const;
  void require_whole(NodeKind kind, const std::vector<Subtree>& subtrees) const;

  const Group group_;
  const Layout layout_;
  int64_t full_boxes_ = 0;  // that are not empty, of all processes
  std::vector<Run> runs_;
  std::vector<int64_t> rooms_;  // elements of each member here
  std::unique_ptr<Exchange> exchange_;
};

}  // namespace gpumem
