// Reductions of views, of sequences with any stride, and of lines along several axes.
// Moves: reads each element once, writes one value per line.
// Access: a warp takes a leaf (1024 elements) at a time, every 32nd element per lane, with several loads in flight.
//         Lanes step along the axes without divisions, and with one pitch along a single axis. Leaves at the end of
//         several axes, leaves that cross from one run of the last three axes to the next, and misaligned elements are
//         read one by one.
// Shapes: any view. Neighbouring elements of the last axis should be contiguous.
#include "kernels/alignment.hpp"
#include "kernels/division.hpp"
#include "kernels/reduce/terms.cuh"

namespace gpumem::kernels {
namespace {

constexpr int kStep = 32;  // elements between neighbouring elements of a lane
constexpr int kElementsOfLane = kLeafTerms / kStep;
constexpr int kPositions = kLeafLanes / kStep;  // of a row of the reproducible order, per lane
// A lane counts down to the end of an axis in 32 bits. A leaf is shorter than this, so larger extents need no exact count.
constexpr int64_t kLongAxis = int64_t{1} << 30;

// Offsets are in bytes. Axis 0 is the last one of the view.
struct ViewOperand {
  const char* data;
  int64_t stride[kMaxReduceRank];
  int64_t step;     // to the element kStep further on, if no axis ends before it
  int64_t next[2];  // from the end of axes 0 and 1 to the next element
};

struct ViewLaunch {
  ViewOperand x;
  ViewOperand y;  // dot: the second operand
  int64_t extent[kMaxReduceRank];
  int64_t n;
  int64_t inner;  // elements of the last three axes
  int64_t tile;   // leaves per block
  int32_t rank;
  int32_t step[2];  // the part of kStep along axes 0 and 1
  bool aligned;
  bool rounded;  // as in ReduceLaunch
  gpumem_dtype dtype;
  gpumem_reduce_op op;
  uint32_t ticket;
  ReduceSlot* slot;
  void* result;
  gpumem_status* status;
  int64_t* index;
  void* nodes;
  unsigned* counter;
  // Of many lines, which have blockIdx.x as their number:
  gpumem_status* lines_status;  // nullptr: a single line
  int32_t kept;
  int64_t kept_extent[kMaxReduceRank];  // the fastest first
  int64_t kept_stride[kMaxReduceRank];  // bytes
};

template <int kSize>
struct ArgElement {
  using Node = std::conditional_t<kSize == 8, ArgNode, SmallArgNode>;
  using Partial = Node;
  using Key = std::conditional_t<kSize == 8, uint64_t, uint32_t>;
  static constexpr int kBytes = kSize;
  gpumem_dtype dtype;
  gpumem_reduce_op op;
  __device__ ArgElement(gpumem_dtype d, gpumem_reduce_op o) : dtype(d), op(o) {}
  __device__ __forceinline__ void enter(Node& node, UnsignedOf<kSize> bits, int64_t index) const {
    const auto rank = for_type<kSize>(
        dtype, [&](gpumem_dtype type) { return static_cast<Key>(rank_of(type, op, key_of(type, bits))); });
    node = combine(node, Node(rank, index));
  }
};

template <gpumem_dtype kType>
struct DotElement {
  using Node = SumNode;
  using Partial = Node;
  static constexpr int kBytes = element_bytes(kType);
  __device__ DotElement(gpumem_dtype, gpumem_reduce_op) {}
  __device__ __forceinline__ void enter(Node& node, UnsignedOf<kBytes> x, UnsignedOf<kBytes> y) const {
    node.sum += to_double<kType>(x) * to_double<kType>(y);
  }
};

struct NormElement {
  using Node = NormNode;
  using Partial = Node;
  static constexpr int kBytes = 8;
  __device__ NormElement(gpumem_dtype, gpumem_reduce_op) {}
  __device__ __forceinline__ void enter(Node& node, unsigned long long bits) const {
    node = combine(node, norm_term(to_double<GPUMEM_F64>(bits)));
  }
};

template <class Term>
constexpr bool is_dot() {
  return std::is_same_v<Term, DotElement<GPUMEM_F32>> || std::is_same_v<Term, DotElement<GPUMEM_F64>>;
}
template <class Term>
constexpr bool is_arg() {
  return std::is_same_v<Term, ArgElement<Term::kBytes>>;
}

template <class Term>
__device__ __forceinline__ void enter(const Term& term, typename Term::Partial& partial, BitsOf<Term> x, BitsOf<Term> y,
                                      int64_t index) {
  if constexpr (is_dot<Term>()) {
    term.enter(partial, x, y);
  } else if constexpr (is_arg<Term>()) {
    term.enter(partial, x, index);
  } else {
    term.enter(partial, x);
  }
}

// An element of the view, and how many steps along axes 0 and 1 stay before their ends.
struct Place {
  int64_t x;
  int64_t y;
  int32_t left[2];
};

template <bool kTwo>
__device__ __forceinline__ Place place_of(const ViewLaunch& view, int64_t line, int64_t index) {
  Place place{line, 0, {0, 0}};
#pragma unroll 1
  for (int d = 0; d < view.rank; ++d) {
    const Quotient q(index, view.extent[d]);
    index = q.quotient;
    const int64_t left = view.extent[d] - q.rest;
    const auto counted = static_cast<int32_t>(left < kLongAxis ? left : kLongAxis);
    if (d == 0) place.left[0] = counted;
    if (d == 1) place.left[1] = counted;
    place.x += q.rest * view.x.stride[d];
    if (kTwo) place.y += q.rest * view.y.stride[d];
  }
  return place;
}

// Steps along a leaf that stays in one run of the last three axes.
template <bool kTwo>
class Walk {
 public:
  __device__ __forceinline__ Walk(const ViewLaunch& view, int64_t line, int64_t index)
      : view_(view),
        place_(place_of<kTwo>(view, line, index)),
        extent_{static_cast<int32_t>(view.extent[0] < kLongAxis ? view.extent[0] : kLongAxis),
                static_cast<int32_t>(view.extent[1] < kLongAxis ? view.extent[1] : kLongAxis)} {}

