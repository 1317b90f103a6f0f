#include "dist/reduction.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <optional>
#include <string>

#include "base/float_environment.hpp"
#include "base/names.hpp"
#include "base/sentences.hpp"
#include "dist/movement.hpp"
#include "kernels/values.hpp"
#include "ops/operations.hpp"
#include "ops/strides.hpp"

namespace gpumem {
namespace {

constexpr int64_t round_up_to_leaf(int64_t term) noexcept { return (term + kLeafTerms - 1) / kLeafTerms * kLeafTerms; }
constexpr int64_t round_down_to_leaf(int64_t term) noexcept { return term / kLeafTerms * kLeafTerms; }

// The place of an element in the sequence.
int64_t place_in(const Layout& layout, const Index& index) noexcept {
  int64_t place = 0;
  for (size_t d = 0; d < static_cast<size_t>(layout.rank); ++d) place = place * layout.extents[d] + index[d];
  return place;
}

// Where a box is one run of the sequence: every axis behind its longest cut one is whole, and it has one index of each before.
bool is_run(const Layout& layout, const Box& box) noexcept {
  bool cut = false;
  for (auto d = static_cast<size_t>(layout.rank); d-- > 0;) {
    const int64_t length = box.upper[d] - box.lower[d];
    if (cut && length != 1) return false;
    cut = cut || length != layout.extents[d];
  }
  return true;
}

// Siblings are joined as soon as both are there, and what does not depend on the order at once. Not inlined: so the nodes are memory
// that the environment's fences hold.
[[gnu::noinline]] void join_subtrees(NodeKind kind, std::vector<Subtree>& subtrees) {
  const DefaultFloatEnvironment environment;
  std::sort(subtrees.begin(), subtrees.end(), [](const Subtree& a, const Subtree& b) { return a.first < b.first; });
  size_t count = 0;
  const auto siblings = [&](const Subtree& a, const Subtree& b) {
    if (!is_ordered(kind)) return true;
    return a.level == b.level && b.first - a.first == int64_t{1} << a.level && (a.first >> a.level) % 2 == 0;
  };
  for (size_t i = 0; i < subtrees.size(); ++i) {
    subtrees[count++] = subtrees[i];
    for (; count > 1 && siblings(subtrees[count - 2], subtrees[count - 1]); --count) {
      Subtree& left = subtrees[count - 2];
      left.node = combine(kind, left.node, subtrees[count - 1].node);
      ++left.level;
    }
  }
  subtrees.resize(count);
}

// Of the whole: what is missing behind the last counts as +0, which changes nothing.
[[gnu::noinline]] ReduceNode root_of(NodeKind kind, const std::vector<Subtree>& subtrees) {
  const DefaultFloatEnvironment environment;
  if (subtrees.empty()) return empty_node(kind);
  ReduceNode node = subtrees.back().node;
  for (size_t i = subtrees.size() - 1; i-- > 0;) node = combine(kind, subtrees[i].node, node);
  return node;
}

Bytes bytes_of(const std::vector<Subtree>& subtrees) {
  const auto* const first = reinterpret_cast<const char*>(subtrees.data());
  return {first, first + subtrees.size() * sizeof(Subtree)};
}

void append_subtrees(std::vector<Subtree>& to, const Bytes& bytes) {
  const size_t before = to.size();
  to.resize(before + bytes.size() / sizeof(Subtree));
  std::memcpy(to.data() + before, bytes.data(), bytes.size());
}

}  // namespace

// One array while it is reduced: its members' memory, and what of it has been brought into runs.
class Reduction::Operand {
 public:
  Operand(Reduction& of, const char* name, const void* const* p) : of_(of), p_(p), on_host_(of.contexts_.size(), true) {
    for (size_t at = 0; at < of.contexts_.size(); ++at) {
      const std::string argument = std::string(name) + "[" + std::to_string(at) + "]";
      const bool has_boxes = std::any_of(of.layout_.boxes.begin(), of.layout_.boxes.end(), [&](const Box& box) {
        return of.members_.is_here(box.member) && of.members_.local(box.member) == at && !box.empty(of.layout_.rank);
      });
      if (!has_boxes) continue;
      if (p == nullptr || p[at] == nullptr) {
        fail(GPUMEM_INVALID_ARGUMENT, "%s is NULL; expected the memory of member %d, which has boxes", argument.c_str(),
             of.members_.first() + static_cast<int32_t>(at));
      }
      on_host_[at] = lies_on_host(*of.contexts_[at], p[at], argument.c_str());
    }
  }

  // Collective.
  void bring_to_leaves() {
    std::vector<void*> rooms;
    for (size_t at = 0; at < of_.rooms_.size(); ++at) {
      const int64_t bytes = std::max<int64_t>(of_.rooms_[at], 1) * of_.layout_.element_bytes;
      rooms_.push_back(std::make_unique<TemporaryBlock>(*of_.contexts_[at], on_host_[at], bytes));
      rooms.push_back(rooms_.back()->get());
    }
    of_.exchange_->run(p_, rooms.data());
  }

