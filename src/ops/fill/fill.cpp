#include "base/checked.hpp"
#include "base/sentences.hpp"
#include "ops/plan.hpp"

namespace gpumem {
namespace {

void repeat_pattern(FillParams& c, const unsigned char* p) noexcept {
  for (int64_t at = 0; at < 16; ++at) c.word[at] = p[at % c.pattern_bytes];
}

// The pattern is host memory. It is looked up only if it is not certainly readable.
void read_pattern(Context& context, FillParams& c) {
  require_element_size("pattern_bytes", c.pattern_bytes);
  if (!host_can_read(context, c.pattern, c.pattern_bytes) &&
      look_up_range(context, c.pattern, c.pattern_bytes, Access::read, "pattern").kind == GPUMEM_MEMORY_DEVICE) {
    fail(GPUMEM_INVALID_POINTER, "pattern (0x%llx) is device memory; expected host memory", number(c.pattern));
  }
  repeat_pattern(c, static_cast<const unsigned char*>(c.pattern));
}

}  // namespace

Plan<FillFamily> plan(Planner& planner, const FillParams& given, Completion) {
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
  const Spacing spacing = spacing_of(row_bytes, {{c.rows, c.pitch}}, 1);
  plan.placement = place(planner.on_cuda(), planner.look_up_here({"dst", c.dst, extent, spacing}, Access::write));
  if (c.pitch == row_bytes) {  // rows without padding are one row, because each is a whole number of patterns
    c.count *= c.rows;
    c.rows = 1;
  }
  if (c.rows == 1) plan.placement.overwrites(c.dst);
  plan.selection = decide<FillFamily>(planner, plan.placement.space, c);
  return plan;
}

void fill(Context& context, const FillParams& given, NativeStream stream, Completion completion) {
  constexpr unsigned char kUnread[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  FillParams call = given;
  if (call.pattern_bytes >= 1 && call.pattern_bytes <= 16) repeat_pattern(call, kUnread);
  note_call(call, completion);
  read_pattern(context, call);
  CallPlanner planner(context, call, completion);
  const Plan<FillFamily> planned = plan(planner, call, completion);
  if (planned.empty) return;
  launch_placed(context, planned, stream, completion, "this fill");
}

}  // namespace gpumem
