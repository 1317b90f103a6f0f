// Combines partial results ("nodes") within a warp, a block and a grid. All functions combine neighbours in pairs, as
// the reproducible tree requires, so they serve every kind of node.
#pragma once

#include <type_traits>

#include "kernels/enqueue.cuh"
#include "kernels/reduce/cluster.cuh"
#include "kernels/reduce/count_block.cuh"
#include "kernels/reduce/limits.hpp"
#include "kernels/reduce/lines.cuh"

namespace gpumem::kernels {

constexpr unsigned kWholeWarp = 0xffffffffu;

template <int kBytes>
using UnsignedOf =
    std::conditional_t<kBytes == 8, unsigned long long,
                       std::conditional_t<kBytes == 4, uint32_t, std::conditional_t<kBytes == 2, uint16_t, uint8_t>>>;

// Nodes that stay on the device are as narrow as their contents allow, because fewer words are moved.
struct LeafNode {  // an integer sum of a leaf's elements of up to 16 bits, or of the squares of bytes
  static constexpr NodeKind kind = NodeKind::integer;
  int32_t sum = 0;
};
struct NarrowNode {  // an integer sum of fewer than 2^31 elements of up to 32 bits
  static constexpr NodeKind kind = NodeKind::integer;
  int64_t sum = 0;
  constexpr NarrowNode() = default;
  __device__ explicit NarrowNode(const LeafNode& leaf) : sum(leaf.sum) {}
  __device__ explicit NarrowNode(int64_t s) : sum(s) {}
  __device__ ReduceNode stored() const { return IntegerNode(Int128{sum}).stored(); }
};
struct SquaresNode : HalfSums<uint64_t> {  // squares of 32 bits by halves, up to 2^32 of them
  static constexpr NodeKind kind = NodeKind::integer;
};
struct WideNode {  // any other that fits 128 bits
  static constexpr NodeKind kind = NodeKind::integer;
  Int128 sum = 0;
  constexpr WideNode() = default;
  __device__ explicit WideNode(Int128 s) : sum(s) {}
  __device__ explicit WideNode(const SquaresNode& n) : sum(joined_halves(n.low, n.high)) {}
  __device__ ReduceNode stored() const { return IntegerNode(sum).stored(); }
};
template <int kBits>
struct HalfRangeNode {  // a lowest and a highest key in the upper bits of each half of a word
  static constexpr NodeKind kind = NodeKind::range;
  uint32_t low = ~uint32_t{0};
  uint32_t high = 0;
};
struct SmallRangeNode {
  static constexpr NodeKind kind = NodeKind::range;
  uint32_t low = ~uint32_t{0};
  uint32_t high = 0;
  constexpr SmallRangeNode() = default;
  __device__ SmallRangeNode(uint32_t lowest, uint32_t highest) : low(lowest), high(highest) {}
  template <int kBits>
  __device__ explicit SmallRangeNode(const HalfRangeNode<kBits>& n)
      : low(min(n.low & 0xffffu, n.low >> 16) >> (16 - kBits)),
        high(max(n.high & 0xffffu, n.high >> 16) >> (16 - kBits)) {}
  __device__ ReduceNode stored() const { return {{low > high ? ~uint64_t{0} : low, high}}; }
};
struct SmallArgNode {
  static constexpr NodeKind kind = NodeKind::arg;
  uint32_t rank = ~uint32_t{0};
  int64_t index = INT64_MAX;
  constexpr SmallArgNode() = default;
  __device__ SmallArgNode(uint32_t r, int64_t i) : rank(r), index(i) {}
  __device__ ReduceNode stored() const { return {{rank, static_cast<uint64_t>(index)}}; }
};
// The lowest rank and its first place, in a leaf or a short line.
template <class Rank>
struct PlaceNode {
  static constexpr NodeKind kind = NodeKind::arg;
  static constexpr uint32_t kNowhere = ~uint32_t{0};
  Rank rank = ~Rank{0};
  uint32_t place = kNowhere;
};

__device__ __forceinline__ LeafNode combine(const LeafNode& a, const LeafNode& b) { return {a.sum + b.sum}; }
__device__ __forceinline__ NarrowNode combine(const NarrowNode& a, const NarrowNode& b) {
  return NarrowNode(a.sum + b.sum);
}
__device__ __forceinline__ WideNode combine(const WideNode& a, const WideNode& b) { return WideNode(a.sum + b.sum); }
__device__ __forceinline__ SquaresNode combine(const SquaresNode& a, const SquaresNode& b) {
  return {{a.low + b.low, a.high + b.high}};
}
template <int kBits>
__device__ __forceinline__ HalfRangeNode<kBits> combine(const HalfRangeNode<kBits>& a, const HalfRangeNode<kBits>& b) {
  return {__vminu2(a.low, b.low), __vmaxu2(a.high, b.high)};
}
__device__ __forceinline__ SmallRangeNode combine(const SmallRangeNode& a, const SmallRangeNode& b) {
  return {min(a.low, b.low), max(a.high, b.high)};
}
__device__ __forceinline__ SmallArgNode combine(const SmallArgNode& a, const SmallArgNode& b) {
  return b.rank < a.rank || (b.rank == a.rank && b.index < a.index) ? b : a;
}

template <class Rank>
__device__ __forceinline__ PlaceNode<Rank> combine(const PlaceNode<Rank>& a, const PlaceNode<Rank>& b) {
  return b.rank < a.rank || (b.rank == a.rank && b.place < a.place) ? b : a;
}

template <class Node, class F>
__device__ __forceinline__ Node by_words(const Node& v, const F& f) {
  using Word = std::conditional_t<sizeof(Node) % 8 == 0, unsigned long long, unsigned>;
  Word word[sizeof(Node) / sizeof(Word)];
  memcpy(word, &v, sizeof(Node));
#pragma unroll
  for (Word& w : word) w = f(w);
  Node made;
  memcpy(&made, word, sizeof(Node));
  return made;
}
template <class Node>
__device__ __forceinline__ Node shuffle(const Node& v, int lane) {
  return by_words(v, [&](auto word) { return __shfl_sync(kWholeWarp, word, lane); });
}
template <class Node>
__device__ __forceinline__ Node shuffle_xor(const Node& v, int distance) {
  return by_words(v, [&](auto word) { return __shfl_xor_sync(kWholeWarp, word, distance); });
}
__device__ __forceinline__ SmallArgNode shuffle_xor(const SmallArgNode& v, int distance) {  // half a word less
  return {__shfl_xor_sync(kWholeWarp, v.rank, distance), shuffle_xor(v.index, distance)};
}

// Combines the nodes of a warp's lanes in lane order. Every lane gets the result. Lanes from `count` on have no node.
template <class Node>
__device__ __forceinline__ Node warp_tree(Node node, int count = 32) {
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) {
    if (distance < count) node = combine(node, shuffle_xor(node, distance));
  }
  return node;
}

