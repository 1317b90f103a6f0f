#include "dist/reduction.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <exception>
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

int64_t place_in(const Layout& layout, const Index& index) noexcept {
  int64_t place = 0;
  for (size_t d = 0; d < kAxes; ++d) place = place * layout.extents[d] + index[d];
  return place;
}

// Whether a box is one run of the sequence: all axes after its last cut axis are whole, and all before have one index.
bool is_run(const Layout& layout, const Box& box) noexcept {
  const Index lengths = box.extents();
  bool cut = false;
  for (size_t d = kAxes; d-- > 0;) {
    if (cut && lengths[d] != 1) return false;
    cut = cut || lengths[d] != layout.extents[d];
  }
  return true;
}

// Joins siblings once both exist. Not inlined: partial results must be in memory for the environment's fences.
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
      left.level += is_ordered(kind) ? 1 : subtrees[count - 1].level;
    }
  }
  subtrees.resize(count);
}

// The root of all partial results. Missing ones at the end count as +0, which changes nothing.
[[gnu::noinline]] ReduceNode root_of(NodeKind kind, const std::vector<Subtree>& subtrees) {
  const DefaultFloatEnvironment environment;
  if (subtrees.empty()) return empty_node(kind);
  ReduceNode node = subtrees.back().node;
  for (size_t i = subtrees.size() - 1; i-- > 0;) node = combine(kind, subtrees[i].node, node);
  return node;
}

// Level of the largest aligned subtree at `leaf` with at most `leaves`.
int64_t largest_level(int64_t leaf, int64_t leaves) noexcept {
  const auto bits = static_cast<uint64_t>(leaf);
  const auto level = static_cast<int64_t>(std::bit_width(static_cast<uint64_t>(leaves) / 2));
  return bits == 0 ? level : std::min<int64_t>(level, std::countr_zero(bits));
}

Bytes bytes_of(const std::vector<Subtree>& subtrees) {
  Bytes bytes;
  for (const Subtree& subtree : subtrees) put(bytes, subtree);
  return bytes;
}

int64_t leaves_of(const Layout& layout) noexcept { return ceil_div(layout.elements(), int64_t{kLeafTerms}); }

}  // namespace

// Concurrent reductions on the devices of this process's participants: everything possible is begun before any wait.
class Reduction::UnderWay {
 public:
  explicit UnderWay(std::vector<Subtree>& done) : done_(done) {}

  void begin(Context& context, const ReduceParams& what, const Subtree& part) {
    std::unique_ptr<PendingNodes> node = begin_reduce_to_node(context, what);
    if (node != nullptr) {
      begun_.push_back({std::move(node), {part}});
      return;
    }
    if (context.on_cuda()) finish();  // begun work holds slots, and this call may need the last one
    done_.push_back(part);
    done_.back().node = reduce_to_node(context, what);
  }
  // Begins a run at block `first`, if one launch makes the results of all of its subtrees.
  bool begin_run(Context& context, const ReduceParams& what, int64_t first) {
    constexpr int64_t kBlocks = 512;
    const int64_t leaves = ceil_div(what.n, kLeafTerms);
    if (!context.on_cuda() || leaves > kMostTreeLeaves) return false;
    LeafTrees trees;
    while (trees.leaves < kLeavesInShared && leaves / trees.leaves > kBlocks) trees.leaves *= 2;
    std::vector<Subtree> parts;
    for (int64_t done = 0; done < leaves; done += int64_t{1} << parts.back().level) {
      parts.push_back({first + done, largest_level(first + done, leaves - done), {}});
      trees.add(static_cast<int32_t>(parts.back().level));
    }
    std::unique_ptr<PendingNodes> nodes = begin_reduce_to_nodes(context, what, trees);
    if (nodes == nullptr) return false;
    begun_.push_back({std::move(nodes), std::move(parts)});
    return true;
  }
  void finish() {
    std::vector<ReduceNode> nodes;
    for (const Begun& begun : begun_) {
      nodes.resize(begun.parts.size());
      begun.nodes->wait(nodes);
      for (size_t i = 0; i < nodes.size(); ++i) {
        done_.push_back(begun.parts[i]);
        done_.back().node = nodes[i];
      }
    }
    begun_.clear();
  }