  __device__ __forceinline__ const char* x() const { return view_.x.data + place_.x; }
  __device__ __forceinline__ const char* y() const { return view_.y.data + place_.y; }
  __device__ __forceinline__ void step() {
    move(view_.x.step, view_.y.step);
    place_.left[0] -= view_.step[0];
    place_.left[1] -= view_.step[1];
    if (place_.left[0] <= 0) {
      place_.left[0] += extent_[0];
      place_.left[1] -= 1;
      move(view_.x.next[0], view_.y.next[0]);
    }
    if (place_.left[1] <= 0) {
      place_.left[1] += extent_[1];
      move(view_.x.next[1], view_.y.next[1]);
    }
  }

 private:
  __device__ __forceinline__ void move(int64_t in_x, int64_t in_y) {
    place_.x += in_x;
    if (kTwo) place_.y += in_y;
  }

  const ViewLaunch& view_;
  Place place_;
  int32_t extent_[2];
};

template <class Bits>
__device__ __noinline__ Bits any_element(const ViewLaunch& view, const ViewOperand& operand, int64_t line,
                                         int64_t index) {
  const char* p = operand.data + line;
#pragma unroll 1
  for (int d = 0; d + 1 < view.rank; ++d) {
    const Quotient q(index, view.extent[d]);
    index = q.quotient;
    p += q.rest * operand.stride[d];
  }
  p += index * operand.stride[view.rank - 1];
  if (view.aligned) return *reinterpret_cast<const Bits*>(p);
  Bits bits = 0;
#pragma unroll 1
  for (size_t i = 0; i < sizeof bits; ++i)
    bits |= static_cast<Bits>(static_cast<Bits>(static_cast<uint8_t>(p[i])) << (8 * i));
  return bits;
}

// Elements `first`, `first` + 32, ... of a leaf, one by one. Not inlined, because it needs other registers.
template <class Term>
__device__ __noinline__ typename Term::Partial part_of_any_leaf(const ViewLaunch& view, int64_t line, int64_t first) {
  using Partial = typename Term::Partial;
  using Bits = BitsOf<Term>;
  const Term term(view.dtype, view.op);
  Partial a[kPositions];
#pragma unroll 1
  for (int k = 0; k < kElementsOfLane; k += kPositions) {
#pragma unroll
    for (int j = 0; j < kPositions; ++j) {
      const int64_t i = first + (k + j) * kStep;
      if (i >= view.n) continue;
      const Bits x = any_element<Bits>(view, view.x, line, i);
      enter(term, a[j], x, is_dot<Term>() ? any_element<Bits>(view, view.y, 0, i) : Bits{}, i);
    }
  }
  return fold_own<Partial>(a);
}

// The same for a leaf that a Walk can take.
template <class Term>
__device__ __forceinline__ typename Term::Partial part_of_leaf(const ViewLaunch& view, int64_t line, int64_t first) {
  using Partial = typename Term::Partial;
  using Bits = BitsOf<Term>;
  constexpr bool kTwo = is_dot<Term>();
  constexpr int kAtOnce = sizeof(Partial) > 16 ? 4 : kTwo || sizeof(Partial) > 8 ? 8 : 16;
  const Term term(view.dtype, view.op);
  Walk<kTwo> walk(view, line, first);
  Partial a[kPositions];
#pragma unroll 1
  for (int k = 0; k < kElementsOfLane; k += kAtOnce) {
    Bits x[kAtOnce];
    Bits y[kAtOnce];
#pragma unroll
    for (int j = 0; j < kAtOnce; ++j) {
      x[j] = *reinterpret_cast<const Bits*>(walk.x());
      y[j] = kTwo ? *reinterpret_cast<const Bits*>(walk.y()) : Bits{};
      walk.step();
    }
#pragma unroll
    for (int j = 0; j < kAtOnce; ++j) enter(term, a[j % kPositions], x[j], y[j], first + (k + j) * kStep);
  }
  return fold_own<Partial>(a);
}

// The same for a view with one axis. kFull: a whole leaf.
template <class Term, bool kFull>
__device__ __forceinline__ typename Term::Partial part_of_axis(const ViewLaunch& view, int64_t first) {
  using Partial = typename Term::Partial;
  using Bits = BitsOf<Term>;
  constexpr bool kTwo = is_dot<Term>();
  constexpr int kAtOnce = !kFull || sizeof(Partial) > 16 ? 4 : kTwo || sizeof(Partial) > 8 ? 8 : 16;
  const Term term(view.dtype, view.op);
  const int64_t in_x = view.x.stride[0] * kStep;
  const int64_t in_y = view.y.stride[0] * kStep;
  const char* x = view.x.data + first * view.x.stride[0];
  const char* y = view.y.data + first * view.y.stride[0];
  const int64_t end = kFull ? first + kLeafTerms : min(view.n, first + kLeafTerms);
  Partial a[kPositions];
#pragma unroll 1
  for (int64_t at = first; at < end; at += kAtOnce * kStep) {
    Bits of_x[kAtOnce];
    Bits of_y[kAtOnce];
#pragma unroll
    for (int j = 0; j < kAtOnce; ++j, x += in_x, y += in_y) {
      if (!kFull && at + j * kStep >= end) continue;
      of_x[j] = *reinterpret_cast<const Bits*>(x);
      if (kTwo) of_y[j] = *reinterpret_cast<const Bits*>(y);
    }
#pragma unroll
    for (int j = 0; j < kAtOnce; ++j) {
      if (!kFull && at + j * kStep >= end) continue;
      enter(term, a[j % kPositions], of_x[j], of_y[j], at + j * kStep);
    }
  }
  return fold_own<Partial>(a);
}

// Not inlined, because it needs other registers.
template <class Term>
__device__ __noinline__ typename Term::Partial part_of_last_leaf(const ViewLaunch& view, int64_t first) {
  return part_of_axis<Term, false>(view, first);
}

template <class Term, bool kOneAxis>
__device__ __forceinline__ typename Term::Partial lane_of_leaf(const ViewLaunch& view, int64_t line, int64_t begin) {
  const int64_t first = begin + threadIdx.x % 32;
  const bool whole = begin + kLeafTerms <= view.n;
  if constexpr (kOneAxis) {
    if (view.aligned) return whole ? part_of_axis<Term, true>(view, first) : part_of_last_leaf<Term>(view, first);
  } else {
    const bool in_one_run = view.rank <= 3 || Quotient(begin, view.inner).rest + kLeafTerms <= view.inner;
    if (view.aligned && whole && in_one_run) return part_of_leaf<Term>(view, line, first);
  }
  return part_of_any_leaf<Term>(view, line, first);
}

// Leaf q, for every lane. line: bytes from x to the line.
template <class Term, bool kOneAxis>
__device__ __forceinline__ typename Term::Node leaf_of_view(const ViewLaunch& view, int64_t line, int64_t q) {
  using Node = typename Term::Node;
  Node node(lane_of_leaf<Term, kOneAxis>(view, line, q * kLeafTerms));
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) node = combine(node, shuffle_xor(node, distance));
  return node;
}

// The tree of a whole view: views may repeat elements, so their number has no bound.
__device__ __forceinline__ IntegerNode unbounded(const NarrowNode& node) { return IntegerNode(node.stored()); }
__device__ __forceinline__ IntegerNode unbounded(const WideNode& node) { return IntegerNode(node.stored()); }
__device__ __forceinline__ RangeNode unbounded(const SmallRangeNode& node) { return RangeNode(node.stored()); }
__device__ __forceinline__ ArgNode unbounded(const SmallArgNode& node) { return ArgNode(node.stored()); }
template <class Node>
__device__ __forceinline__ Node unbounded(const Node& node) {
  return node;
}
template <class Term>
using UnboundedNode = decltype(unbounded(std::declval<typename Term::Node>()));

// Leaves [first, first + count) for thread 0, count <= kLeavesInShared.
template <class Term, bool kOneAxis>
__device__ __forceinline__ typename Term::Node node_of_leaves(const ViewLaunch& view, int64_t line, int64_t first,
                                                              int count, typename Term::Node* leaves) {
  using Node = typename Term::Node;
#pragma unroll 1
  for (int i = threadIdx.x / 32; i < count; i += blockDim.x / 32) {
    const Node leaf = leaf_of_view<Term, kOneAxis>(view, line, first + i);
    if (threadIdx.x % 32 == 0) leaves[i] = leaf;
  }
  __syncthreads();
  Node node{};
  if (threadIdx.x < 32) {
    node = warp_tree(eight_tree<Node>([&](int64_t i) { return leaves[i]; }, 8 * threadIdx.x, count));
  }
  __syncthreads();
  return node;
}

// A block's tile of 2^k leaves, for thread 0. Those past the end are empty. waiting[i] is a subtree that waits for its
// neighbour.
template <class Term, bool kOneAxis>
__device__ __forceinline__ UnboundedNode<Term> node_of_tile(const ViewLaunch& view, int64_t line,
                                                            typename Term::Node* leaves, UnboundedNode<Term>* waiting) {
  UnboundedNode<Term> node{};
  const int64_t all = (view.n + kLeafTerms - 1) / kLeafTerms;
  const int64_t runs = (view.tile + kLeavesInShared - 1) / kLeavesInShared;
#pragma unroll 1
  for (int64_t run = 0; run < runs; ++run) {
    const int64_t first = blockIdx.y * view.tile + run * kLeavesInShared;
    const int64_t most = view.tile < kLeavesInShared ? view.tile : kLeavesInShared;
    const auto count = static_cast<int>(first >= all ? 0 : all - first < most ? all - first : most);
    node = unbounded(node_of_leaves<Term, kOneAxis>(view, line, first, count, leaves));
    if (threadIdx.x != 0) continue;
    int level = 0;
#pragma unroll 1
    for (; (run >> level & 1) != 0; ++level) node = combine(waiting[level], node);
    waiting[level] = node;
  }
  return node;
}

// Bytes from x to the block's line.
__device__ __forceinline__ int64_t line_of_block(const ViewLaunch& view) {
  int64_t number = blockIdx.x;
  int64_t bytes = 0;
#pragma unroll 1
  for (int d = 0; d < view.kept; ++d) {
    const Quotient q(number, view.kept_extent[d]);
    number = q.quotient;
    bytes += q.rest * view.kept_stride[d];
  }
  return bytes;
}

// As finish_line(), for lines with elements.
__device__ __forceinline__ void store_line(const ViewLaunch& view, const ReduceValue& value) {
  const int words = value_words(view.op);
  for (int i = 0; i < words; ++i) store_word<0>(view, int64_t{blockIdx.x} * words + i, value.word[i]);
  if (value.status != GPUMEM_OK) atomicMax(view.lines_status, value.status);
}

// kOneAxis: a sequence with a stride.
template <class Term, bool kOneAxis>
__global__ void __launch_bounds__(kElementThreads) view_kernel(const __grid_constant__ ViewLaunch launch) {
  using Node = UnboundedNode<Term>;
  __shared__ typename Term::Node leaves[kLeavesInShared];
  __shared__ Node shared[64];
  const bool many = launch.lines_status != nullptr;
  if (many) {
    grid_dependency_synchronize();
    if (launch.status != nullptr && blockIdx.x == 0 && blockIdx.y == 0 && threadIdx.x == 0) *launch.status = GPUMEM_OK;
  } else {
    synchronize_and_trigger();
  }
  Node node = node_of_tile<Term, kOneAxis>(launch, line_of_block(launch), leaves, shared);
  auto* const nodes = static_cast<Node*>(launch.nodes) + int64_t{blockIdx.x} * gridDim.y;
  if (gridDim.y > 1) {
    if (threadIdx.x == 0) store_node(nodes + blockIdx.y, node);
    if (!is_last_block(launch.counter + blockIdx.x, gridDim.y)) return;
    node = block_tree(eight_tree<Node>([&](int64_t i) { return load_node(nodes + i); }, 8 * threadIdx.x, gridDim.y),
                      shared);
  }
  if (threadIdx.x != 0) return;
  if (many) return store_line(launch, value_of(launch.dtype, launch.op, node, Root{}));
  if (launch.slot != nullptr) return publish(launch.slot, node.stored(), launch.ticket);
  store_value(launch, value_of(launch.dtype, launch.op, node, Root{}), launch.op == GPUMEM_MIN_MAX);
}

// `away`: the elements between neighbours along axes 0, 1 and 2 of the view.
void set_operand(ViewOperand& operand, const void* data, const int64_t (&away)[kMaxReduceRank], const ViewLaunch& view,
                 const int64_t (&steps)[3], int64_t bytes) noexcept {
  operand.data = static_cast<const char*>(data);
  for (int32_t d = 0; d < view.rank; ++d) operand.stride[d] = away[d] * bytes;
  for (int d = 0; d < 3; ++d) operand.step += steps[d] * operand.stride[d];
  for (int d = 0; d < 2; ++d) operand.next[d] = operand.stride[d + 1] - view.extent[d] * operand.stride[d];
}

// A line as a view of its own.
ReduceView view_of_line(const LineAxes& axes) noexcept {
  ReduceView view{.rank = axes.rank - axes.kept};
  for (int32_t d = 0; d < view.rank; ++d) {
    view.extents[d] = axes.extents[axes.kept + d];
    view.strides[d] = axes.strides[axes.kept + d];
  }
  return view;
}

void set_lines(ViewLaunch& view, const ReduceLaunch& launch, int64_t bytes) noexcept {
  if (launch.axes == nullptr) return;
  view.kept = launch.axes->kept;
  for (int32_t d = 0; d < view.kept; ++d) {
    view.kept_extent[d] = launch.axes->extents[view.kept - 1 - d];
    view.kept_stride[d] = launch.axes->strides[view.kept - 1 - d] * bytes;
  }
  view.lines_status = launch.scratch.status;
  view.slot = nullptr;
}

// Axes that are missing have one element each. A leaf that a Walk takes never ends an axis outside the view.
ViewLaunch view_of(const ReduceLaunch& launch) noexcept {
  ViewLaunch view{};
  const ReduceView given = launch.axes != nullptr   ? view_of_line(*launch.axes)
                           : launch.view != nullptr ? *launch.view
                                                    : ReduceView{};
  view.rank = given.rank > 0 ? given.rank : 1;
  view.n = launch.lines.length;
  int64_t in_x[kMaxReduceRank] = {launch.lines.stride};
  int64_t in_y[kMaxReduceRank] = {launch.y_stride};
  view.extent[0] = view.n;
  for (int32_t d = 0; d < given.rank; ++d) {
    const int32_t from = given.rank - 1 - d;
    view.extent[d] = given.extents[from];
    in_x[d] = given.strides[from];
    in_y[d] = given.y_strides[from];
  }
  for (int32_t d = view.rank; d < kMaxReduceRank; ++d) view.extent[d] = 1;
  const int64_t outer = kStep / view.extent[0];
  const int64_t steps[3] = {kStep % view.extent[0], outer % view.extent[1], outer / view.extent[1]};
  view.step[0] = static_cast<int32_t>(steps[0]);
  view.step[1] = static_cast<int32_t>(steps[1]);
  view.inner = view.rank > 3 ? view.extent[0] * view.extent[1] * view.extent[2] : view.n;
  const int bytes = element_bytes(launch.dtype);
  set_operand(view.x, launch.x, in_x, view, steps, bytes);
  const bool dot = launch.op == GPUMEM_DOT;
  if (dot) set_operand(view.y, launch.y, in_y, view, steps, bytes);
  view.aligned = aligned(launch.x, bytes) && (!dot || aligned(launch.y, bytes));
  view.tile = launch.tile / kLeafTerms;
  view.rounded = launch.rounded;
  view.dtype = launch.dtype;
  view.op = launch.op;
  view.ticket = launch.ticket;
  view.slot = launch.slot;
  view.result = launch.result;
  view.status = launch.status;
  view.index = launch.index;
  view.nodes = launch.scratch.nodes;
  view.counter = launch.scratch.counters;
  set_lines(view, launch, bytes);
  return view;
}

template <class F>
cudaError_t for_view_element(gpumem_dtype dtype, gpumem_reduce_op op, const F& f) {
  switch (node_kind(dtype, op)) {
    case NodeKind::arg:
      return for_element_size(dtype, [&]<int kSize>() { return f.template operator()<ArgElement<kSize>>(); });
    case NodeKind::norm:
      return f.template operator()<NormElement>();
    case NodeKind::sum:
      if (op != GPUMEM_DOT) break;
      return dtype == GPUMEM_F32 ? f.template operator()<DotElement<GPUMEM_F32>>()
                                 : f.template operator()<DotElement<GPUMEM_F64>>();
    case NodeKind::integer:
    case NodeKind::integer_product:
    case NodeKind::range:
    case NodeKind::product:
    case NodeKind::compensated:
    case NodeKind::order_free:
      break;
  }
  return for_element(dtype, op, f);
}

// Only sums of floating-point elements and dot products have a kernel for one axis, to keep code small.
template <class Term>
constexpr bool kHasOneAxis = is_dot<Term>();
template <gpumem_dtype kType>
constexpr bool kHasOneAxis<FloatElement<kType, GPUMEM_SUM>> = true;

}  // namespace

LaunchResult reduce_view(const ReduceLaunch& launch, Stream stream) {
  return for_view_element(launch.dtype, launch.op, [&]<class Term>() {
    const ViewLaunch view = view_of(launch);
    const auto with = [&](auto kernel) {
      return enqueue_programmatic(kernel, lines_grid(launch), launch.block, stream, view);
    };
    if constexpr (kHasOneAxis<Term>) {
      if (view.rank == 1 && launch.axes == nullptr) return with(view_kernel<Term, true>);
    }
    return with(view_kernel<Term, false>);
  });
}

}  // namespace gpumem::kernels
