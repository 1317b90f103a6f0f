// Reductions of views: the call of the arguments, and its axes.
#include <algorithm>

#include "kernels/nodes.hpp"
#include "ops/reduce/reduce.hpp"
#include "ops/strides.hpp"

namespace gpumem {
namespace {

// Axes of extent 1 are dropped. If the order is free, the axes with the shortest strides come last.
ReduceView without_single(const ReduceParams& c) noexcept {
  const ReduceView& from = c.view;
  const AxesInOrder by_stride = in_order_of(from.strides, from.rank);
  ReduceView view;
  for (int32_t i = 0; i < from.rank; ++i) {
    const int32_t d = any_order(c) ? by_stride.axis[from.rank - 1 - i] : i;
    if (from.extents[d] == 1) continue;
    view.extents[view.rank] = from.extents[d];
    view.strides[view.rank] = from.strides[d];
    view.y_strides[view.rank++] = from.y_strides[d];
  }
  return view;
}

// Whether axis d of the view continues axis d + 1.
bool continues(const int64_t* strides, const ReduceView& view, int32_t d) noexcept {
  int64_t end = 0;
  return !__builtin_mul_overflow(view.extents[d + 1], strides[d + 1], &end) && strides[d] == end;
}

}  // namespace

bool any_order(const ReduceParams& c) noexcept {
  const NodeKind kind = node_kind(c.dtype, c.op);
  return !is_ordered(kind) && kind != NodeKind::arg;
}

ReduceParams with_view(ReduceParams call, const ViewArguments& given) noexcept {
  if (given.rank < 0 || given.rank > kMaxReduceRank || (given.rank > 0 && given.extents == nullptr)) return call;
  ReduceView& view = call.view;
  view.rank = given.rank;
  std::copy_n(given.extents, view.rank, view.extents);
  read_strides(given.x_strides, view.extents, view.rank, view.strides);
  read_strides(given.y_strides, view.extents, view.rank, view.y_strides);
  call.n = product_of(view.extents, view.rank);
  return call;
}

void check(const ViewArguments& view) {
  check_extents(view.rank, view.extents, kMaxReduceRank);
  check_strides("x_strides", view.x_strides, view.rank);
  check_strides("y_strides", view.y_strides, view.rank);
}

ReduceParams fused(const ReduceParams& call) noexcept {
  if (call.view.rank == 0 || call.n == 0) return call;
  ReduceParams c = call;
  ReduceView& view = c.view = without_single(call);
  const bool dot = takes_y(c.op);
  for (int32_t d = view.rank - 2; d >= 0; --d) {
    if (!continues(view.strides, view, d) || (dot && !continues(view.y_strides, view, d))) continue;
    view.extents[d] *= view.extents[d + 1];
    view.strides[d] = view.strides[d + 1];
    view.y_strides[d] = view.y_strides[d + 1];
    const auto drop = [&](int64_t* of) { std::copy(of + d + 2, of + view.rank, of + d + 1); };
    drop(view.extents);
    drop(view.strides);
    drop(view.y_strides);
    --view.rank;
  }
  if (view.rank > 1) return c;
  c.stride = view.rank == 0 ? 1 : view.strides[0];
  c.y_stride = view.rank == 0 ? 1 : view.y_strides[0];
  view = {};
  return c;
}

}  // namespace gpumem