 private:
  struct Begun {
    std::unique_ptr<PendingNodes> nodes;
    std::vector<Subtree> parts;
  };
  std::vector<Begun> begun_;
  std::vector<Subtree>& done_;
};

// One array during its reduction: the participants' memory, and the parts gathered into runs.
class Reduction::Operand {
 public:
  Operand(Reduction& of, const char* name, const void* const* p, bool with_rooms)
      : of_(of), name_(name), p_(p), on_host_(of.group_.contexts.size(), true) {
    for (const Box& box : of.layout_.boxes) {
      if (!of.group_.members.is_here(box.member) || box.empty()) continue;
      const size_t at = of.group_.members.local(box.member);
      const std::string argument = std::string(name) + "[" + std::to_string(at) + "]";
      if (p == nullptr || p[at] == nullptr) {
        fail(GPUMEM_INVALID_ARGUMENT, "%s is NULL; expected the memory of member %d, which has boxes", argument.c_str(),
             box.member);
      }
      const Shape shape{of.layout_.element_bytes, box.extents()};
      const char* const first = static_cast<const char*>(p[at]) + box.offset * shape.element_bytes;
      const int64_t bytes = shape.reach(box.strides) * shape.element_bytes;
      Context& context = of.group_.context_of(box.member);
      const auto seen = look_up_range(context, first, bytes, Access::read, argument.c_str(), bytes);
      on_host_[at] = !context.on_cuda() || seen.on_host();
    }
    for (size_t at = 0; with_rooms && at < of.rooms_.size(); ++at) {
      room_pointers_.push_back(nullptr);
      if (of.rooms_[at] == 0) continue;
      const int64_t bytes = of.rooms_[at] * of.layout_.element_bytes;
      rooms_.push_back(std::make_unique<TemporaryBlock>(*of.group_.contexts[at], on_host_[at], bytes));
      room_pointers_.back() = rooms_.back()->get();
    }
  }

  // Collective. Device work of a single process needs no wait: later work on the own streams is ordered behind it.
  void bring_to_leaves() {
    if (of_.exchange_->is_empty() && of_.exchange_->can_be_enqueued()) return;
    const bool on_devices = std::find(on_host_.begin(), on_host_.end(), true) == on_host_.end();
    if (on_devices && of_.exchange_->can_be_enqueued()) {
      std::vector<NativeStream> streams;
      for (Context* context : of_.group_.contexts) streams.push_back(context->own_stream());
      try {
        return of_.exchange_->enqueue(p_, room_pointers_.data(), streams, name_, Exchange::Order::callers);
      } catch (const Error& error) {
        if (error.status() != GPUMEM_UNSUPPORTED) throw;  // a piece that must be staged
      }
    }
    of_.exchange_->run(p_, room_pointers_.data(), name_);
  }

  const void* memory_of(const Run& run) {
    const char* const p = run.box < 0 ? static_cast<const char*>(room_pointers_[of_.group_.members.local(run.member)])
                                      : static_cast<const char*>(tight_box(run.box));
    return p + run.offset * of_.layout_.element_bytes;
  }

  char* box(int64_t number) const {
    const Box& box = of_.layout_.boxes[static_cast<size_t>(number)];
    char* const memory = static_cast<char*>(const_cast<void*>(p_[of_.group_.members.local(box.member)]));
    return memory + box.offset * of_.layout_.element_bytes;
  }

  // A box's elements without padding, in place or as a copy.
  const void* tight_box(int64_t number) {
    const Box& box = of_.layout_.boxes[static_cast<size_t>(number)];
    const size_t at = of_.group_.members.local(box.member);
    const Shape shape{of_.layout_.element_bytes, box.extents()};
    char* const p = this->box(number);
    if (shape.is_tight(box.strides)) return p;
    std::unique_ptr<TemporaryBlock>& copy = copies_[number];
    if (copy == nullptr) {
      Context& context = of_.group_.context_of(box.member);
      copy = std::make_unique<TemporaryBlock>(context, on_host_[at], shape.bytes());
      const Index tight = shape.tight_strides();
      move(context, shape, {p, box.strides}, {copy->get(), tight}, context.own_stream(),
           on_host_[at] ? Completion::blocking : Completion::asynchronous);
    }
    return copy->get();
  }

