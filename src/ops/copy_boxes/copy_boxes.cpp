// Copies of many boxes: argument checks, the plan of a call and of a descriptor, and the staging of src.
#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/checked.hpp"
#include "base/limits.hpp"
#include "ops/lists.hpp"
#include "ops/staging.hpp"
#include "ops/strides.hpp"

namespace gpumem {
namespace {

constexpr int64_t kStagedAlignment = 64;

// A box whose src is on the other side, and is packed there first.
struct CrossingBox {
  size_t number;  // in the list
  CopyBox packing;
};

struct BoxList {
  std::vector<CopyBox> boxes;  // those with elements; src of a crossing one is placeholder() until it has arrived
  std::vector<MovedPiece> pieces;
  std::vector<CrossingBox> crossing;
};

// The caller's box with all strides. Its number is negative if it describes equal boxes.
struct GivenBox {
  int64_t number;
  int64_t element_bytes;
  int32_t rank;
  const int64_t* extents;
  const void* src;
  void* dst;
  int64_t src_strides[kMaxAxes] = {};
  int64_t dst_strides[kMaxAxes] = {};
  int64_t src_bytes = 0;  // from the first element to the end of the last
  int64_t dst_bytes = 0;

  bool empty() const noexcept { return std::find(extents, extents + rank, 0) != extents + rank; }
  StridedSide src_side() const noexcept { return {"src_strides", "bytes of src", rank, extents, src_strides}; }
  StridedSide dst_side() const noexcept { return {"dst_strides", "bytes of dst", rank, extents, dst_strides}; }
  ArgumentName name(std::string_view side) const noexcept { return {"", side, "", number}; }
};

void require_each(const char* argument, const int64_t* list, const GivenBox& box) {
  for (int32_t d = 0; list != nullptr && d < box.rank; ++d) {
    if (list[d] >= 0) continue;
    const int64_t place = std::max<int64_t>(box.number, 0) * box.rank + d;
    fail(GPUMEM_INVALID_ARGUMENT, "%s[%lld] is %lld; expected 0 or more", argument, ll(place), ll(list[d]));
  }
}

// Fills in strides, of which nullptr are tight. The box is empty or its elements have distinct places in dst.
void check_box(GivenBox& box, const int64_t* src_strides, const int64_t* dst_strides) {
  require_each("extents", box.extents, box);
  require_each("src_strides", src_strides, box);
  require_each("dst_strides", dst_strides, box);
  if (box.empty()) return;
  const auto set = [&](int64_t* strides, const int64_t* given) {
    if (given != nullptr) {
      std::copy_n(given, box.rank, strides);
    } else {
      fill_tight(strides, box.extents, box.rank);
    }
  };
  set(box.src_strides, src_strides);
  set(box.dst_strides, dst_strides);
  box.src_bytes = reach_bytes(box.src_side(), box.element_bytes);
  box.dst_bytes = reach_bytes(box.dst_side(), box.element_bytes);
  const ShortStride found = find_short_stride(box.rank, box.extents, box.dst_strides);
  if (found.axis < 0) return;
  const int64_t place = std::max<int64_t>(box.number, 0) * box.rank + found.axis;
  fail(GPUMEM_INVALID_ARGUMENT,
       "dst_strides[%lld] is %lld; expected at least %lld, so that distinct elements have distinct places", ll(place),
       ll(box.dst_strides[found.axis]), ll(found.least));
}

void check_sizes(int64_t element_bytes, int32_t rank, int64_t count) {
  require_element_size("element_bytes", element_bytes);
  if (rank < 0 || rank > kMaxAxes) {
    fail(GPUMEM_INVALID_ARGUMENT, "ndim is %d; expected 0 to %d", rank, kMaxAxes);
  }
  require_at_least("count", count, 0);
}

// Elements between equal boxes, one after another, as a multiple of the largest stride.
int64_t step_of(const StridedSide& side) {
  int64_t step = 1;
  for (int32_t d = 0; d < side.rank; ++d) {
    if (side.extents[d] > 1) step = std::max(step, checked_mul(side.extents[d], side.strides[d], side.bytes_of));
  }
  return step;
}

int64_t bytes_of_boxes(const StridedSide& side, int64_t one, int64_t element_bytes, int64_t count) {
  if (count == 1) return one;
  return checked_extent(count, checked_mul(step_of(side), element_bytes, side.bytes_of), one, side.bytes_of);
}

// Boxes often lie in one allocation, and one lookup then serves all of them.
class SideOfBoxes {
 public:
  const Operand& look_up(Planner& planner, const ByteRange& range, Access access) {
    if (!is_within(last_, range.p, range.bytes)) last_ = planner.look_up_here(range, access);
    return last_;
  }

