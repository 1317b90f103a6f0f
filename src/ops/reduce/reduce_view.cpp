// Reductions of views: the call of the arguments, and its axes.
#include <algorithm>

#include "kernels/nodes.hpp"
#include "ops/reduce/reduce.hpp"
#include "ops/strides.hpp"

namespace gpumem {
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

// If the order is free, the axes with the shortest strides come last.
ReduceParams fused(const ReduceParams& call) noexcept {
  if (call.view.rank == 0 || call.n == 0) return call;
  const ReduceView& from = call.view;
  const int64_t* const sides[] = {from.strides, from.y_strides};
  const FusedAxes axes =
      fused_axes(from.rank, from.extents, std::span(sides).first(takes_y(call.op) ? 2 : 1), !any_order(call));
  ReduceView view;
  for (int32_t i = axes.rank - 1; i >= 0; --i) {
    view.extents[view.rank] = axes.extent[i];
    view.strides[view.rank] = from.strides[axes.axis[i]];
    view.y_strides[view.rank++] = from.y_strides[axes.axis[i]];
  }
  ReduceParams c = call;
  c.view = view;
  if (view.rank > 1) return c;
  c.stride = view.rank == 0 ? 1 : view.strides[0];
  c.y_stride = view.rank == 0 ? 1 : view.y_strides[0];
  c.view = {};
  return c;
}

}  // namespace gpumem