  const void* memory_of(const Run& run) {
    const char* const p = run.box < 0 ? static_cast<const char*>(rooms_[of_.members_.local(run.member)]->get())
                                      : static_cast<const char*>(tight_box(run.box));
    return p + run.offset * of_.layout_.element_bytes;
  }

  // A box's elements without gaps: where they lie, or in a copy.
  const void* tight_box(int64_t number) {
    const Box& box = of_.layout_.boxes[static_cast<size_t>(number)];
    const size_t at = of_.members_.local(box.member);
    Shape shape{of_.layout_.element_bytes, of_.layout_.rank, {}};
    for (size_t d = 0; d < static_cast<size_t>(shape.rank); ++d) shape.extents[d] = box.upper[d] - box.lower[d];
    char* const p = static_cast<char*>(const_cast<void*>(p_[at])) + box.offset * shape.element_bytes;
    if (shape.is_tight(box.strides)) return p;
    std::unique_ptr<TemporaryBlock>& copy = copies_[number];
    if (copy == nullptr) {
      copy = std::make_unique<TemporaryBlock>(*of_.contexts_[at], on_host_[at], shape.bytes());
      const Index tight = shape.tight_strides();
      move(*of_.contexts_[at], shape, {p, box.strides}, {copy->get(), tight});
    }
    return copy->get();
  }