  // Looks up the memory from the first of the ranges to the end of the last, unless most of it lies between them. If it
  // is not accessible as a whole, ranges are looked up one by one, as are those that leave the address space.
  template <class RangeOf>
  void look_up_together(Planner& planner, std::span<const GivenBox> boxes, Access access, const RangeOf& range_of) {
    constexpr uint64_t kMostSparse = 4;
    uintptr_t begin = UINTPTR_MAX;
    uintptr_t end = 0;
    uint64_t bytes = 0;
    for (const GivenBox& box : boxes) {
      const auto [p, length] = range_of(box);
      const auto first = reinterpret_cast<uintptr_t>(p);
      begin = std::min(begin, first);
      end = std::max(end, first + static_cast<uint64_t>(length));
      bytes += static_cast<uint64_t>(length);
    }
    if ((end - begin) / kMostSparse > bytes) return;
    try {
      last_ = planner.look_up_here(
          {"the boxes", reinterpret_cast<const void*>(begin), static_cast<int64_t>(end - begin)}, access);
      last_.base = begin;
      last_.bytes = static_cast<int64_t>(end - begin);
    } catch (const Error&) {
    }
  }

 private:
  Operand last_;
};

class BoxPlanner {
 public:
  BoxPlanner(Planner& planner, Completion completion, BoxList* list) noexcept
      : planner_(planner), completion_(completion), list_(list) {}

  // count: of equal boxes.
  void add(const GivenBox& box, int64_t count = 1) {
    const StridedSide src_side = box.src_side();
    const StridedSide dst_side = box.dst_side();
    const int64_t* const sides[] = {dst_side.strides, src_side.strides};
    const StridedRuns runs =
        runs_of(fused_axes(box.rank, box.extents, sides), box.element_bytes, src_side.strides, dst_side.strides);
    const int64_t src_bytes = bytes_of_boxes(src_side, box.src_bytes, box.element_bytes, count);
    const int64_t dst_bytes = bytes_of_boxes(dst_side, box.dst_bytes, box.element_bytes, count);
    const ArgumentName src_name = box.name("src");
    const ArgumentName dst_name = box.name("dst");
    const ByteRange src_range{src_name, box.src, src_bytes, spacing_in(src_side, box.element_bytes)};
    const ByteRange dst_range{dst_name, box.dst, dst_bytes, spacing_in(dst_side, box.element_bytes)};
    const Operand& src = src_.look_up(planner_, src_range, Access::read);
    const Operand& dst = dst_.look_up(planner_, dst_range, Access::write);
    if (runs.rank == 0 || box.src == box.dst) require_disjoint(dst_range, src_range);
    CopyBox copied{box.src, box.dst, runs};
    if (place_box(src_name, src, dst_name, dst)) {
      const RunsThrough through = through_tight(runs);
      if (list_ != nullptr) list_->crossing.push_back({list_->boxes.size(), {box.src, nullptr, through.in}});
      copied.src = placeholder();
      copied.runs = through.out;
    }
    add_to_list(copied);
  }

