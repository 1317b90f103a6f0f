// Elementwise functions, comparisons, selections by a mask and scaled conversions, over views.
#include <algorithm>
#include <memory>
#include <optional>

#include "base/checked.hpp"
#include "base/sentences.hpp"
#include "ops/bounce_buffers.hpp"
#include "ops/map/names.hpp"
#include "ops/plan.hpp"
#include "ops/sources.hpp"
#include "ops/strides.hpp"

namespace gpumem {
namespace {

struct Names {
  const char* name;
  const char* bytes;
  const char* strides;
};
constexpr Names kX{"x", "bytes of x", "x_strides"};
constexpr Names kY{"y", "bytes of y", "y_strides"};
constexpr Names kMask{"mask", "bytes of mask", "mask_strides"};
constexpr Names kSourcesOf[4][kMaxMapSources] = {{kX, kY, {}},
                                                 {kX, kY, {}},
                                                 {kMask, kX, kY},
                                                 {{"src", "bytes of src", "src_strides"},
                                                  {"scale", "bytes of scale", "scale_strides"},
                                                  {"offset", "bytes of offset", "offset_strides"}}};
constexpr Names kZOf[4] = {
    {"z", "bytes of z", "z_strides"}, kMask, {"z", "bytes of z", "z_strides"}, {"dst", "bytes of dst", "dst_strides"}};
constexpr const char* kCallOf[4] = {"this elementwise function", "this comparison", "this selection",
                                    "this scaled conversion"};

const Names& name_of(const MapParams& c, int32_t k) noexcept { return kSourcesOf[static_cast<int>(c.kind)][k]; }
const Names& name_of_z(const MapParams& c) noexcept { return kZOf[static_cast<int>(c.kind)]; }
const char* call_name(const MapParams& c) noexcept { return kCallOf[static_cast<int>(c.kind)]; }

void check_function(const MapParams& c) {
  if (!is_map_op(c.op)) {
    fail(GPUMEM_INVALID_ARGUMENT, "op is %d; expected a GPUMEM_MAP_* value (0 to %d, or %d to %d)", c.op,
         GPUMEM_MAP_NOT, GPUMEM_MAP_ADD, kMapOps - 1);
  }
  require_dtype("dtype", c.dtype);
  if (map_takes(c.op, c.dtype)) return;
  fail(GPUMEM_UNSUPPORTED, "op is %d (%s) and dtype is %d (%s); expected %s", c.op, map_op_name(c.op), c.dtype,
       dtype_name(c.dtype), is_floating(c.dtype) ? "an integer type" : "a floating-point type");
}

void check_operation(const MapParams& c) {
  switch (c.kind) {
    case MapKind::map:
      return check_function(c);
    case MapKind::compare:
      if (compare_op_name(c.op) == nullptr) {
        fail(GPUMEM_INVALID_ARGUMENT, "op is %d; expected GPUMEM_LESS (%d) to GPUMEM_GREATER (%d)", c.op, GPUMEM_LESS,
             GPUMEM_GREATER);
      }
      return require_dtype("dtype", c.dtype);
    case MapKind::where:
      return require_element_size("element_bytes", c.element_bytes);
    case MapKind::convert_scaled:
      require_dtype("src_type", c.dtype);
      return require_dtype("dst_type", c.dst_type);
  }
}

void check(const MapParams& c) {
  check_operation(c);
  check_extents(c.rank, c.has_extents ? c.extents : nullptr, kMaxMapRank);
  for (int32_t k = 0; k < c.sources; ++k) check_strides(name_of(c, k).strides, c.x_strides[k], c.rank);
  check_strides(name_of_z(c).strides, c.z_strides, c.rank);
}

bool is_absent(const MapParams& c, int32_t k) noexcept {
  return c.kind == MapKind::convert_scaled && k > 0 && c.x[k] == nullptr;
}

bool is_z(const MapParams& c, int32_t k) noexcept {
  return c.x[k] == c.z && c.source_bytes(k) == c.z_bytes() &&
         same_places(c.rank, c.extents, c.x_strides[k], c.z_strides);
}

struct Planned : SourcedPlan<MapFamily> {
  ByteRange ranges[1 + kMaxMapSources] = {};  // z, then the sources in the order of Sources::add()
  size_t count = 0;
};

Planned plan_with_sources(Planner& planner, const MapParams& call, Completion completion) {
  check(call);
  Planned planned;
  Plan<MapFamily>& plan = planned.plan;
  MapParams& c = plan.params = call;
  plan.empty = std::find(call.extents, call.extents + call.rank, 0) != call.extents + call.rank;
  if (plan.empty) return planned;
  const Names& named = name_of_z(c);
  const StridedSide z_side{named.strides, named.bytes, c.rank, c.extents, call.z_strides};
  const ByteRange z = range_of_view(named.name, c.z, z_side, c.z_bytes());
  planned.ranges[planned.count++] = z;
  check_distinct(z_side);
  int64_t widest = 1;
  for (int32_t k = 0; k < c.sources; ++k) widest = std::max(widest, c.source_bytes(k));
  Sources& sources = planned.sources.emplace(planner, z, widest, completion);
  for (int32_t k = 0; k < c.sources; ++k) {
    if (is_absent(call, k)) {
      std::fill_n(c.x_strides[k], kMaxMapRank, 0);
      continue;
    }
    const Names& name = name_of(c, k);
    const StridedSide side{name.strides, name.bytes, c.rank, c.extents, call.x_strides[k]};
    const ByteRange x = range_of_view(name.name, call.x[k], side, c.source_bytes(k));
    c.x[k] = sources.add(x, is_z(call, k));
    planned.ranges[planned.count++] = x;
  }
  plan.placement = sources.place();
  // Padding of z has to keep its contents.
  if (!sources.read_z() && z.bytes == c.elements() * c.z_bytes()) plan.placement.overwrites(c.z);
  fuse_views(c.rank, c.extents, c.z_strides, std::span(c.x_strides).first(static_cast<size_t>(c.sources)));
  plan.selection = decide<MapFamily>(planner, plan.placement.space, c);
  return planned;
}

void run_now(Context& context, Planned& planned, NativeStream stream) {
  Plan<MapFamily>& plan = planned.plan;
  MapParams& c = plan.params;
  if (plan.empty) return;
  require_not_capturing(context, stream, call_name(c));
  Sources::Brought brought;
  planned.sources->bring(context, plan.placement.space, brought);
  size_t next = 0;
  for (int32_t k = 0; k < c.sources; ++k) {
    if (!is_absent(c, k)) c.x[k] = brought.at[next++];
  }
  if (c.kind != MapKind::map || !divides(c.op) || is_floating(c.dtype)) {
    return launch_placed(context, plan, stream, Completion::blocking, call_name(c));
  }
  const BlockingResult verdict(context, plan.placement.space);
  c.status = static_cast<gpumem_status*>(verdict.get());
  launch_placed(context, plan, stream, Completion::blocking, call_name(c));
  if (verdict.value<gpumem_status>() == GPUMEM_OK) return;
  fail(GPUMEM_OUT_OF_RANGE, "y has a 0, by which op %d (%s) can't divide; z is complete, and is 0 there", c.op,
       map_op_name(c.op));
}

void enqueue(Context& context, Planned& planned, NativeStream stream) {
  Plan<MapFamily>& plan = planned.plan;
  Output outputs[] = {status_of(plan.params.status)};
  check_outputs(context, outputs, std::span(planned.ranges, planned.count), Completion::asynchronous);
  if (plan.empty) return write_empty_values(context, outputs, stream, Completion::asynchronous);
  const char* const what = call_name(plan.params);
  launch_with_status(context, plan, outputs[0], stream, what, what);
}

}  // namespace

Plan<MapFamily> plan(Planner& planner, const MapParams& call, Completion completion) {
  return plan_with_sources(planner, call, completion).plan;
}

void map(Context& context, const MapParams& call, NativeStream stream, Completion completion) {
  CallPlanner planner(context, call, completion);
  Planned planned = plan_with_sources(planner, call, completion);
  completion == Completion::blocking ? run_now(context, planned, stream) : enqueue(context, planned, stream);
}

}  // namespace gpumem
