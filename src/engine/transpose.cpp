#include <optional>

#include "engine/checked.hpp"
#include "engine/plan.hpp"
#include "engine/scratch.hpp"
#include "engine/sentences.hpp"
#include "engine/streams.hpp"

namespace gpumem {
namespace {

void check(const TransposeCall& c) {
  const int64_t e = c.element_bytes;
  if (e != 1 && e != 2 && e != 4 && e != 8 && e != 16) {
    fail(GPUMEM_INVALID_ARGUMENT, "element_bytes is %lld; expected 1, 2, 4, 8 or 16", ll(e));
  }
  if (c.rows < 0) fail(GPUMEM_INVALID_ARGUMENT, "rows is %lld; expected 0 or more", ll(c.rows));
  if (c.cols < 0) fail(GPUMEM_INVALID_ARGUMENT, "cols is %lld; expected 0 or more", ll(c.cols));
  if (c.src_ld < c.cols) {
    fail(GPUMEM_INVALID_ARGUMENT, "src_ld is %lld; expected at least cols = %lld", ll(c.src_ld), ll(c.cols));
  }
  if (c.dst_ld < c.rows) {
    fail(GPUMEM_INVALID_ARGUMENT, "dst_ld is %lld; expected at least rows = %lld", ll(c.dst_ld), ll(c.rows));
  }
}

// Bytes from the first element to the last one of rows rows of cols elements.
int64_t extent_bytes(int64_t rows, int64_t cols, int64_t ld, int64_t element_bytes, const char* what) {
  return checked_mul(checked_add(checked_mul(rows - 1, ld, what), cols, what), element_bytes, what);
}

// The leading dimension of a single row is never used: the tight one stands for it, so that every product of a leading
// dimension and an element's size stays inside an extent that has been checked.
TransposeCall normal(TransposeCall c) noexcept {
  if (c.rows <= 1) c.src_ld = c.cols;
  if (c.cols <= 1) c.dst_ld = c.rows;
  return c;
}

// Whether the two are blocks of columns of one matrix: the same pitch, and no column in common.
bool interleaved(const TransposeCall& c) noexcept {
  const int64_t e = c.element_bytes;
  return c.src_ld == c.dst_ld && disjoint_columns({c.src, c.cols * e}, {c.dst, c.rows * e}, c.src_ld * e);
}

// Copies src next to the work, without the gaps between its rows. The driver takes no memory that is registered in part, so
// the host gathers such a matrix first.
void stage(Context& context, const TransposeCall& c, bool mixed, void* tight) {
  const auto row_bytes = static_cast<size_t>(c.cols * c.element_bytes);
  const auto rows = static_cast<size_t>(c.rows);
  const Copy2dArgs args{tight, row_bytes, c.src, static_cast<size_t>(c.src_ld * c.element_bytes), row_bytes, rows};
  if (!mixed) return context.device().copy_2d(context.own_stream(), args, Until::complete);
  const Scratch gathered(context.host(), GPUMEM_MEMORY_PAGEABLE, row_bytes * rows);
  context.device().await_order();
  Copy2dArgs gather = args;
  gather.dst = gathered.get();
  context.host().copy_2d(nullptr, gather, Until::complete);
  context.device().copy(context.own_stream(), tight, gathered.get(), row_bytes * rows, Until::complete);
}

}  // namespace

Plan<TransposeFamily> plan(Context& context, const TransposeCall& given) {
  check(given);
  Plan<TransposeFamily> plan;
  const TransposeCall c = normal(given);
  if (c.rows == 0 || c.cols == 0) {
    plan.empty = true;
    return plan;
  }
  const int64_t src_bytes = extent_bytes(c.rows, c.cols, c.src_ld, c.element_bytes, "bytes of src");
  const int64_t dst_bytes = extent_bytes(c.cols, c.rows, c.dst_ld, c.element_bytes, "bytes of dst");
  const Operand src = look_up_range(context, c.src, src_bytes, Access::read, "src");
  const Operand dst = look_up_range(context, c.dst, dst_bytes, Access::write, "dst");
  require_same_device(context, src, "src");
  require_same_device(context, dst, "dst");
  if (c.src == c.dst) {
    fail(GPUMEM_UNSUPPORTED, "dst is src (0x%llx); expected disjoint operands: there is no in-place transpose yet",
         number(c.src));
  }
  if (!interleaved(c)) require_disjoint({"dst", c.dst, dst_bytes}, {"src", c.src, src_bytes});
  plan.placement = place(context.on_cuda(), src, dst);
  plan.placement.src_mixed = src.mixed;
  TransposeProblem& p = plan.problem;
  p = {plan.placement.runs, c.element_bytes,    c.rows, c.cols, c.src_ld, c.dst_ld,
       misalignment(c.src), misalignment(c.dst)};
  if (plan.placement.stage_src) {
    p.src_ld = c.cols;  // staged without the gaps between rows, at the start of an allocation
    p.src_misalignment = 0;
  }
  plan.decision = decide<TransposeFamily>(context, p);
  return plan;
}

void transpose(Context& context, const TransposeCall& given) {
  const Plan<TransposeFamily> planned = plan(context, given);
  const TransposeCall call = normal(given);
  if (planned.empty) return;
  require_not_capturing(context, context.own_stream(), "gpumem_transpose");
  const Runs runs = planned.placement.runs;
  Backend& backend = context.running(runs);
  const bool beside = context.on_cuda() && runs == Runs::host;

  std::optional<Scratch> staged;
  TransposeArgs args{planned.decision.row,
                     planned.decision.shape,
                     call.element_bytes,
                     call.rows,
                     call.cols,
                     call.src,
                     planned.problem.src_ld,
                     call.dst,
                     planned.problem.dst_ld};
  if (planned.placement.stage_src) {
    const auto kind = runs == Runs::cuda ? GPUMEM_MEMORY_DEVICE : GPUMEM_MEMORY_PAGEABLE;
    staged.emplace(backend, kind, static_cast<size_t>(call.rows * call.cols * call.element_bytes));
    stage(context, call, planned.placement.src_mixed, staged->get());
    args.src = staged->get();
  } else if (beside) {
    context.device().await_order();
  }
  backend.transpose(beside ? nullptr : context.own_stream(), args, Until::complete);
}

}  // namespace gpumem
