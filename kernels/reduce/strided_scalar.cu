// Reductions of any of many lines.
// Moves: reads x once, writes one value per line.
// Access: a warp takes 1024 elements at a time, every 32nd per lane. Misaligned elements are assembled from bytes.
// Shapes: any stride, alignment, type and operation, decided at run time. Faster kernels accept less.
#include "kernels/reduce/keys.cuh"
#include "kernels/reduce/unordered.cuh"

namespace gpumem::kernels {
namespace {

constexpr int kAtOnce = 8;  // elements per lane

// Loads the elements 0, 32, ... below n, all at once. Elements that are not aligned are read by bytes.
template <int kBytes>
__device__ __forceinline__ void load_aligned(uint64_t (&bits)[kAtOnce], const char* p, int64_t pitch, int64_t n) {
#pragma unroll
  for (int i = 0; i < kAtOnce; ++i) {
    if (32 * i < n) bits[i] = element_bits<kBytes>(p + 32 * i * pitch, 0);
  }
}
__device__ __forceinline__ void load_bits(uint64_t (&bits)[kAtOnce], const char* p, int64_t pitch, int64_t n,
                                          gpumem_dtype dtype) {
  const int bytes = element_bytes(dtype);
  if (reinterpret_cast<uintptr_t>(p) % bytes == 0) {
    return for_element_size(dtype, [&]<int kBytes>() { load_aligned<kBytes>(bits, p, pitch, n); });
  }
#pragma unroll
  for (int i = 0; i < kAtOnce; ++i) {
    for (int k = 0; k < bytes && 32 * i < n; ++k) {
      bits[i] |= static_cast<uint64_t>(reinterpret_cast<const uint8_t*>(p + 32 * i * pitch)[k]) << (8 * k);
    }
  }
}

class Sequence {
 public:
  __device__ Sequence(const ReduceLaunch& launch, const Line& line)
      : line_(line), dtype_(launch.dtype), op_(launch.op), pitch_(launch.lines.stride * element_bytes(launch.dtype)) {}

  // Enters elements i, i + 32, ... into a[0], ..., a[3], a[0], ....
  template <class Node>
  __device__ __forceinline__ void enter(Node (&a)[4], int64_t i) const {
    uint64_t x[kAtOnce] = {};
    load_bits(x, line_.x + i * pitch_, pitch_, line_.n - i, dtype_);
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) {
      if (i + 32 * k < line_.n) a[k % 4] = combine(a[k % 4], node(x[k], i + 32 * k, Node{}));
    }
  }

 private:
  __device__ IntegerNode node(uint64_t x, int64_t, IntegerNode) const {
    return integer_term(dtype_, op_, extend(dtype_, x));
  }
  __device__ IntegerProductNode node(uint64_t x, int64_t, IntegerProductNode) const {
    return integer_factor(dtype_, extend(dtype_, x));
  }
  __device__ RangeNode node(uint64_t x, int64_t, RangeNode) const {
    const uint64_t key = range_key(dtype_, op_, x);
    return {key, key};
  }
  __device__ ArgNode node(uint64_t x, int64_t i, ArgNode) const { return {rank_of(dtype_, op_, key_of(dtype_, x)), i}; }
  __device__ SumNode node(uint64_t x, int64_t, SumNode) const { return SumNode(sum_term(op_, to_double(dtype_, x))); }
  __device__ ProductNode node(uint64_t x, int64_t, ProductNode) const { return ProductNode(to_double(dtype_, x)); }
  __device__ CompensatedNode node(uint64_t x, int64_t, CompensatedNode) const {
    return CompensatedNode(to_double(dtype_, x));
  }

  const Line& line_;
  gpumem_dtype dtype_;
  gpumem_reduce_op op_;
  int64_t pitch_;
};

// Leaf q, for every lane. Lane l has positions l, l + 32, l + 64 and l + 96.
template <class Node>
__device__ __forceinline__ Node leaf_node(const Sequence& sequence, int64_t q, int64_t n) {
  const int64_t first = q * kLeafTerms;
  Node a[4];
#pragma unroll 1
  for (int64_t at = first; at < min(n, first + kLeafTerms); at += 32 * kAtOnce) {
    sequence.enter(a, at + threadIdx.x % 32);
  }
  Node node = combine(combine(a[0], a[2]), combine(a[1], a[3]));
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) node = combine(node, shuffle_xor(node, distance));
  return node;
}

// Blocks per multiprocessor; 0: no bound. Without a bound, sums of integers use the registers of two blocks.
template <class Node>
constexpr int kResident = std::is_same_v<Node, IntegerNode> ? 3 : 0;

template <class Node>
__global__ void __launch_bounds__(kElementThreads, kResident<Node>)
    strided_scalar_kernel(const __grid_constant__ ReduceLaunch launch) {
  constexpr int kWarps = kElementThreads / 32;
  __shared__ Node shared[32];
  begin_lines(launch);
  for (int64_t index = blockIdx.x; index < launch.lines.count; index += gridDim.x) {
    const Line line = line_of(launch, index, element_bytes(launch.dtype));
    const Sequence sequence(launch, line);
    const int64_t all = (line.n + kLeafTerms - 1) / kLeafTerms;
    const int64_t tile = gridDim.y == 1 ? all : launch.tile / kLeafTerms;
    const int64_t first = blockIdx.y * tile;
    const int64_t last = first + tile < all ? first + tile : all;
    TreeStack<Node, 34> stack;
    for (int64_t q = first; q < last; q += kWarps) {
      const int64_t mine = q + threadIdx.x / 32;
      const Node leaf = mine < last ? leaf_node<Node>(sequence, mine, line.n) : Node{};
      if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = leaf;
      __syncthreads();
      if (threadIdx.x < 32) stack.push(warp_tree(threadIdx.x < kWarps ? shared[threadIdx.x] : Node{}));
      __syncthreads();
    }
    Whole<Node> whole;
    if (last_block_reduce(stack.whole(), line.n, line_nodes<Node>(launch, index), launch.scratch.counters + index,
                          shared, whole)) {
      finish_line<Node::kind>(launch, index, line, whole.stored());
    }
    __syncthreads();
  }
}

}  // namespace

LaunchResult reduce_strided_scalar(const ReduceLaunch& launch, Stream stream) {
  return with_node(node_kind(launch.dtype, launch.op), [&](auto node) -> LaunchResult {
    if constexpr (std::is_same_v<decltype(node), NormNode> || decltype(node)::kind == NodeKind::order_free) {
      return cudaErrorInvalidValue;  // not of lines
    } else {
      return enqueue(strided_scalar_kernel<decltype(node)>, lines_grid(launch), kElementThreads, stream, launch);
    }
  });
}

}  // namespace gpumem::kernels
