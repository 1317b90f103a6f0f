// Any lines: any stride, any alignment, every type and operation, decided at run time. A warp takes 1024 elements at a time, a
// lane every 32nd of them; elements that are not aligned are put together from bytes. The plain form, which accepts what the
// faster ones do not.
#include "kernels/reduce/blocks.cuh"

namespace gpumem::kernels {
namespace {

__device__ __forceinline__ uint64_t load_bits(const char* p, int bytes) {
  if (reinterpret_cast<uintptr_t>(p) % bytes == 0) {
    switch (bytes) {
      case 1:
        return *reinterpret_cast<const uint8_t*>(p);
      case 2:
        return *reinterpret_cast<const uint16_t*>(p);
      case 4:
        return *reinterpret_cast<const uint32_t*>(p);
      default:
        return *reinterpret_cast<const unsigned long long*>(p);
    }
  }
  uint64_t bits = 0;
  for (int i = 0; i < bytes; ++i) bits |= static_cast<uint64_t>(reinterpret_cast<const uint8_t*>(p)[i]) << (8 * i);
  return bits;
}

// The elements of a line by their index.
class Sequence {
 public:
  __device__ Sequence(const ReduceLaunch& launch, const Line& line)
      : line_(line),
        dtype_(launch.dtype),
        op_(launch.op),
        bytes_(element_bytes(launch.dtype)),
        pitch_(launch.lines.stride * bytes_),
        y_pitch_(launch.y_stride * bytes_) {}

  __device__ uint64_t bits(int64_t i) const { return load_bits(line_.x + i * pitch_, bytes_); }
  __device__ uint64_t y_bits(int64_t i) const { return load_bits(line_.y + i * y_pitch_, bytes_); }

  // The node of one element.
  __device__ IntegerNode node(int64_t i, IntegerNode) const {
    return integer_term(dtype_, op_, extend(dtype_, bits(i)));
  }
  __device__ RangeNode node(int64_t i, RangeNode) const {
    const uint64_t key = key_of(dtype_, bits(i));
    return {key, key};
  }
  __device__ ArgNode node(int64_t i, ArgNode) const { return {rank_of(dtype_, op_, key_of(dtype_, bits(i))), i}; }
  __device__ SumNode node(int64_t i, SumNode) const {
    const double x = to_double(dtype_, bits(i));
    return SumNode(op_ == GPUMEM_DOT ? x * to_double(dtype_, y_bits(i)) : sum_term(op_, x));
  }
  __device__ CompensatedNode node(int64_t i, CompensatedNode) const {
    return CompensatedNode(to_double(dtype_, bits(i)));
  }
  __device__ NormNode node(int64_t i, NormNode) const { return norm_term(to_double(dtype_, bits(i))); }

 private:
  const Line& line_;
  gpumem_dtype dtype_;
  gpumem_reduce_op op_;
  int bytes_;
  int64_t pitch_;
  int64_t y_pitch_;
};

// Leaf q, whole in every lane. Lane l has the positions l, l + 32, l + 64 and l + 96.
template <class Node>
__device__ __forceinline__ Node leaf_node(const Sequence& sequence, int64_t q, int64_t n) {
  const int64_t first = q * kLeafTerms + threadIdx.x % 32;
  Node a[4];
#pragma unroll 2
  for (int r = 0; r < kLeafRows; ++r) {
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const int64_t i = first + r * kLeafLanes + 32 * k;
      if (i < n) a[k] = combine(a[k], sequence.node(i, Node{}));
    }
  }
  Node node = combine(combine(a[0], a[2]), combine(a[1], a[3]));
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) node = combine(node, shuffle_xor(node, distance));
  return node;
}

// Blocks of a multiprocessor, or 0 for as many as there is room for: left alone, sums of integers take the registers of two.
template <class Node>
constexpr int kResident = std::is_same_v<Node, IntegerNode> ? 3 : 0;

template <class Node>
__global__ void __launch_bounds__(kElementThreads, kResident<Node>)
    strided_scalar_kernel(const __grid_constant__ ReduceLaunch launch) {
  constexpr int kWarps = kElementThreads / 32;
  __shared__ Node shared[32];
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
    if (hand_in(stack.whole(), line.n, line_nodes<Node>(launch, index), launch.scratch.counters + index, shared,
                whole)) {
      const ReduceNode node = whole.stored();
      if (launch.lines.many) {
        finish_line<Node::kind>(launch, index, line, node);
      } else if (launch.slot != nullptr) {
        publish(launch.slot, node, launch.ticket);
      } else {
        store_value(launch, value_of(launch.dtype, launch.op, node, Root{}), launch.op == GPUMEM_MIN_MAX);
      }
    }
    __syncthreads();
  }
}

}  // namespace

cudaError_t reduce_strided_scalar(const ReduceLaunch& launch, Stream stream) {
  return with_node(node_kind(launch.dtype, launch.op), [&](auto node) {
    return enqueue(strided_scalar_kernel<decltype(node)>, lines_grid(launch), kElementThreads, stream, launch);
  });
}

}  // namespace gpumem::kernels