 private:
  Reduction& of_;
  const char* const name_;
  const void* const* const p_;
  std::vector<bool> on_host_;
  std::vector<std::unique_ptr<TemporaryBlock>> rooms_;
  std::vector<void*> room_pointers_;
  std::map<int64_t, std::unique_ptr<TemporaryBlock>> copies_;
};

Reduction::Reduction(const Group& group, Layout layout, int64_t workspace_bytes)
    : group_(group), layout_(std::move(layout)), rooms_(group_.contexts.size(), 0) {
  const Layout wanted = whole_leaves();
  exchange_ = std::make_unique<Exchange>(PlanKind::reduce, group_, layout_, wanted, workspace_bytes);
  full_boxes_ = std::count_if(layout_.boxes.begin(), layout_.boxes.end(), [](const Box& box) { return !box.empty(); });
}

int64_t Reduction::room() const noexcept {
  int64_t all = 0;
  for (const int64_t elements : rooms_) all += elements;
  return all;
}

void Reduction::add_run(const Run& run) {
  if (group_.members.is_here(run.member) && run.terms > 0) runs_.push_back(run);
}

// Terms [first, end) of the sequence for a participant's room, as boxes of maximal size.
void Reduction::add_in_room(Layout& wanted, int32_t member, int64_t first, int64_t end) {
  int64_t room = 0;
  if (group_.members.is_here(member)) {
    room = rooms_[group_.members.local(member)];
    rooms_[group_.members.local(member)] += end - first;
  }
  add_run({member, -1, first, end - first, room});
  const Index strides = Shape{layout_.element_bytes, layout_.extents}.tight_strides();
  for (int64_t at = first; at < end;) {
    Box box{.member = member, .offset = room + at - first, .strides = strides};
    int64_t rest = at;
    for (size_t d = 0; d < kAxes; ++d) {
      box.lower[d] = rest / strides[d];
      rest %= strides[d];
    }
    size_t axis = 0;  // the slowest along which the box can grow
    while (at % strides[axis] != 0 || at + strides[axis] > end) ++axis;
    const int64_t length = std::min(layout_.extents[axis] - box.lower[axis], (end - at) / strides[axis]);
    for (size_t d = 0; d < kAxes; ++d) {
      box.upper[d] = d < axis ? box.lower[d] + 1 : d == axis ? box.lower[d] + length : layout_.extents[d];
    }
    wanted.boxes.push_back(box);
    at += length * strides[axis];
  }
}

// A block is reduced where its first term is. If boxes are not runs, participants get equal numbers of blocks. Single
// bytes are never floating-point numbers, so they need none.
Layout Reduction::whole_leaves() {
  Layout wanted{layout_.element_bytes, layout_.rank, layout_.extents, {}};
  if (layout_.element_bytes == 1) return wanted;
  const int64_t terms = layout_.elements();
  const auto empty_or_run = [&](const Box& box) { return box.empty() || is_run(layout_, box); };
  moves_array_ = !std::all_of(layout_.boxes.begin(), layout_.boxes.end(), empty_or_run);
  if (moves_array_) {
    const int64_t leaves = round_up_to_leaf(terms) / kLeafTerms;
    const int64_t share = leaves / group_.members.all();
    const int64_t more = leaves % group_.members.all();
    for (int64_t m = 0; m < group_.members.all(); ++m) {
      const int64_t first = (m * share + std::min(m, more)) * kLeafTerms;
      const int64_t end = std::min(terms, first + (share + (m < more ? 1 : 0)) * kLeafTerms);
      if (first < end) add_in_room(wanted, static_cast<int32_t>(m), first, end);
    }
    return wanted;
  }
  for (size_t i = 0; i < layout_.boxes.size(); ++i) {
    const Box& box = layout_.boxes[i];
    if (box.empty()) continue;
    const int64_t begin = place_in(layout_, box.lower);
    const int64_t end = begin + box.elements();
    const int64_t first = round_up_to_leaf(begin);
    if (first >= end) continue;
    const int64_t whole = end == terms ? end : round_down_to_leaf(end);
    add_run({box.member, static_cast<int64_t>(i), first, whole - first, first - begin});
    if (whole < end) add_in_room(wanted, box.member, whole, std::min(terms, whole + kLeafTerms));
  }
  return wanted;
}