  // The first box is looked up by itself, for the record. On a host context, each lookup of memory of the program costs
  // system calls, and managed memory between the boxes is like any other.
  void add_all(std::span<const GivenBox> boxes) {
    for (const GivenBox& box : boxes) {
      add(box);
      if (&box != boxes.data() || planner_.on_cuda() || boxes.size() < 3) continue;
      src_.look_up_together(planner_, boxes, Access::read,
                            [](const GivenBox& of) { return std::pair(of.src, of.src_bytes); });
      dst_.look_up_together(planner_, boxes, Access::write,
                            [](const GivenBox& of) { return std::pair<const void*, int64_t>(of.dst, of.dst_bytes); });
    }
  }

  Plan<CopyBoxesFamily> finish(const CopyBoxesParams& given) {
    Plan<CopyBoxesFamily> plan;
    plan.empty = !first_dst_;
    if (plan.empty) return plan;
    plan.params = given;
    plan.placement = placement_;
    CopyBoxesParams& params = plan.params;
    params.are_pieces = are_pieces_;
    if (list_ != nullptr) {
      params.listed = static_cast<int64_t>(list_->boxes.size());
      params.boxes = list_->boxes.data();
      params.pieces = are_pieces_ ? list_->pieces.data() : nullptr;
    }
    plan.selection = decide<CopyBoxesFamily>(planner_, placement_.space, params);
    return plan;
  }

 private:
  // Whether src is staged. The first box that is staged decides the reason.
  bool place_box(const ArgumentName& src_name, const Operand& src, const ArgumentName& dst_name, const Operand& dst) {
    Placement own = place(planner_.on_cuda(), src, dst);
    own.host_side = src.host_side();
    if (first_dst_ && own.space != placement_.space) fail_on_two_sides(dst_name, dst, *first_name_, *first_dst_);
    if (own.stage_src && completion_ == Completion::asynchronous) fail_on_two_sides(src_name, src, dst_name, dst);
    if (!first_dst_) {
      first_dst_.emplace(dst);
      first_name_.emplace(dst_name);
      placement_ = own;
      return own.stage_src;
    }
    if (own.stage_src && !placement_.stage_src) {
      placement_.stage_src = true;
      placement_.reason = own.reason;
    }
    // Hints, so they need not be complete.
    for (const Operand* operand : {&src, &dst}) {
      if (placement_.managed_ranges < static_cast<int32_t>(placement_.managed.size())) placement_.uses(*operand);
    }
    return own.stage_src;
  }

  void add_to_list(const CopyBox& box) {
    if (list_ != nullptr) list_->boxes.push_back(box);
    if (placement_.space != ExecutionSpace::cuda || !are_pieces_) return;
    const auto piece = piece_of(box.runs, box.src, box.dst);
    are_pieces_ = piece.has_value();
    if (piece && list_ != nullptr) list_->pieces.push_back(*piece);
  }

