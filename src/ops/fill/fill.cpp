#include <cstring>

#include "base/checked.hpp"
#include "base/sentences.hpp"
#include "kernels/limits.hpp"
#include "ops/placed.hpp"
#include "ops/plan.hpp"

namespace gpumem {
namespace {

bool every_byte_equal(const unsigned char* pattern, int64_t bytes) noexcept {
  for (int64_t i = 1; i < bytes; ++i) {
    if (pattern[i] != pattern[0]) return false;
  }
  return true;
}

FillArgs fill_args(const Plan<FillFamily>& planned, const FillParams& call) noexcept {
  FillArgs args{planned.decision.row,
                planned.decision.shape,
                call.dst,
                planned.problem.bytes,
                {},
                planned.problem.rows,
                call.pitch};
  for (int64_t at = 0; at < 16; at += call.pattern_bytes) {
    std::memcpy(args.word + at, call.pattern, static_cast<size_t>(call.pattern_bytes));
  }
  return args;
}

}  // namespace

Plan<FillFamily> plan(Context& context, const FillParams& c) {
  const int64_t e = c.pattern_bytes;
  if (e != 1 && e != 2 && e != 4 && e != 8 && e != 16) {
    fail(GPUMEM_INVALID_ARGUMENT, "pattern_bytes is %lld; expected 1, 2, 4, 8 or 16", ll(e));
  }
  const char* count = c.rank == 2 ? "cols" : "count";
  if (c.count < 0) fail(GPUMEM_INVALID_ARGUMENT, "%s is %lld; expected 0 or more", count, ll(c.count));
  if (c.rows < 0) fail(GPUMEM_INVALID_ARGUMENT, "rows is %lld; expected 0 or more", ll(c.rows));
  Plan<FillFamily> plan;
  if (c.count == 0 || c.rows == 0) {
    plan.empty = true;
    return plan;
  }
  const char* what = c.rank == 2 ? "cols x pattern_bytes" : "count x pattern_bytes";
  const int64_t row_bytes = checked_mul(c.count, e, what);
  if (c.rows > 1 && c.pitch < row_bytes) {
    fail(GPUMEM_INVALID_ARGUMENT, "dst_pitch_bytes is %lld; expected at least cols x pattern_bytes = %lld", ll(c.pitch),
         ll(row_bytes));
  }
  const int64_t extent = c.rows == 1 ? row_bytes : checked_add(checked_mul(c.rows - 1, c.pitch, what), row_bytes, what);
  const Operand dst =
      look_up_range(context, c.dst, extent, Access::write, "dst", gap_of(row_bytes, {{c.rows, c.pitch}}, 1));
  require_same_device(context, dst, "dst");
  plan.placement = place(context.on_cuda(), dst);
  const bool uniform =
      c.pattern != nullptr ? every_byte_equal(static_cast<const unsigned char*>(c.pattern), e) : e == 1;
  // Rows without gaps are one row: each is a whole number of patterns.
  const bool one_row = c.rows == 1 || c.pitch == row_bytes;
  if (one_row) plan.placement.overwrites(c.dst);
  plan.problem = {plan.placement.runs, e, one_row ? extent : row_bytes, uniform};
  if (!one_row) {
    plan.problem.rows = c.rows;
    plan.problem.access = widest_access(reinterpret_cast<uintptr_t>(c.dst) | static_cast<uint64_t>(c.pitch));
  }
  plan.decision = decide<FillFamily>(context, plan.problem);
  return plan;
}

void fill(Context& context, const FillParams& call, NativeStream stream, Until until) {
  if (call.pattern == nullptr) {
    fail(GPUMEM_INVALID_ARGUMENT, "pattern is NULL; expected pattern_bytes bytes of host memory");
  }
  const Plan<FillFamily> planned = plan(context, call);
  if (planned.empty) return;
  const FillArgs args = fill_args(planned, call);
  run_placed(context, planned.placement, stream, until, "this fill",
             [args](Backend& backend, NativeStream on, Until done) { backend.fill(on, args, done); });
}

}  // namespace gpumem
