// Sums and products of floating-point elements, norms and dot products in the reproducible order, in one launch.
// Moves: reads each operand once, writes one value per line.
// Access: 16-byte words, eight in flight per thread. A warp takes one leaf (1024 elements) at a time, a block an
//         aligned run of 2^k leaves. A line's last block combines the blocks' nodes.
// Shapes: contiguous lines of aligned elements, of any length and any alignment to words.
#include "kernels/reduce/ordered.cuh"

namespace gpumem::kernels {
namespace {

// Enters leaves [first, last) of a block whose first leaf is `begin`, each at its place. The warps take turns.
template <gpumem_dtype kType, class Term, Fill kFill>
__device__ __forceinline__ void enter_leaves(const Operands& line, int first, int last, int begin,
                                             typename Term::Node* leaves) {
  using L = Layout<kType>;
  const int step = blockDim.x / L::kThreads;
  for (int at = first + static_cast<int>(threadIdx.x / 32) * L::kLeaves; at < last; at += step) {
    const int q = at + threadIdx.x % 32 / L::kThreads;
    const bool there = L::kLeaves == 1 || q < last;  // if leaves come in pairs, the last pair may be incomplete
    const typename Term::Node node = node_of<kType, Term, kFill>(line, there ? q : last - 1);
    if (there && threadIdx.x % L::kThreads == 0) leaves[q - begin] = node;
  }
}

// The leaves at the ends of a line. Not inlined, because they need other registers.
template <gpumem_dtype kType, class Term>
__device__ __noinline__ void enter_ends(Operands line, int first, int last, int begin, typename Term::Node* leaves) {
  enter_leaves<kType, Term, Fill::part>(line, first, last, begin, leaves);
}

// Leaves [first, last) of a line, an aligned run of at most kLeavesInShared, for warp 0. The loops over whole leaves
// make no calls and keep nothing in local memory: with a few bytes there, f32 ran at 0.97 of its speed.
template <gpumem_dtype kType, class Term>
__device__ __forceinline__ typename Term::Node leaves_node(const Operands& line, int first, int last,
                                                           typename Term::Node* leaves) {
  using Node = typename Term::Node;
  using L = Layout<kType>;
  const int whole_first = min(last, max(first, (line.x.full_first + L::kLeaves - 1) / L::kLeaves * L::kLeaves));
  const int whole_last = max(whole_first, min(last, line.x.full_last) / L::kLeaves * L::kLeaves);
  if (begin_with_words<Term>(line)) {
    enter_leaves<kType, Term, Fill::words>(line, whole_first, whole_last, first, leaves);
  } else {
    enter_leaves<kType, Term, Fill::full>(line, whole_first, whole_last, first, leaves);
  }
  if (first < whole_first) enter_ends<kType, Term>(line, first, whole_first, first, leaves);
  if (whole_last < last) enter_ends<kType, Term>(line, whole_last, last, first, leaves);
  __syncthreads();
  Node node{};
  const int count = last - first;
  if (threadIdx.x < 32) {
    if (count <= 32) {
      if (threadIdx.x < count) node = leaves[threadIdx.x];
    } else {
      node = eight_tree<Node>([&](int64_t i) { return leaves[i]; }, 8 * threadIdx.x, count);
    }
    node = warp_tree(node, count);
  }
  return node;
}

// An aligned run of any number of leaves, for warp 0.
template <gpumem_dtype kType, class Term>
__device__ __noinline__ typename Term::Node long_run_node(Operands line, int first, int last,
                                                          typename Term::Node* leaves) {
  TreeStack<typename Term::Node, 32> stack;
  for (int at = first; at < last; at += kLeavesInShared) {
    stack.push(leaves_node<kType, Term>(line, at, min(at + kLeavesInShared, last), leaves));
    __syncthreads();
  }
  return stack.whole();
}

// A warp's leaves of a short line. Common cases use as little code as possible, because each launch fetches it again.
template <gpumem_dtype kType, class Term>
__device__ __forceinline__ typename Term::Node leaf_of_single_tile(const Operands& line, int q) {
  const int last = q | (Layout<kType>::kLeaves - 1);
  return begin_with_words<Term>(line) && last < line.x.full_last ? node_of<kType, Term, Fill::words>(line, q)
                                                                 : leaf_at_end<kType, Term>(line, q);
}

// All leaves of a short line, for warp 0 of its block. Blocks take aligned runs of 2^k leaves.
template <gpumem_dtype kType, class Term>
__device__ __forceinline__ typename Term::Node node_of_single_tile(const Operands& line, typename Term::Node* leaves) {
  using Node = typename Term::Node;
  using L = Layout<kType>;
  const int in_block = threadIdx.x / L::kThreads;
  const int of_block = blockDim.x / L::kThreads;
  const int q = blockIdx.y * of_block + in_block;
  Node node{};
  if (q / L::kLeaves * L::kLeaves < line.x.leaves) node = leaf_of_single_tile<kType, Term>(line, q);
  if (of_block == 1) return node;
  if (threadIdx.x % L::kThreads == 0) leaves[in_block] = node;
  __syncthreads();
  if (threadIdx.x < 32) node = warp_tree(threadIdx.x < of_block ? leaves[threadIdx.x] : Node{});
  return node;
}

template <gpumem_dtype kType, class Term>
__device__ __forceinline__ typename Term::Node part_node(const Operands& line, int steps, typename Term::Node* leaves) {
  const int first = blockIdx.y * steps;
  const int last = min(first + steps, line.x.leaves);
  return last - first <= kLeavesInShared ? leaves_node<kType, Term>(line, first, last, leaves)
                                         : long_run_node<kType, Term>(line, first, last, leaves);
}

template <gpumem_dtype kType, class Term>
__global__ void __launch_bounds__(kTileThreads, 1024 / kTileThreads)
    tile_kernel(const __grid_constant__ Sequence<LeafSpan> launch) {
  using Node = typename Term::Node;
  __shared__ Node leaves[kLeavesInShared + 32];
  synchronize_and_trigger();
  const Node node = part_node<kType, Term>({launch.span, launch.y, launch.op}, launch.steps, leaves);
  Node whole;
  if (!last_block_reduce(node, launch.span.n, static_cast<Node*>(launch.nodes), launch.counter,
                         leaves + kLeavesInShared, whole)) {
    return;
  }
  if (launch.slot != nullptr) return publish(launch.slot, whole.stored(), launch.ticket);
  store_value(launch, value_of(launch.dtype, launch.op, whole, Root{}), false);
}

template <gpumem_dtype kType, class Term>
__global__ void __launch_bounds__(32 * kSingleTileChunks, 2)
    single_tile_kernel(const __grid_constant__ Sequence<LeafSpan> launch) {
  using Node = typename Term::Node;
  __shared__ Node leaves[32];
  __shared__ Cluster<Node> cluster;
  if (gridDim.y > 1) cluster.begin();
  synchronize_and_trigger();
  Node node = node_of_single_tile<kType, Term>({launch.span, launch.y, launch.op}, leaves);
  if (!last_block_reduce(node, cluster)) return;
  if (launch.slot != nullptr) return publish(launch.slot, node.stored(), launch.ticket);
  store_aligned_value<Values::one>(launch, value_of(launch.dtype, launch.op, node, Root{}));
}

struct TreesLaunch {
  Operands line;
  LeafTrees trees;
  ReduceNode* nodes;
  ReduceScratch scratch;
  ReduceSlot* slot;
  uint32_t ticket;
};

// Nodes of the subtrees of one sequence. The last block combines the other blocks' nodes, one warp per tree, and writes
// the results to the host's memory. It has the only fence at system scope: one fence per block took 80 us (H200).
template <gpumem_dtype kType, class Term>
__global__ void __launch_bounds__(kLeafTreeThreads) trees_kernel(const __grid_constant__ TreesLaunch launch) {
  using Node = typename Term::Node;
  __shared__ Node leaves[kLeavesInShared];
  synchronize_and_trigger();
  const LeafTrees& trees = launch.trees;
  const auto block = static_cast<int>(blockIdx.y);
  int first = 0;
  int i = 0;
  for (; i + 1 < trees.count && trees.tree[i + 1].first_block <= block; ++i) first += 1 << trees.tree[i].level;
  const int count = min(1 << trees.tree[i].level, trees.leaves);
  first += (block - trees.tree[i].first_block) * count;
  const Node node = leaves_node<kType, Term>(launch.line, first, first + count, leaves);
  auto* const nodes = static_cast<Node*>(launch.scratch.nodes);
  if (threadIdx.x == 0) store_node(nodes + block, node);
  if (!is_last_block(launch.scratch.counters, gridDim.y)) return;
  for (int t = threadIdx.x / 32; t < trees.count; t += blockDim.x / 32) {
    const LeafTrees::Tree& tree = trees.tree[t];
    const auto load = [&](int64_t at) { return load_node(nodes + tree.first_block + at); };
    const Node whole = warp_tree(run_of<Node>(load, threadIdx.x % 32, 32, trees.blocks_of(tree.level)));
    if (threadIdx.x % 32 == 0) launch.nodes[t] = whole.stored();
  }
  __threadfence_system();
  __syncthreads();
  if (threadIdx.x == 0) publish(launch.slot, {}, launch.ticket);
}

template <gpumem_dtype kType, class Term>
cudaError_t start(const ReduceLaunch& launch, Stream stream) {
  const auto span = [&](const void* p) {
    return leaf_span(reinterpret_cast<uintptr_t>(p), launch.lines.length, element_bytes(kType));
  };
  const LeafSpan x = span(launch.x);
  if (launch.trees != nullptr) {
    return enqueue_programmatic(
        trees_kernel<kType, Term>, dim3(1, static_cast<unsigned>(launch.trees->blocks)), launch.block, stream,
        TreesLaunch{
            {x, span(launch.y), launch.op}, *launch.trees, launch.nodes, launch.scratch, launch.slot, launch.ticket});
  }
  if (launch.single_tile) {
    return enqueue_programmatic<Blocks::cluster>(single_tile_kernel<kType, Term>, lines_grid(launch), launch.block,
                                                 stream, sequence_of(launch, x, span(launch.y), 0));
  }
  const auto steps = static_cast<int32_t>(launch.tile / kLeafTerms);
  return enqueue_programmatic(tile_kernel<kType, Term>, lines_grid(launch), launch.block, stream,
                              sequence_of(launch, x, span(launch.y), launch.blocks_per_line == 1 ? x.leaves : steps));
}

template <gpumem_dtype kType>
cudaError_t start_plain(const ReduceLaunch& launch, Stream stream) {
  switch (addend_of(launch.op)) {
    case Addend::element:
      return start<kType, PlainTerm<GPUMEM_SUM>>(launch, stream);
    case Addend::magnitude:
    case Addend::valid:
    case Addend::present:
      return start<kType, MaskedTerm<kType>>(launch, stream);
    case Addend::square:
      return start<kType, PlainTerm<GPUMEM_SUM_SQUARES>>(launch, stream);  // the norm of f32 too
    case Addend::cube:
      return start<kType, PlainTerm<GPUMEM_SUM_CUBES>>(launch, stream);
    case Addend::dot:
      if constexpr (element_bytes(kType) >= 4) return start<kType, DotTerm>(launch, stream);
      break;
    case Addend::factor:
      return start<kType, FactorTerm>(launch, stream);
  }
  return cudaErrorInvalidValue;
}

}  // namespace

LaunchResult reduce_tiles_sum(const ReduceLaunch& launch, Stream stream) {
  switch (node_kind(launch.dtype, launch.op)) {
    case NodeKind::sum:
    case NodeKind::product:
      return for_floating_type(launch.dtype, [&]<gpumem_dtype kType>() { return start_plain<kType>(launch, stream); });
    case NodeKind::compensated:
      return start<GPUMEM_F64, CompensatedTerm>(launch, stream);
    case NodeKind::norm:
      return start<GPUMEM_F64, NormTerm>(launch, stream);
    case NodeKind::integer:
    case NodeKind::integer_product:
    case NodeKind::range:
    case NodeKind::arg:
    case NodeKind::order_free:
      break;
  }
  return cudaErrorInvalidValue;
}

}  // namespace gpumem::kernels