  Planner& planner_;
  const Completion completion_;
  BoxList* const list_;  // nullptr: of a descriptor
  SideOfBoxes src_;
  SideOfBoxes dst_;
  std::optional<Operand> first_dst_;
  std::optional<ArgumentName> first_name_;
  Placement placement_{};
  bool are_pieces_ = true;
};

// The call for the record, as far as its arguments can be read, with its first box that has elements.
CopyBoxesParams readable(const CopyBoxesCall& call) {
  CopyBoxesParams c{.element_bytes = call.element_bytes, .rank = call.rank, .count = call.count};
  if (call.count < 1 || call.rank < 0 || call.rank > kMaxAxes) return c;
  require_available_for_call(
      static_cast<size_t>(checked_mul(call.count, sizeof(GivenBox) + sizeof(CopyBox) + sizeof(MovedPiece), "count")));
  if (call.rank > 0 && call.extents == nullptr) return c;
  int64_t first = 0;
  for (int64_t k = 0; k < call.count; ++k) {
    const int64_t more = product_of(call.extents + k * call.rank, call.rank);
    if (c.all_elements == 0 && more != 0) first = k;
    if (__builtin_add_overflow(c.all_elements, more, &c.all_elements)) c.all_elements = INT64_MAX;
  }
  const auto copy_first = [&](const int64_t* from, int64_t* to) {
    if (from != nullptr) std::copy_n(from + first * call.rank, call.rank, to);
    return from != nullptr;
  };
  c.has_extents = copy_first(call.extents, c.extents);
  c.has_src_strides = copy_first(call.src_strides, c.src_strides);
  c.has_dst_strides = copy_first(call.dst_strides, c.dst_strides);
  if (call.src != nullptr) c.src = call.src[first];
  if (call.dst != nullptr) c.dst = call.dst[first];
  return c;
}

void check(const CopyBoxesCall& call) {
  check_sizes(call.element_bytes, call.rank, call.count);
  if (call.count == 0) return;
  if (call.rank > 0) require_list("extents", call.extents, checked_mul(call.count, call.rank, "count"));
  require_list("src", call.src, call.count);
  require_list("dst", call.dst, call.count);
}

Plan<CopyBoxesFamily> plan_boxes(Planner& planner, const CopyBoxesCall& call, const CopyBoxesParams& given,
                                 Completion completion, BoxList& list) {
  check(call);
  list.boxes.reserve(static_cast<size_t>(call.count));
  if (planner.on_cuda()) list.pieces.reserve(static_cast<size_t>(call.count));
  std::vector<GivenBox> boxes;
  boxes.reserve(static_cast<size_t>(call.count));
  const auto at = [&](const int64_t* arrays, int64_t k) {
    return arrays == nullptr ? nullptr : arrays + k * call.rank;
  };
  for (int64_t k = 0; k < call.count; ++k) {
    GivenBox box{.number = k,
                 .element_bytes = call.element_bytes,
                 .rank = call.rank,
                 .extents = at(call.extents, k),
                 .src = call.src[k],
                 .dst = call.dst[k]};
    check_box(box, at(call.src_strides, k), at(call.dst_strides, k));
    if (!box.empty()) boxes.push_back(box);
  }
  BoxPlanner box_planner(planner, completion, &list);
  box_planner.add_all(boxes);
  return box_planner.finish(given);
}

struct Staged {
  std::optional<Workspace> packed;
  std::optional<Workspace> arrived;
};

// Packs the boxes that cross on their own side, and moves them in one transfer.
void bring(Context& context, const Plan<CopyBoxesFamily>& planned, BoxList& list, Staged& staged) {
  const bool to_device = planned.placement.space == ExecutionSpace::cuda;
  const ExecutionSpace there = to_device ? ExecutionSpace::host : ExecutionSpace::cuda;
  const auto room = [](const CrossingBox& box) {
    return ceil_div(box.packing.runs.all, kStagedAlignment) * kStagedAlignment;
  };
  int64_t bytes = 0;
  for (const CrossingBox& box : list.crossing) bytes = checked_add(bytes, room(box), "bytes of src");
  auto* to = static_cast<char*>(staged.packed.emplace(context, there, bytes).get());
  BoxList packing;
  CopyBoxesParams params{.element_bytes = planned.params.element_bytes};
  params.are_pieces = !to_device;
  for (CrossingBox& box : list.crossing) {
    box.packing.dst = to;
    to += room(box);
    packing.boxes.push_back(box.packing);
    params.all_elements += box.packing.runs.all / params.element_bytes;
    const auto piece = piece_of(box.packing.runs, box.packing.src, box.packing.dst);
    params.are_pieces = params.are_pieces && piece;
    if (params.are_pieces) packing.pieces.push_back(*piece);
  }
  params.count = params.listed = static_cast<int64_t>(packing.boxes.size());
  params.boxes = packing.boxes.data();
  params.pieces = packing.pieces.data();
  if (to_device) context.device().await_order();
  Backend& backend = context.running(there);
  // An override does not apply to the packing.
  const Configured<CopyBoxesParams> chosen = select<CopyBoxesFamily>(backend.props(), params, {}, {});
  backend.launch(to_device ? nullptr : context.own_stream(), Work<CopyBoxesFamily>{params, chosen},
                 to_device ? Completion::blocking : Completion::asynchronous);
  stage(context, staged.arrived, planned.placement.space, staged.packed->get(), bytes, HostSide::pageable);
  const auto* from = static_cast<const char*>(staged.arrived->get());
  for (const CrossingBox& box : list.crossing) {
    list.boxes[box.number].src = from;
    if (planned.params.pieces != nullptr) list.pieces[box.number].src = from;
    from += room(box);
  }
}

}  // namespace

Plan<CopyBoxesFamily> plan(Planner& planner, const CopyBoxesParams& given, Completion completion) {
  check_sizes(given.element_bytes, given.rank, given.count);
  if (given.rank > 0 && !given.has_extents) require_list<void>("extents", nullptr, given.rank);
  GivenBox box{.number = -1,
               .element_bytes = given.element_bytes,
               .rank = given.rank,
               .extents = given.extents,
               .src = given.src,
               .dst = given.dst};
  check_box(box, given.has_src_strides ? given.src_strides : nullptr,
            given.has_dst_strides ? given.dst_strides : nullptr);
  BoxPlanner boxes(planner, completion, nullptr);
  if (given.count > 0 && !box.empty()) boxes.add(box, given.count);
  return boxes.finish(given);
}

void copy_boxes(Context& context, const CopyBoxesCall& call, NativeStream stream, Completion completion) {
  constexpr const char* kWhat = "this copy of boxes";
  const CopyBoxesParams given = readable(call);
  CallPlanner planner(context, given, completion);
  const auto list = std::make_shared<BoxList>();
  const Plan<CopyBoxesFamily> planned = plan_boxes(planner, call, given, completion, *list);
  if (planned.empty) return;
  Staged staged;
  if (planned.placement.stage_src) {
    require_not_capturing(context, stream, kWhat);
    bring(context, planned, *list, staged);
  }
  launch_listed(context, planned, list, stream, completion, kWhat);
}

void copy_equal_boxes(Context& context, const CopyBoxesParams& params, NativeStream stream, Completion completion) {
  const int64_t count = params.count;
  const auto repeated = [&](bool given, const int64_t* of_box) {
    std::vector<int64_t> all(given ? static_cast<size_t>(count * params.rank) : 0);
    for (size_t i = 0; i < all.size(); ++i) all[i] = of_box[i % static_cast<size_t>(params.rank)];
    return all;
  };
  const std::vector<int64_t> extents = repeated(true, params.extents);
  const std::vector<int64_t> src_strides = repeated(params.has_src_strides, params.src_strides);
  const std::vector<int64_t> dst_strides = repeated(params.has_dst_strides, params.dst_strides);
  const auto step_bytes = [&](const std::vector<int64_t>& strides) {
    int64_t tight[kMaxAxes] = {};
    if (strides.empty()) fill_tight(tight, params.extents, params.rank);
    const int64_t* const all = strides.empty() ? tight : strides.data();
    return step_of({"", "bytes of a box", params.rank, params.extents, all}) * params.element_bytes;
  };
  std::vector<const void*> src(static_cast<size_t>(count));
  std::vector<void*> dst(src.size());
  const int64_t src_step = step_bytes(src_strides);
  const int64_t dst_step = step_bytes(dst_strides);
  for (size_t k = 0; k < src.size(); ++k) {
    src[k] = static_cast<const char*>(params.src) + static_cast<int64_t>(k) * src_step;
    dst[k] = static_cast<char*>(params.dst) + static_cast<int64_t>(k) * dst_step;
  }
  copy_boxes(context,
             {.element_bytes = params.element_bytes,
              .rank = params.rank,
              .count = count,
              .extents = extents.data(),
              .src = src.data(),
              .src_strides = params.has_src_strides ? src_strides.data() : nullptr,
              .dst = dst.data(),
              .dst_strides = params.has_dst_strides ? dst_strides.data() : nullptr},
             stream, completion);
}

}  // namespace gpumem
