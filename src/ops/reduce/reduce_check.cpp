#include <algorithm>

#include "base/checked.hpp"
#include "base/names.hpp"
#include "kernels/nodes.hpp"
#include "ops/operations.hpp"
#include "ops/reduce/reduce.hpp"
#include "ops/strides.hpp"

namespace gpumem {
namespace {

void check_dtype(gpumem_dtype dtype) {
  if (!is_dtype(dtype)) {
    fail(GPUMEM_INVALID_ARGUMENT, "dtype is %d; expected a gpumem_dtype (0 to %d)", dtype, kDtypes - 1);
  }
}

void check_pair(gpumem_dtype dtype, gpumem_reduce_op op) {
  switch (operation_traits(op).types) {
    case ValidTypes::all:
      return;
    case ValidTypes::floats:
      if (is_floating(dtype)) return;
      fail(GPUMEM_UNSUPPORTED, "dtype is %d (%s); expected a floating-point type (%d to %d), which has a %s", dtype,
           dtype_name(dtype), GPUMEM_F16, GPUMEM_F64, op_name(op));
    case ValidTypes::f64:
      if (dtype == GPUMEM_F64) return;
      fail(GPUMEM_UNSUPPORTED, "dtype is %d (%s); expected GPUMEM_F64 (%d), the one type with a %s", dtype,
           dtype_name(dtype), GPUMEM_F64, op_name(op));
    case ValidTypes::f32_f64:
      if (dtype == GPUMEM_F32 || dtype == GPUMEM_F64) return;
      fail(GPUMEM_UNSUPPORTED, "dtype is %d (%s); expected GPUMEM_F32 (%d) or GPUMEM_F64 (%d), which have a %s", dtype,
           dtype_name(dtype), GPUMEM_F32, GPUMEM_F64, op_name(op));
  }
}

void check_terms(const ReduceParams& c) {
  if (node_kind(c.dtype, c.op) != NodeKind::order_free || c.n <= kMostOrderFreeTerms) return;
  fail(GPUMEM_UNSUPPORTED, "n or extents: the %s has %lld elements; expected at most 2^42 - 1", op_name(c.op), ll(c.n));
}

void check_view(const ReduceParams& c) {
  const ReduceView& view = c.view;
  check_extents(view.rank, view.extents, kMaxReduceRank);
  check_strides("x_strides", view.strides, view.rank);
  if (takes_y(c.op)) check_strides("y_strides", view.y_strides, view.rank);
  static_cast<void>(checked_product(view.extents, view.rank));
  check_terms(c);
}

}  // namespace

// Operations with functions of their own are accepted only in operation descriptors.
void require_general(gpumem_reduce_op op) {
  if (is_operation(op) && !operation_traits(op).own_function) return;
  fail(GPUMEM_INVALID_ARGUMENT,
       "op is %d; expected GPUMEM_SUM to GPUMEM_SUM_COMPENSATED (%d to %d), GPUMEM_PROD to GPUMEM_MAX_VALID (%d to "
       "%d), GPUMEM_SUM_ORDER_FREE (%d) or GPUMEM_NRM2_ORDER_FREE (%d)",
       op, GPUMEM_SUM, GPUMEM_SUM_COMPENSATED, GPUMEM_PROD, GPUMEM_MAX_VALID, GPUMEM_SUM_ORDER_FREE,
       GPUMEM_NRM2_ORDER_FREE);
}

void require_lines(gpumem_reduce_op op) {
  if (operation_traits(op).accumulators.doubles != NodeKind::order_free) return;
  fail(
      GPUMEM_UNSUPPORTED,
      "op is %d, an %s; expected another operation for many lines, because order-free ones reduce one sequence or view",
      op, op_name(op));
}

gpumem_reduce_op search_for(gpumem_reduce_op op) {
  if (op == GPUMEM_MIN) return GPUMEM_ARG_MIN;
  if (op == GPUMEM_MAX) return GPUMEM_ARG_MAX;
  if (op == GPUMEM_MAX_ABS) return GPUMEM_ARG_MAX_ABS;
  if (op == GPUMEM_MIN_VALID) return GPUMEM_ARG_MIN_VALID;
  if (op == GPUMEM_MAX_VALID) return GPUMEM_ARG_MAX_VALID;
  fail(GPUMEM_INVALID_ARGUMENT,
       "op is %d; expected GPUMEM_MIN (%d), GPUMEM_MAX (%d), GPUMEM_MAX_ABS (%d), GPUMEM_MIN_VALID (%d) or "
       "GPUMEM_MAX_VALID (%d)",
       op, GPUMEM_MIN, GPUMEM_MAX, GPUMEM_MAX_ABS, GPUMEM_MIN_VALID, GPUMEM_MAX_VALID);
}

void check(const ReduceParams& c) {
  check_dtype(c.dtype);
  if (!is_operation(c.op)) {
    fail(GPUMEM_INVALID_ARGUMENT, "op is %d; expected a gpumem_reduce_op (%d to %d, %d to %d)", c.op, GPUMEM_SUM,
         GPUMEM_SUM_COMPENSATED, GPUMEM_ARG_MIN, kLastOperation);
  }
  check_pair(c.dtype, c.op);
  if (c.view.rank != 0) return check_view(c);
  require_at_least("n", c.n, 0);
  require_at_least(takes_y(c.op) ? "x_stride" : "stride", c.stride, 1);
  if (takes_y(c.op)) require_at_least("y_stride", c.y_stride, 1);
  check_terms(c);
}

void check(const ReduceAxisParams& c) {
  check_dtype(c.dtype);
  if (!is_search(c.op)) require_general(c.op);
  require_lines(c.op);
  check_pair(c.dtype, c.op);
  if (c.axis != GPUMEM_AXIS_ROWS && c.axis != GPUMEM_AXIS_COLS) {
    fail(GPUMEM_INVALID_ARGUMENT, "axis is %d; expected GPUMEM_AXIS_ROWS (%d) or GPUMEM_AXIS_COLS (%d)", c.axis,
         GPUMEM_AXIS_ROWS, GPUMEM_AXIS_COLS);
  }
  require_at_least("rows", c.rows, 0);
  require_at_least("cols", c.cols, 0);
  require_at_least("ld", c.ld, "cols", c.cols);
  require_at_least("batches", c.batches, 0);
  require_at_least("batch_stride", c.batch_stride, 0);
}

void check(const ReduceSegmentsParams& c) {
  check_dtype(c.dtype);
  require_general(c.op);
  require_lines(c.op);
  check_pair(c.dtype, c.op);
  require_at_least("n", c.n, 0);
  require_at_least("segments", c.segments, 0);
}

int64_t checked_product(const int64_t* extents, int32_t rank) {
  if (std::find(extents, extents + rank, 0) != extents + rank) return 0;
  int64_t n = 1;
  for (int32_t d = 0; d < rank; ++d) n = checked_mul(n, extents[d], "product of extents");
  return n;
}

int64_t strided_bytes(gpumem_dtype dtype, int64_t n, int64_t stride, const char* argument) {
  return checked_mul(checked_extent(n, stride, 1, argument), element_bytes(dtype), argument);
}

}  // namespace gpumem
