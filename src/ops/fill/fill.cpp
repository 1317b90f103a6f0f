#include <cstring>

#include "base/checked.hpp"
#include "base/sentences.hpp"
#include "ops/placed.hpp"

namespace gpumem {
namespace {

// The words of a pattern that is yet to be checked. Where there is none, its bytes differ.
void read_pattern(FillParams& c) noexcept {
  if (c.pattern_bytes < 1 || c.pattern_bytes > 16) return;
  for (int64_t at = 0; at < 16; ++at) {
    const int64_t i = at % c.pattern_bytes;
    c.word[at] = static_cast<unsigned char>(i);
    if (c.pattern != nullptr) c.word[at] = static_cast<const unsigned char*>(c.pattern)[i];
  }
}

}  // namespace

Plan<FillFamily> plan(Planner& planner, const FillParams& given, Until) {
  Plan<FillFamily> plan;
  FillParams& c = plan.params = given;
  require_element_size("pattern_bytes", c.pattern_bytes);
  require_at_least(c.rank == 2 ? "cols" : "count", c.count, 0);
  require_at_least("rows", c.rows, 0);
  plan.empty = c.count == 0 || c.rows == 0;
  if (plan.empty) return plan;
  const char* what = c.rank == 2 ? "cols x pattern_bytes" : "count x pattern_bytes";
  const int64_t row_bytes = checked_mul(c.count, c.pattern_bytes, what);
  if (c.rows > 1) require_at_least("dst_pitch_bytes", c.pitch, "cols x pattern_bytes", row_bytes);
  const int64_t extent = c.rows == 1 ? row_bytes : checked_extent(c.rows, c.pitch, row_bytes, what);
  const int64_t gap = gap_of(row_bytes, {{c.rows, c.pitch}}, 1);
  plan.placement = place(planner.on_cuda(), planner.look_up_here({"dst", c.dst, extent, gap}, Access::write));
  if (c.pitch == row_bytes) {  // rows without gaps are one row: each is a whole number of patterns
    c.count *= c.rows;
    c.rows = 1;
  }
  if (c.rows == 1) plan.placement.overwrites(c.dst);
  plan.decision = decide<FillFamily>(planner, plan.placement.runs, c);
  return plan;
}

void fill(Context& context, const FillParams& given, NativeStream stream, Until until) {
  FillParams call = given;
  read_pattern(call);
  CallPlanner planner(context, call, until);
  if (call.pattern == nullptr) {
    fail(GPUMEM_INVALID_ARGUMENT, "pattern is NULL; expected pattern_bytes bytes of host memory");
  }
  const Plan<FillFamily> planned = plan(planner, call, until);
  if (planned.empty) return;
  launch_placed(context, planned, stream, until, "this fill");
}

}  // namespace gpumem