// Combines the nodes of a block's threads in thread order, for warp 0. All threads call it. `shared` has room for 32
// nodes.
template <class Node>
__device__ __forceinline__ Node block_tree(Node node, Node* shared) {
  node = warp_tree(node);
  if (blockDim.x == 32) return node;
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = node;
  __syncthreads();
  if (threadIdx.x < 32) node = warp_tree(threadIdx.x < blockDim.x / 32 ? shared[threadIdx.x] : Node{});
  return node;
}

// Combines up to eight nodes from place `first` on, loaded together. Those past `count` are empty.
template <class Node, class Load>
__device__ __forceinline__ Node eight_tree(const Load& load, int64_t first, int64_t count) {
  Node node[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) node[i] = first + i < count ? load(first + i) : Node{};
#pragma unroll
  for (int width = 1; width < 8; width *= 2) {
#pragma unroll
    for (int i = 0; i < 8; i += 2 * width) node[i] = combine(node[i], node[i + width]);
  }
  return node[0];
}

// A tree over nodes that arrive in order: a binary counter whose digits are subtrees that wait for their neighbour.
// They are in local memory that is not initialized, because most threads use little of it or none.
template <class Node, int kLevels>
class TreeStack {
  static_assert(std::is_trivially_copyable_v<Node>);