// Runs in boxes or rooms: as the largest aligned subtrees, or by one launch.
void Reduction::begin_ordered(const ReduceParams& what, Operand& x, Operand* y, bool in_rooms, UnderWay& under_way) {
  for (const Run& run : runs_) {
    if ((run.box < 0) != in_rooms) continue;
    const auto* const first_x = static_cast<const char*>(x.memory_of(run));
    const auto* const first_y = y == nullptr ? nullptr : static_cast<const char*>(y->memory_of(run));
    Context& context = group_.context_of(run.member);
    ReduceParams part = what;
    for (int64_t done = 0; done < run.terms; done += part.n) {
      part.n = run.terms - done;
      part.x = first_x + done * layout_.element_bytes;
      if (first_y != nullptr) part.y = first_y + done * layout_.element_bytes;
      const int64_t leaf = (run.first + done) / kLeafTerms;
      const int64_t left = ceil_div(part.n, kLeafTerms);
      const int64_t level = largest_level(leaf, left);
      const bool one = left == int64_t{1} << level;
      if (!one && under_way.begin_run(context, part, leaf)) continue;
      part.n = std::min(part.n, static_cast<int64_t>(kLeafTerms) << level);
      under_way.begin(context, part, {leaf, level, {}});
    }
  }
}

// Order-free sums read a box where it is.
ReduceParams Reduction::box_of(const ReduceParams& what, int64_t number, Operand& x, Operand* y) const {
  const Box& box = layout_.boxes[static_cast<size_t>(number)];
  ReduceParams part = what;
  part.n = box.elements();
  if (node_kind(what.dtype, what.op) != NodeKind::order_free) {
    part.x = x.tight_box(number);
    return part;
  }
  part.x = x.box(number);
  if (y != nullptr) part.y = y->box(number);
  const Index lengths = box.extents();
  part.view.rank = layout_.rank;
  for (int32_t d = 0; d < layout_.rank; ++d) {
    const auto axis = static_cast<size_t>(d);
    part.view.extents[d] = lengths[axis];
    part.view.strides[d] = part.view.y_strides[d] = box.strides[axis];
  }
  return part;
}

// Positions in a box and in the sequence increase together, so the first of equal values stays first.
void Reduction::add_unordered(const ReduceParams& what, Operand& x, Operand* y, std::vector<Subtree>& to) {
  UnderWay under_way(to);
  for (size_t i = 0; i < layout_.boxes.size(); ++i) {
    const Box& box = layout_.boxes[i];
    if (!group_.members.is_here(box.member) || box.empty()) continue;
    const auto number = static_cast<int64_t>(i);
    under_way.begin(group_.context_of(box.member), box_of(what, number, x, y), {number, 1, {}});
  }
  under_way.finish();
  for (Subtree& subtree : to) {
    const Box& box = layout_.boxes[static_cast<size_t>(subtree.first)];
    subtree.first = 0;
    if (node_kind(what.dtype, what.op) != NodeKind::arg) continue;
    auto place = static_cast<int64_t>(subtree.node.word[1]);
    const Index lengths = box.extents();
    Index index = box.lower;
    for (size_t d = kAxes; d-- > 0;) {
      index[d] += place % lengths[d];
      place /= lengths[d];
    }
    subtree.node.word[1] = static_cast<uint64_t>(place_in(layout_, index));
  }
}

