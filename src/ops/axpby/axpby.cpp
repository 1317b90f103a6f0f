// z = alpha x + beta y. Factors are looked at as bits alone: the caller's floating-point environment may make zeros of
// subnormals, or trap.
#include <optional>

#include "base/checked.hpp"
#include "base/names.hpp"
#include "kernels/elements.hpp"
#include "ops/outputs.hpp"
#include "ops/placed.hpp"
#include "ops/staging.hpp"

namespace gpumem {
namespace {

// An operand that is read, or not.
struct Source {
  bool read = false;
  bool staged = false;  // lies on the other side than z
  Operand lies{};
  ByteRange range{};
};

struct Planned {
  Plan<AxpbyFamily> plan;
  Source x;
  Source y;
};

void check(const AxpbyParams& c) {
  if (!is_dtype(c.dtype)) {
    fail(GPUMEM_INVALID_ARGUMENT, "dtype is %d; expected GPUMEM_F32 (%d) or GPUMEM_F64 (%d)", c.dtype, GPUMEM_F32,
         GPUMEM_F64);
  }
  if (c.dtype != GPUMEM_F32 && c.dtype != GPUMEM_F64) {
    fail(GPUMEM_UNSUPPORTED, "dtype is %d (%s); expected GPUMEM_F32 (%d) or GPUMEM_F64 (%d)", c.dtype,
         dtype_name(c.dtype), GPUMEM_F32, GPUMEM_F64);
  }
  require_at_least("n", c.n, 0);
}

// z has been looked up, and has as many bytes.
Source look_up_source(Planner& planner, const ByteRange& range, const ByteRange& z, const Operand& z_lies) {
  const Operand operand = planner.look_up_here(range, Access::read);
  if (range.p != z.p) require_disjoint(z, range);
  const bool staged = planner.on_cuda() && operand.on_host() != z_lies.on_host();
  return {true, staged, operand, range};
}

void require_one_side(const Operand& z, const Source& source) {
  if (source.staged) fail_on_two_sides(source.range.argument, source.lies, "z", z);
}

// As the table is to see it.
const void* place_of(const Source& source) noexcept {
  if (!source.read) return nullptr;
  return source.staged ? scratch_to_come() : source.range.p;
}

Planned plan_with_sources(Planner& planner, const AxpbyParams& c, Until until) {
  check(c);
  Planned planned;
  Plan<AxpbyFamily>& plan = planned.plan;
  plan.empty = c.n == 0;
  if (plan.empty) return planned;
  const int64_t bytes = checked_mul(c.n, element_bytes(c.dtype), "bytes of z");
  const ByteRange z{"z", c.z, bytes};
  const Operand z_lies = planner.look_up_here(z, Access::write);
  if (!is_zero(c.dtype, c.alpha)) planned.x = look_up_source(planner, {"x", c.x, bytes}, z, z_lies);
  if (!is_zero(c.dtype, c.beta)) planned.y = look_up_source(planner, {"y", c.y, bytes}, z, z_lies);
  if (until == Until::enqueued) {
    require_one_side(z_lies, planned.x);
    require_one_side(z_lies, planned.y);
  }
  plan.placement = place_beside_z(planner.on_cuda(), z_lies, planned.x.staged || planned.y.staged);
  for (const Source* source : {&planned.x, &planned.y}) {
    if (source->read && source->range.p != c.z) plan.placement.uses(source->lies);
  }
  if (planned.x.range.p != c.z && planned.y.range.p != c.z) plan.placement.overwrites(c.z);
  plan.params = c;
  plan.params.x = place_of(planned.x);
  plan.params.y = place_of(planned.y);
  plan.decision = decide<AxpbyFamily>(planner, plan.placement.runs, plan.params);
  return planned;
}

// Brings a staged operand next to z.
void bring(Context& context, std::optional<Scratch>& room, Runs runs, const Source& source, const void*& p) {
  if (!source.staged) return;
  stage(context, room, runs, source.range.p, source.range.bytes, source.lies.host_side());
  p = room->get();
}

}  // namespace

Plan<AxpbyFamily> plan(Planner& planner, const AxpbyParams& call, Until until) {
  return plan_with_sources(planner, call, until).plan;
}

void axpby(Context& context, const AxpbyParams& call, NativeStream stream, Until until) {
  CallPlanner planner(context, call, until);
  Planned planned = plan_with_sources(planner, call, until);
  if (planned.plan.empty) return;
  if (until == Until::complete) require_not_capturing(context, stream, "a blocking axpby");
  const Runs runs = planned.plan.placement.runs;
  std::optional<Scratch> room_of_x;
  std::optional<Scratch> room_of_y;
  AxpbyParams& params = planned.plan.params;
  bring(context, room_of_x, runs, planned.x, params.x);
  if (planned.x.read && planned.y.read && planned.x.range.p == planned.y.range.p) {
    params.y = params.x;
  } else {
    bring(context, room_of_y, runs, planned.y, params.y);
  }
  launch_placed(context, planned.plan, stream, until, "this axpby");
}

}  // namespace gpumem