 public:
  __device__ void push(Node node) {
    int level = 0;
    for (; (count_ >> level) & 1; ++level) node = combine(waiting(level), node);
    memcpy(room(level), &node, sizeof(Node));
    ++count_;
  }
  __device__ Node whole() const {
    Node node{};
    bool any = false;
    for (int level = 0; count_ >> level != 0; ++level) {
      if (((count_ >> level) & 1) == 0) continue;
      node = any ? combine(waiting(level), node) : waiting(level);
      any = true;
    }
    return node;
  }

 private:
  __device__ Node waiting(int level) const {
    Node node;
    memcpy(&node, room(level), sizeof(Node));
    return node;
  }
  // Without the known alignment, each byte is moved separately.
  __device__ void* room(int level) { return __builtin_assume_aligned(room_ + level * sizeof(Node), alignof(Node)); }
  __device__ const void* room(int level) const {
    return __builtin_assume_aligned(room_ + level * sizeof(Node), alignof(Node));
  }

  int64_t count_ = 0;
  alignas(16) unsigned char room_[kLevels * sizeof(Node)];
};

// The same for nodes that a whole warp has. Lane l keeps the waiting subtree of level l.
template <class Node>
class WarpStack {
 public:
  __device__ __forceinline__ void push(Node node) {
    int level = 0;
    for (; (count_ >> level) & 1; ++level) node = combine(shuffle(waiting_, level), node);
    if (threadIdx.x % 32 == level) waiting_ = node;
    ++count_;
  }
  __device__ __forceinline__ Node whole() const {
    int level = __ffs(count_) - 1;
    if (level < 0) return Node{};
    Node node = shuffle(waiting_, level);
    for (++level; count_ >> level != 0; ++level) {
      if ((count_ >> level) & 1) node = combine(shuffle(waiting_, level), node);
    }
    return node;
  }

 private:
  int count_ = 0;
  Node waiting_{};
};

// The share of thread t of `threads` that combine load(0), ..., load(count - 1): an aligned run of 2^k nodes.
template <class Node, class Load>
__device__ __forceinline__ Node run_of(const Load& load, int64_t t, int64_t threads, int64_t count) {
  int64_t run = 1;
  while (run * threads < count) run *= 2;
  const int64_t last = t * run + run < count ? t * run + run : count;
  if (run <= 8) return eight_tree<Node>(load, t * run, last);
  TreeStack<Node, 16> stack;
  for (int64_t at = t * run; at < last; at += 8) stack.push(eight_tree<Node>(load, at, count));
  return stack.whole();
}

// Combines count nodes in order by all threads of a block, for warp 0. The number of threads is a power of two.
template <class Node, class Load>
__device__ __forceinline__ Node block_fold(const Load& load, int64_t count, Node* shared) {
  if (count > blockDim.x) return block_tree(run_of<Node>(load, threadIdx.x, blockDim.x, count), shared);
  return block_tree(threadIdx.x < count ? load(threadIdx.x) : Node{}, shared);
}

// True in the last of `blocks` blocks to call it. Its threads then see earlier writes of the others' first threads, and
// writes of their other threads before a barrier. The counter wraps to 0, ready for the next launch.
__device__ __forceinline__ bool is_last_block(unsigned* counter, unsigned blocks) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    const unsigned before = count_block(counter, blocks - 1);
    last = before == blocks - 1;
  }
  __syncthreads();
  return last;
}

