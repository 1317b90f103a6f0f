// Permutations of axes: argument checks, the plan of both forms, and the staging of src.
#include <algorithm>
#include <optional>
#include <string_view>

#include "base/checked.hpp"
#include "base/sentences.hpp"
#include "kernels/alignment.hpp"
#include "ops/permute/permute_fuse.hpp"
#include "ops/plan.hpp"
#include "ops/staging.hpp"
#include "ops/strides.hpp"
#include "select/permute_transpose.hpp"

namespace gpumem {
namespace {

template <class T>
bool copy_axes(const T* from, int32_t rank, T* to) noexcept {
  if (from == nullptr || rank < 0 || rank > kMaxPermuteRank) return false;
  std::copy_n(from, rank, to);
  return true;
}

// The call for the record, as far as its arguments can be read.
PermuteParams readable(const PermuteCall& call) noexcept {
  PermuteParams c{.element_bytes = call.element_bytes, .rank = call.rank, .src = call.src, .dst = call.dst};
  c.has_extents = copy_axes(call.extents, call.rank, c.extents);
  c.has_order = copy_axes(call.order, call.rank, c.order);
  c.has_src_strides = copy_axes(call.src_strides, call.rank, c.src_strides);
  c.has_dst_strides = copy_axes(call.dst_strides, call.rank, c.dst_strides);
  return c;
}

void check_sizes(const PermuteParams& c) {
  require_element_size("element_bytes", c.element_bytes);
  check_extents(c.rank, c.has_extents ? c.extents : nullptr, kMaxPermuteRank);
}

void check_order(const PermuteParams& c) {
  if (c.rank > 0 && !c.has_order) {
    fail(GPUMEM_INVALID_ARGUMENT, "order is NULL; expected the order of %d axes", c.rank);
  }
  int32_t place[kMaxPermuteRank];
  std::fill_n(place, kMaxPermuteRank, -1);
  for (int32_t d = 0; d < c.rank; ++d) {
    const int32_t axis = c.order[d];
    if (axis < 0 || axis >= c.rank) {
      fail(GPUMEM_INVALID_ARGUMENT, "order[%d] is %d; expected an axis of src (0 to %d)", d, axis, c.rank - 1);
    }
    if (place[axis] >= 0) {
      fail(GPUMEM_INVALID_ARGUMENT, "order[%d] is %d, as order[%d] is; expected each axis of src once", d, axis,
           place[axis]);
    }
    place[axis] = d;
  }
}

struct Permutation {
  bool empty = false;     // an extent is 0; the other members are not set
  PermuteAxes axes;       // axis d of dst is axis d; nothing is fused
  int64_t src_bytes = 0;  // from the first element to the end of the last
  int64_t dst_bytes = 0;
};

// Throws INVALID_ARGUMENT. Afterwards, every sum of products of indices and strides in bytes fits int64_t.
Permutation permutation_of(const PermuteParams& c) {
  check_sizes(c);
  check_order(c);
  check_strides("src_strides", c.src_strides, c.has_src_strides ? c.rank : 0);
  check_strides("dst_strides", c.dst_strides, c.has_dst_strides ? c.rank : 0);
  Permutation p;
  p.empty = std::find(c.extents, c.extents + c.rank, 0) != c.extents + c.rank;
  if (p.empty) return p;
  int64_t src_strides[kMaxPermuteRank] = {};
  std::copy_n(c.src_strides, c.rank, src_strides);
  if (!c.has_src_strides) fill_tight(src_strides, c.extents, c.rank);
  PermuteAxes& axes = p.axes;
  axes.element_bytes = c.element_bytes;
  for (int32_t d = 0; d < c.rank; ++d) axes.add(c.extents[c.order[d]], src_strides[c.order[d]], 0);
  std::copy_n(c.dst_strides, c.rank, axes.dst_stride);
  if (!c.has_dst_strides) fill_tight(axes.dst_stride, axes.extent, axes.rank);
  p.src_bytes = reach_bytes({"src_strides", "bytes of src", c.rank, c.extents, src_strides}, c.element_bytes);
  const StridedSide dst{"dst_strides", "bytes of dst", axes.rank, axes.extent, axes.dst_stride};
  p.dst_bytes = reach_bytes(dst, c.element_bytes);
  check_distinct(dst);
  return p;
}

// How src is staged: unchanged, or first packed on its own side if over half of it is padding.
struct Travel {
  bool packed = false;
  PermuteAxes packing;  // from src to its packed form
  PermuteAxes axes;     // from the staged data to dst
  int64_t bytes = 0;
};

Travel travel_of(const Permutation& p) noexcept {
  Travel travel{false, {}, p.axes, p.src_bytes};
  travel.packing.element_bytes = p.axes.element_bytes;
  const AxesInOrder order = in_order_of(p.axes.src_stride, p.axes.rank);
  int64_t elements = 1;
  for (int32_t i = 0; i < p.axes.rank; ++i) {
    const int32_t d = order.axis[i];
    if (p.axes.src_stride[d] == 0) continue;
    travel.packing.add(p.axes.extent[d], p.axes.src_stride[d], elements);
    travel.axes.src_stride[d] = elements;
    elements *= p.axes.extent[d];
  }
  travel.packed = p.src_bytes / 2 > elements * p.axes.element_bytes;
  if (travel.packed) {
    travel.bytes = elements * p.axes.element_bytes;
  } else {
    travel.axes = p.axes;
  }
  return travel;
}

// Blocks per multiprocessor while copy engines run. Two H200, slabs of 4 GiB: 5.96 ms with 1, 6.81 ms with a full grid.
constexpr int64_t kBlocksBesideCopies = 1;

void run(Backend& backend, NativeStream stream, const PermuteParams& params, Configured<PermuteParams> planned,
         Completion completion, Occupancy occupancy = Occupancy::full) {
  if (occupancy == Occupancy::limited && !planned.config.fixed_grid) {
    const int64_t most = kBlocksBesideCopies * backend.props().multiprocessors;
    planned.config.grid = std::min(planned.config.grid, most);
  }
  backend.launch(stream, Work<PermuteFamily>{params, planned}, completion);
}

struct Staged {
  std::optional<Workspace> packed;
  std::optional<Workspace> arrived;
};

void bring(Context& context, const PermuteParams& call, const Placement& placement, Staged& staged) {
  const Travel travel = travel_of(permutation_of(call));
  const void* from = call.src;
  if (travel.packed) {
    const bool on_host = placement.space == ExecutionSpace::cuda;
    Backend& there = context.running(on_host ? ExecutionSpace::host : ExecutionSpace::cuda);
    staged.packed.emplace(context, on_host ? ExecutionSpace::host : ExecutionSpace::cuda, travel.bytes);
    if (on_host) context.device().await_order();
    PermuteParams packing{.src = call.src, .dst = staged.packed->get()};
    packing.axes = fuse(travel.packing, misalignment(packing.src), misalignment(packing.dst));
    run(there, on_host ? nullptr : context.own_stream(), packing,
        select<PermuteFamily>(there.props(), packing, {}, {}),  // an override does not apply to the packing
        on_host ? Completion::blocking : Completion::asynchronous);
    from = staged.packed->get();
  }
  stage(context, staged.arrived, placement.space, from, travel.bytes,
        travel.packed ? HostSide::pageable : placement.host_side);
}

Spacing spacing_in(const PermuteAxes& axes, const int64_t* strides) noexcept {
  return spacing_in(StridedSide{"", "", axes.rank, axes.extent, strides}, axes.element_bytes);
}

Placement place_permutation(Planner& planner, const PermuteParams& c, const Permutation& p, Completion completion) {
  const ByteRange src_range{"src", c.src, p.src_bytes, spacing_in(p.axes, p.axes.src_stride)};
  const ByteRange dst_range{"dst", c.dst, p.dst_bytes, spacing_in(p.axes, p.axes.dst_stride)};
  const Operand src = planner.look_up_here(src_range, Access::read);
  const Operand dst = planner.look_up_here(dst_range, Access::write);
  if (c.src == c.dst) {
    fail(GPUMEM_UNSUPPORTED, "dst is src; expected disjoint operands: permutations do not work in place");
  }
  if (!planner.knows_disjoint()) require_disjoint(dst_range, src_range);
  return place(planner.on_cuda(), src, dst, completion);
}

void permute(Context& context, const PermuteParams& call, Planner& planner, NativeStream stream, Completion completion,
             Occupancy occupancy = Occupancy::full) {
  constexpr const char* kWhat = "this permutation";
  const Plan<PermuteFamily> planned = plan(planner, call, completion);
  if (planned.empty) return;
  PermuteParams params = planned.params;
  Staged staged;
  if (planned.placement.stage_src) {
    require_not_capturing(context, stream, kWhat);
    bring(context, call, planned.placement, staged);
    params.src = staged.arrived->get();
  }
  run_placed(
      context, planned.placement, stream, completion, kWhat,
      [params, occupancy, chosen = Configured<PermuteParams>(planned.selection)](
          Backend& backend, NativeStream on, Completion done) { run(backend, on, params, chosen, done, occupancy); });
}

}  // namespace

Plan<PermuteFamily> plan(Planner& planner, const PermuteParams& call, Completion completion) {
  const Permutation p = permutation_of(call);
  Plan<PermuteFamily> plan;
  plan.empty = p.empty;
  if (plan.empty) return plan;
  plan.placement = place_permutation(planner, call, p, completion);
  const bool staged = plan.placement.stage_src;
  PermuteParams& params = plan.params;
  params.src = staged ? placeholder() : call.src;
  params.dst = call.dst;
  params.axes = fuse(staged ? travel_of(p).axes : p.axes, misalignment(params.src), misalignment(params.dst));
  plan.selection = decide<PermuteFamily>(planner, plan.placement.space, params);
  return plan;
}

void permute(Context& context, const PermuteCall& given, NativeStream stream, Completion completion) {
  const PermuteParams call = readable(given);
  CallPlanner planner(context, call, completion);
  permute(context, call, planner, stream, completion);
}

void permute_part(Context& context, const PermuteCall& given, const Operand& src, const Operand& dst,
                  NativeStream stream, Completion completion, Occupancy occupancy) {
  const PermuteParams call = readable(given);
  PartPlanner planner(context, call, completion, src, dst);
  permute(context, call, planner, stream, completion, occupancy);
}

}  // namespace gpumem