std::vector<Subtree> Reduction::nodes_of(const ReduceParams& what, const void* const* x, const void* const* y) {
  if (layout_.elements() == 0 && !has_empty_value(what.dtype, what.op)) {
    fail(GPUMEM_EMPTY, "the array is empty; expected at least one element for the %s", op_name(what.op));
  }
  const NodeKind kind = node_kind(what.dtype, what.op);
  if (kind == NodeKind::order_free && layout_.elements() > kMostOrderFreeTerms) {
    fail(GPUMEM_UNSUPPORTED, "the array has %lld elements; expected at most 2^42 - 1 for the %s",
         ll(layout_.elements()), op_name(what.op));
  }
  const bool ordered = is_ordered(kind);
  std::vector<Subtree> subtrees;
  std::optional<Operand> of_x;
  std::optional<Operand> of_y;
  try {
    of_x.emplace(*this, "x", x, ordered);
    if (takes_y(what.op)) of_y.emplace(*this, "y", y, ordered);
    if (ordered && !exchange_->is_empty()) exchange_->finish_earlier();
  } catch (...) {
    if (ordered) exchange_->give_up(current_error());
    throw;
  }
  Operand* const y_or_none = of_y ? &*of_y : nullptr;
  if (ordered) {
    try {
      UnderWay under_way(subtrees);
      std::exception_ptr refused;  // other processes still wait for this one's data
      try {
        begin_ordered(what, *of_x, y_or_none, false, under_way);
      } catch (...) {
        refused = std::current_exception();
      }
      of_x->bring_to_leaves();
      if (of_y) of_y->bring_to_leaves();
      if (refused) std::rethrow_exception(refused);
      begin_ordered(what, *of_x, y_or_none, true, under_way);
      under_way.finish();
    } catch (...) {  // the program may free memory that participants still read
      for (Context* context : group_.contexts) context->device().finish_stream(context->own_stream());
      throw;
    }
  } else {
    add_unordered(what, *of_x, y_or_none, subtrees);
  }
  join_subtrees(kind, subtrees);
  return subtrees;
}

// The bytes may come from another process, which may send anything.
void Reduction::append_subtrees(NodeKind kind, std::vector<Subtree>& to, const Bytes& bytes, int32_t from) const {
  const int64_t leaves = leaves_of(layout_);
  for (Reader reader(bytes, from); !reader.empty();) {
    const Subtree& subtree = to.emplace_back(reader.take<Subtree>());
    bool sound = false;
    if (is_ordered(kind)) {
      sound = subtree.level >= 0 && subtree.level < 63 && subtree.first >= 0 &&
              subtree.first <= leaves - (int64_t{1} << subtree.level);
    } else {
      sound = subtree.first == 0 && subtree.level >= 1 && subtree.level <= full_boxes_;
    }
    if (kind == NodeKind::arg) sound = sound && subtree.node.word[1] < static_cast<uint64_t>(layout_.elements());
    if (sound) continue;
    fail(GPUMEM_PEER_LOST, "process %d sent a part of the result of level %lld from leaf %lld on; expected one of %lld",
         from, ll(subtree.level), ll(subtree.first), ll(is_ordered(kind) ? leaves : full_boxes_));
  }
}

void Reduction::require_whole(NodeKind kind, const std::vector<Subtree>& subtrees) const {
  int64_t next = 0;
  bool sound = true;
  for (const Subtree& subtree : subtrees) {
    sound = sound && (!is_ordered(kind) || subtree.first == next);
    next += is_ordered(kind) ? int64_t{1} << subtree.level : subtree.level;
  }
  const int64_t all = is_ordered(kind) ? leaves_of(layout_) : full_boxes_;
  if (sound && next == all) return;
  fail(GPUMEM_PEER_LOST, "the processes sent %lld parts of the result, or some of them twice; expected %lld, each once",
       ll(next), ll(all));
}

ReduceValue Reduction::run(const Read& read, const void* const* x, const void* const* y) {
  std::optional<Error> refused;
  ReduceParams what;
  try {
    what = read();
  } catch (...) {
    refused = current_error();
    exchange_->give_up(*refused);
  }
  const NodeKind kind = node_kind(what.dtype, what.op);
  const uint64_t call = static_cast<uint64_t>(what.dtype) << 16 | static_cast<uint64_t>(what.op);
  const Bytes all = group_.communicator.agree(
      call,
      [&] {
        if (refused) throw Error(*refused);
        return bytes_of(nodes_of(what, x, y));
      },
      [&](const Bytes& theirs, const Bytes& ours, int32_t from) {
        std::vector<Subtree> subtrees;
        append_subtrees(kind, subtrees, ours, group_.communicator.rank());
        append_subtrees(kind, subtrees, theirs, from);
        join_subtrees(kind, subtrees);
        return bytes_of(subtrees);
      });
  std::vector<Subtree> subtrees;
  append_subtrees(kind, subtrees, all, 0);
  require_whole(kind, subtrees);
  return checked_value(what.dtype, what.op, root_of(kind, subtrees));
}

}  // namespace gpumem
