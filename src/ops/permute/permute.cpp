// Permutations of axes: the plan of both forms, and what brings src next to the work.
#include <array>
#include <optional>
#include <string_view>

#include "base/error.hpp"
#include "base/sentences.hpp"
#include "kernels/alignment.hpp"
#include "ops/permute/permute_check.hpp"
#include "ops/permute/permute_fuse.hpp"
#include "ops/permute/permute_transpose.hpp"
#include "ops/placed.hpp"
#include "ops/plan.hpp"
#include "ops/staging.hpp"

namespace gpumem {
namespace {

// How src travels to the side where the work runs: unchanged, or, where gaps are more than half of it, packed on its own
// side first.
struct Travel {
  bool packed = false;
  PermuteAxes packing;  // from src to where it is packed
  PermuteAxes axes;     // from what arrives to dst
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

// Two axes are the transposes' own, whose table chooses among them.
void run(Backend& backend, NativeStream stream, const PermuteParams& params, const Decision& decision, Until until) {
  if (std::string_view(PermuteFamily::table()[decision.row].name) != "transpose") {
    return backend.launch(stream, Work<PermuteFamily>{params}, decision, until);
  }
  const TransposeParams transpose = transpose_of(params);
  backend.transpose(stream, transpose, select<TransposeFamily>(backend.props(), transpose, {}, {}), until);
}

struct Staged {
  std::optional<Scratch> packed;
  std::optional<Scratch> arrived;
};

void bring(Context& context, const PermuteParams& call, const Placement& placement, Staged& staged) {
  const Travel travel = travel_of(permutation_of(call));
  const void* from = call.src;
  if (travel.packed) {
    const bool on_host = placement.runs == Runs::cuda;
    Backend& there = context.running(on_host ? Runs::host : Runs::cuda);
    allocate_beside(context, staged.packed, on_host ? Runs::host : Runs::cuda, travel.bytes);
    if (on_host) context.device().await_order();
    PermuteParams packing{.src = call.src, .dst = staged.packed->get()};
    packing.axes = fuse(travel.packing, misalignment(packing.src), misalignment(packing.dst));
    run(there, on_host ? nullptr : context.own_stream(), packing,
        select<PermuteFamily>(there.props(), packing, {}, {}),  // a forced variant does not apply to the packing
        on_host ? Until::complete : Until::enqueued);
    from = staged.packed->get();
  }
  stage(context, staged.arrived, placement.runs, from, travel.bytes,
        travel.packed ? HostSide::pageable : placement.host_side);
}

int64_t gap_in(const PermuteAxes& axes, const int64_t* strides) noexcept {
  std::array<Repeat, kMaxPermuteRank> repeats{};
  const AxesInOrder order = in_order_of(strides, axes.rank);
  for (int32_t i = 0; i < axes.rank; ++i) repeats[i] = {axes.extent[order.axis[i]], strides[order.axis[i]]};
  return gap_of(1, std::span(repeats.data(), axes.rank), axes.element_bytes);
}

Placement place_permutation(Planner& planner, const PermuteParams& c, const Permutation& p, Until until) {
  const ByteRange src_range{"src", c.src, p.src_bytes, gap_in(p.axes, p.axes.src_stride)};
  const ByteRange dst_range{"dst", c.dst, p.dst_bytes, gap_in(p.axes, p.axes.dst_stride)};
  const Operand src = planner.look_up_here(src_range, Access::read);
  const Operand dst = planner.look_up_here(dst_range, Access::write);
  if (c.src == c.dst) {
    fail(GPUMEM_UNSUPPORTED, "dst is src (0x%llx); expected disjoint operands: there is no in-place permutation",
         number(c.src));
  }
  require_disjoint(dst_range, src_range);
  return place(planner.on_cuda(), src, dst, until);
}

}  // namespace

Plan<PermuteFamily> plan(Planner& planner, const PermuteParams& call, Until until) {
  const Permutation p = permutation_of(call);
  Plan<PermuteFamily> plan;
  if (p.empty) {
    plan.empty = true;
    return plan;
  }
  plan.placement = place_permutation(planner, call, p, until);
  const bool staged = plan.placement.stage_src;
  PermuteParams& params = plan.params;
  params.src = staged ? scratch_to_come() : call.src;
  params.dst = call.dst;
  params.axes = fuse(staged ? travel_of(p).axes : p.axes, misalignment(params.src), misalignment(params.dst));
  plan.decision = decide<PermuteFamily>(planner, plan.placement.runs, params);
  return plan;
}

void permute(Context& context, const PermuteParams& call, NativeStream stream, Until until) {
  constexpr const char* kWhat = "this permutation";
  CallPlanner planner(context, call, until);
  const Plan<PermuteFamily> planned = plan(planner, call, until);
  if (planned.empty) return;
  PermuteParams params = planned.params;
  Staged staged;
  if (planned.placement.stage_src) {  // the plain form
    require_not_capturing(context, stream, kWhat);
    bring(context, call, planned.placement, staged);
    params.src = staged.arrived->get();
  }
  run_placed(context, planned.placement, stream, until, kWhat,
             [params, decision = planned.decision](Backend& backend, NativeStream on, Until done) {
               run(backend, on, params, decision, done);
             });
}

}  // namespace gpumem
