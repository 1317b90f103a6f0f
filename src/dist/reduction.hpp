// Reductions of an array in boxes, by partial results. A floating-point sum has the bits of the whole sequence in
// 1024-element blocks (kernels/order.hpp), so terms travel to complete their block.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "dist/exchange.hpp"
#include "kernels/reduce/params.hpp"
#include "kernels/values.hpp"

namespace gpumem {

// A partial result of 2^level blocks from `first` on. If order does not matter, first is 0 and level counts boxes.
struct Subtree {
  int64_t first = 0;
  int64_t level = 0;
  ReduceNode node;
};

class Reduction {
 public:
  Reduction(const Group& group, Layout layout, int64_t workspace_bytes);

  // Collective. what() gives dtype and op, or throws this process's argument error. Only a dot product uses y.
  using Read = std::function<ReduceParams()>;
  ReduceValue run(const Read& what, const void* const* x, const void* const* y);

  int64_t element_bytes() const noexcept { return layout_.element_bytes; }
  // Moves terms to other participants before an ordered sum.
  Exchange& exchange() const noexcept { return *exchange_; }
  // Elements of the rooms of this process's participants then.
  int64_t room() const noexcept;
  // Whether an ordered sum moves the whole array, because some box is not one run of the sequence.
  bool moves_array() const noexcept { return moves_array_; }

 private:
  // Terms from the start of a block on, in a box of this process or a participant's room.
  struct Run {
    int32_t member;
    int64_t box;  // -1: in the room
    int64_t first;
    int64_t terms;
    int64_t offset;  // in elements, from the start of the box or room
  };
  class Operand;
  class UnderWay;

  Layout whole_leaves();
  void add_run(const Run& run);
  void add_in_room(Layout& wanted, int32_t member, int64_t first, int64_t end);
  std::vector<Subtree> nodes_of(const ReduceParams& what, const void* const* x, const void* const* y);
  void begin_ordered(const ReduceParams& what, Operand& x, Operand* y, bool in_rooms, UnderWay& under_way);
  void add_unordered(const ReduceParams& what, Operand& x, Operand* y, std::vector<Subtree>& to);
  ReduceParams box_of(const ReduceParams& what, int64_t number, Operand& x, Operand* y) const;
  void append_subtrees(NodeKind kind, std::vector<Subtree>& to, const Bytes& bytes, int32_t from) const;
  void require_whole(NodeKind kind, const std::vector<Subtree>& subtrees) const;

  const Group group_;
  const Layout layout_;
  int64_t full_boxes_ = 0;  // non-empty boxes of all processes
  bool moves_array_ = false;
  std::vector<Run> runs_;
  std::vector<int64_t> rooms_;
  std::unique_ptr<Exchange> exchange_;
};

}  // namespace gpumem