 private:
  Reduction& of_;
  const void* const* const p_;
  std::vector<bool> on_host_;  // of each member here
  std::vector<std::unique_ptr<TemporaryBlock>> rooms_;
  std::map<int64_t, std::unique_ptr<TemporaryBlock>> copies_;
};

Reduction::Reduction(Communicator& communicator, Contexts contexts, const Members& members, Layout layout,
                     int64_t message_bytes, int64_t workspace_bytes, int64_t number)
    : communicator_(communicator),
      contexts_(std::move(contexts)),
      members_(members),
      layout_(std::move(layout)),
      number_(number),
      rooms_(contexts_.size(), 0) {
  const bool each_is_a_run = std::all_of(layout_.boxes.begin(), layout_.boxes.end(), [&](const Box& box) {
    return box.empty(layout_.rank) || is_run(layout_, box);
  });
  const Layout wanted = whole_leaves(each_is_a_run);
  exchange_ = std::make_unique<Exchange>(communicator_, contexts_, members_,
                                         route(layout_, wanted, members_, message_bytes, communicator_.size()),
                                         workspace_bytes, number);
}

int64_t Reduction::room() const noexcept {
  int64_t all = 0;
  for (const int64_t elements : rooms_) all += elements;
  return all;
}

void Reduction::add_run(const Run& run) {
  if (members_.is_here(run.member) && run.terms > 0) runs_.push_back(run);
}

// Terms [first, end) of the sequence for a member's room: the boxes that they are, each as large as can be.
void Reduction::add_in_room(Layout& wanted, int32_t member, int64_t first, int64_t end) {
  int64_t room = 0;
  if (members_.is_here(member)) {
    room = rooms_[members_.local(member)];
    rooms_[members_.local(member)] += end - first;
  }
  add_run({member, -1, first, end - first, room});
  const Shape whole{layout_.element_bytes, layout_.rank, layout_.extents};
  const Index strides = whole.tight_strides();
  for (int64_t at = first; at < end;) {
    Box box{.member = member, .offset = room + at - first, .strides = strides};
    int64_t rest = at;
    for (size_t d = 0; d < static_cast<size_t>(layout_.rank); ++d) {
      box.lower[d] = rest / strides[d];
      rest %= strides[d];
    }
    size_t axis = 0;  // the slowest along which the box can grow
    while (at % strides[axis] != 0 || at + strides[axis] > end) ++axis;
    const int64_t length = std::min(layout_.extents[axis] - box.lower[axis], (end - at) / strides[axis]);
    for (size_t d = 0; d < static_cast<size_t>(layout_.rank); ++d) {
      box.upper[d] = d < axis ? box.lower[d] + 1 : d == axis ? box.lower[d] + length : layout_.extents[d];
    }
    wanted.boxes.push_back(box);
    at += length * strides[axis];
  }
}

// A leaf is made where its first term lies. Where boxes are no runs, members get the same number of leaves.
Layout Reduction::whole_leaves(bool each_is_a_run) {
  Layout wanted{layout_.element_bytes, layout_.rank, layout_.extents, {}};
  const int64_t terms = layout_.elements();
  if (!each_is_a_run) {
    const int64_t leaves = round_up_to_leaf(terms) / kLeafTerms;
    const int64_t share = leaves / members_.all();
    const int64_t more = leaves % members_.all();
    for (int64_t m = 0; m < members_.all(); ++m) {
      const int64_t first = (m * share + std::min(m, more)) * kLeafTerms;
      const int64_t end = std::min(terms, first + (share + (m < more ? 1 : 0)) * kLeafTerms);
      if (first < end) add_in_room(wanted, static_cast<int32_t>(m), first, end);
    }
    return wanted;
  }
  for (size_t i = 0; i < layout_.boxes.size(); ++i) {
    const Box& box = layout_.boxes[i];
    const int64_t begin = place_in(layout_, box.lower);
    const int64_t end = begin + box.elements(layout_.rank);
    const int64_t first = round_up_to_leaf(begin);
    if (first >= end) continue;
    const int64_t whole = end == terms ? end : round_down_to_leaf(end);
    add_run({box.member, static_cast<int64_t>(i), first, whole - first, first - begin});
    if (whole < end) add_in_room(wanted, box.member, whole, std::min(terms, whole + kLeafTerms));
  }
  return wanted;
}

// Each run as subtrees that are as large as its place allows.
void Reduction::add_ordered(gpumem_dtype dtype, gpumem_reduce_op op, Operand& x, Operand* y, std::vector<Subtree>& to) {
  for (const Run& run : runs_) {
    Context& context = *contexts_[members_.local(run.member)];
    const auto* const first_x = static_cast<const char*>(x.memory_of(run));
    const auto* const first_y = y == nullptr ? nullptr : static_cast<const char*>(y->memory_of(run));
    for (int64_t done = 0; done < run.terms;) {
      const auto leaf = static_cast<uint64_t>((run.first + done) / kLeafTerms);
      const auto left = static_cast<uint64_t>((run.terms - done + kLeafTerms - 1) / kLeafTerms);
      const int level = std::min(leaf == 0 ? 63 : std::countr_zero(leaf), static_cast<int>(std::bit_width(left)) - 1);
      ReduceParams part{.dtype = dtype, .op = op};
      part.n = std::min(run.terms - done, static_cast<int64_t>(kLeafTerms) << level);
      part.x = first_x + done * layout_.element_bytes;
      if (first_y != nullptr) part.y = first_y + done * layout_.element_bytes;
      to.push_back({static_cast<int64_t>(leaf), level, reduce_to_node(context, part)});
      done += part.n;
    }
  }
}

// A place in a box becomes a place in the sequence; both go up together, so the first of equals stays the first.
void Reduction::add_unordered(gpumem_dtype dtype, gpumem_reduce_op op, Operand& x, std::vector<Subtree>& to) {
  for (size_t i = 0; i < layout_.boxes.size(); ++i) {
    const Box& box = layout_.boxes[i];
    const int64_t elements = box.elements(layout_.rank);
    if (!members_.is_here(box.member) || elements == 0) continue;
    const ReduceParams part{.dtype = dtype, .op = op, .x = x.tight_box(static_cast<int64_t>(i)), .n = elements};
    Subtree subtree{.node = reduce_to_node(*contexts_[members_.local(box.member)], part)};
    if (node_kind(dtype, op) == NodeKind::arg) {
      auto place = static_cast<int64_t>(subtree.node.word[1]);
      Index index = box.lower;
      for (auto d = static_cast<size_t>(layout_.rank); d-- > 0;) {
        const int64_t length = box.upper[d] - box.lower[d];
        index[d] += place % length;
        place /= length;
      }
      subtree.node.word[1] = static_cast<uint64_t>(place_in(layout_, index));
    }
    to.push_back(subtree);
  }
}

std::vector<Subtree> Reduction::nodes_of(gpumem_dtype dtype, gpumem_reduce_op op, const void* const* x,
                                         const void* const* y) {
  const NodeKind kind = node_kind(dtype, op);
  std::vector<Subtree> subtrees;
  std::optional<Operand> of_x;
  std::optional<Operand> of_y;
  try {
    of_x.emplace(*this, "x", x);
    if (op == GPUMEM_DOT) of_y.emplace(*this, "y", y);
  } catch (const Error& error) {
    if (is_ordered(kind)) exchange_->give_up(error);
    throw;
  }
  if (is_ordered(kind)) {
    of_x->bring_to_leaves();
    if (of_y) of_y->bring_to_leaves();
    add_ordered(dtype, op, *of_x, of_y ? &*of_y : nullptr, subtrees);
  } else {
    add_unordered(dtype, op, *of_x, subtrees);
  }
  join_subtrees(kind, subtrees);
  return subtrees;
}

ReduceNode Reduction::run(gpumem_dtype dtype, gpumem_reduce_op op, const void* const* x, const void* const* y) {
  const NodeKind kind = node_kind(dtype, op);
  if (layout_.elements() == 0 && !has_empty_value(dtype, op)) {
    fail(GPUMEM_EMPTY, "the array is empty; expected at least one element for the %s", op_name(op));
  }
  const uint64_t call =
      static_cast<uint64_t>(number_ + 1) << 32 | static_cast<uint64_t>(dtype) << 16 | static_cast<uint64_t>(op);
  const Bytes all = communicator_.agree(
      call, [&] { return bytes_of(nodes_of(dtype, op, x, y)); },
      [&](const Bytes& theirs, const Bytes& ours) {
        std::vector<Subtree> subtrees;
        append_subtrees(subtrees, ours);
        append_subtrees(subtrees, theirs);
        join_subtrees(kind, subtrees);
        return bytes_of(subtrees);
      });
  std::vector<Subtree> subtrees;
  append_subtrees(subtrees, all);
  return root_of(kind, subtrees);
}

}  // namespace gpumem