template <class Node>
__device__ __forceinline__ void store_node(Node* to, const Node& node) {
  unsigned long long word[sizeof(Node) / 8];
  memcpy(word, &node, sizeof(Node));
#pragma unroll
  for (size_t i = 0; i < sizeof(Node) / 8; ++i) __stcg(reinterpret_cast<unsigned long long*>(to) + i, word[i]);
}

template <class Node>
__device__ __forceinline__ Node load_node(const Node* from) {
  unsigned long long word[sizeof(Node) / 8];
#pragma unroll
  for (size_t i = 0; i < sizeof(Node) / 8; ++i) word[i] = __ldcg(reinterpret_cast<const unsigned long long*>(from) + i);
  Node node;
  memcpy(&node, word, sizeof(Node));
  return node;
}

// Ends one of many lines with valid offsets. Sums and products of floating-point elements always have a value. kBytes: as
// for store_word().
template <int kBytes, class Node>
__device__ __forceinline__ void finish_sound_line(const ReduceLaunch& launch, int64_t index, int64_t n,
                                                  const Node& node) {
  if constexpr (std::is_same_v<Node, SumNode>) {
    store_word<kBytes>(launch, index, word_of(node.sum));
  } else if constexpr (std::is_same_v<Node, ProductNode>) {
    store_word<kBytes>(launch, index, word_of(node.product));
  } else if constexpr (std::is_same_v<Node, NarrowNode>) {
    static_cast<int64_t*>(launch.result)[index] = node.sum;
  } else {
    finish_line<Node::kind>(launch, index, {nullptr, nullptr, n, true}, node.stored());
  }
}

template <class Node>
__device__ __forceinline__ Node* line_nodes(const ReduceLaunch& launch, int64_t index) {
  return static_cast<Node*>(launch.scratch.nodes) + index * gridDim.y;
}

// The node of a whole line. Narrow sums of blocks may exceed 64 bits together.
template <class Node>
using Whole = std::conditional_t<std::is_same_v<Node, NarrowNode>, WideNode, Node>;
template <class Node>
__device__ __forceinline__ Whole<Node> as_whole(const Node& node) {
  if constexpr (std::is_same_v<Node, NarrowNode>) {
    return WideNode(Int128{node.sum});
  } else {
    return node;
  }
}

// Combines the nodes of a line's blocks, for a line of n elements. True in the one thread that then has the result: in
// the line's only or last block. Grid: x lines, y parts. `node` is read in thread 0. `nodes` and `counter` are the
// line's.
template <class Node>
__device__ __forceinline__ bool last_block_reduce(const Node& node, int64_t n, Node* nodes, unsigned* counter,
                                                  Node* shared, Whole<Node>& whole) {
  if (gridDim.y == 1) {
    whole = as_whole(node);
    return threadIdx.x == 0;
  }
  if (threadIdx.x == 0) store_node(nodes + blockIdx.y, node);
  if (!is_last_block(counter, gridDim.y)) return false;
  if (std::is_same_v<Node, NarrowNode> && n >= int64_t{1} << 31) {
    __shared__ Whole<Node> wide[32];
    whole = block_fold<Whole<Node>>([&](int64_t i) { return as_whole(load_node(nodes + i)); }, gridDim.y, wide);
  } else {
    whole = as_whole(block_fold<Node>([&](int64_t i) { return load_node(nodes + i); }, gridDim.y, shared));
  }
  return threadIdx.x == 0;
}

// The same for the blocks of a cluster, or for a single block. `node` is read in thread 0 and becomes the line's.
template <class Node>
using Cluster = ClusterNodes<Node, kClusterBlocks>;
template <class Node>
__device__ __forceinline__ bool last_block_reduce(Node& node, Cluster<Node>& cluster) {
  if (gridDim.y > 1) {
    if (!cluster.gather(node)) return false;
    node = warp_tree(threadIdx.x < gridDim.y ? cluster[threadIdx.x] : Node{}, kClusterBlocks);
  }
  return threadIdx.x == 0;
}

}  // namespace gpumem::kernels
