// The textbook ladder of parallel reductions, to measure and to learn from. Later rungs are not always faster.
// Moves: each element of x once. The texts reduce in place; these kernels reduce a copy in shared memory.
// Access: neighbouring threads read neighbouring elements, except in strided.
//   neighbored         adjacent pairs; half of the threads are idle, then three quarters: warps diverge
//   neighbored_packed  adjacent pairs; the first threads work, so whole warps become idle; bank conflicts
//   interleaved        halves; thread t adds element t + h, without bank conflicts
//   unroll2            interleaved; a block adds two data blocks on the way in
//   unroll8_warp       eight data blocks; the last warp uses shuffles, without barriers for the block
//   unroll8_complete   unroll8_warp; the block size is a compile-time constant, so the loop is unrolled
//   strided            each thread reads a contiguous run of x, so neighbouring threads read far apart
//   coalesced          the same share per thread, but neighbouring threads read neighbouring elements
// Shapes: contiguous, aligned i32; sums of elements, magnitudes, squares and cubes.
// Reaches: sum of 2^28, rungs in this order: H200 477, 394, 457, 837, 2419, 2496, 2018 and 3332 GB/s;
//          H100 469, 389, 457, 839, 2286, 2337, 1731 and 2634 GB/s.
// Older texts let the last warp work on volatile shared memory without synchronisation. Since sm_70 that is a data race.
// Sources: M. Harris, Optimizing Parallel Reduction in CUDA (2007); J. Cheng, M. Grossman and T. McKercher, Professional
// CUDA C Programming (2014), chapter 3.
#include "kernels/reduce/blocks.cuh"

namespace gpumem::kernels {
namespace {

enum class LadderStep { neighbored, neighbored_packed, interleaved, unrolled_warp, complete };

constexpr int kThreads = kLadderThreads;

__device__ __forceinline__ int64_t from_above(int64_t v, int distance) {
  return __shfl_down_sync(kWholeWarp, static_cast<long long>(v), distance);
}
__device__ __forceinline__ Int128 from_above(Int128 v, int distance) {
  const unsigned long long low = __shfl_down_sync(kWholeWarp, static_cast<unsigned long long>(v), distance);
  const unsigned long long high =
      __shfl_down_sync(kWholeWarp, static_cast<unsigned long long>(static_cast<Uint128>(v) >> 64), distance);
  return static_cast<Int128>((static_cast<Uint128>(high) << 64) | low);
}

// The term of an element, and the types that hold sums of a block without overflow.
template <gpumem_reduce_op kOp>
struct Term {
  static constexpr bool kWide = kOp == GPUMEM_SUM_SQUARES || kOp == GPUMEM_SUM_CUBES;
  using Value = std::conditional_t<kWide, Int128, int64_t>;
  using Node = std::conditional_t<kWide, WideNode, NarrowNode>;
  __device__ static Value of(int32_t x) {
    const auto v = static_cast<int64_t>(x);
    if constexpr (kOp == GPUMEM_SUM) return v;
    if constexpr (kOp == GPUMEM_SUM_ABS) return v < 0 ? -v : v;
    if constexpr (kOp == GPUMEM_SUM_SQUARES) return static_cast<Value>(v * v);
    if constexpr (kOp == GPUMEM_SUM_CUBES) return static_cast<Value>(v * v) * v;
  }
};

// s[0] becomes the sum of s[0] .. s[kThreads - 1].
template <LadderStep kStep, class Value>
__device__ __forceinline__ Value reduce_shared(Value* s) {
  const int t = threadIdx.x;
  if constexpr (kStep == LadderStep::neighbored) {
    for (int distance = 1; distance < kThreads; distance *= 2) {
      if (t % (2 * distance) == 0) s[t] += s[t + distance];
      __syncthreads();
    }
    return s[0];
  } else if constexpr (kStep == LadderStep::neighbored_packed) {
    for (int distance = 1; distance < kThreads; distance *= 2) {
      const int at = 2 * distance * t;
      if (at < kThreads) s[at] += s[at + distance];
      __syncthreads();
    }
    return s[0];
  } else if constexpr (kStep == LadderStep::interleaved) {
    for (int half = static_cast<int>(blockDim.x) / 2; half > 0; half /= 2) {
      if (t < half) s[t] += s[t + half];
      __syncthreads();
    }
    return s[0];
  } else {
    if constexpr (kStep == LadderStep::complete) {
#pragma unroll
      for (int half = kThreads / 2; half > 32; half /= 2) {
        if (t < half) s[t] += s[t + half];
        __syncthreads();
      }
    } else {
      for (int half = static_cast<int>(blockDim.x) / 2; half > 32; half /= 2) {
        if (t < half) s[t] += s[t + half];
        __syncthreads();
      }
    }
    Value v{};
    if (t < 32) {
      v = s[t] + s[t + 32];
#pragma unroll
      for (int distance = 16; distance > 0; distance /= 2) v += from_above(v, distance);
    }
    return v;
  }
}

template <class Node>
__device__ __forceinline__ void hand_in_sum(const ReduceLaunch& launch, const Node& node, Node* shared) {
  Whole<Node> whole;
  if (!last_block_reduce(node, launch.lines.length, line_nodes<Node>(launch, 0), launch.scratch.counters, shared,
                         whole))
    return;
  if (launch.slot != nullptr) return publish(launch.slot, whole.stored(), launch.ticket);
  store_value(launch, value_of(launch.dtype, launch.op, IntegerNode(whole.stored())), false);
}

// A block takes parts of kDataBlocks x kThreads elements until none is left.
template <gpumem_reduce_op kOp, LadderStep kStep, int kDataBlocks>
__global__ void __launch_bounds__(kThreads, 1024 / kThreads)
    ladder_kernel(const __grid_constant__ ReduceLaunch launch) {
  using Value = typename Term<kOp>::Value;
  using Node = typename Term<kOp>::Node;
  __shared__ Value s[kThreads];
  __shared__ Node shared[32];
  const Line line = line_of(launch, 0, sizeof(int32_t));
  const auto* x = reinterpret_cast<const int32_t*>(line.x);
  Value sum = 0;
  for (int64_t part = blockIdx.y; part * kDataBlocks * kThreads < line.n; part += gridDim.y) {
    Value v{};
#pragma unroll
    for (int i = 0; i < kDataBlocks; ++i) {
      const int64_t at = (part * kDataBlocks + i) * kThreads + threadIdx.x;
      if (at < line.n) v += Term<kOp>::of(x[at]);
    }
    s[threadIdx.x] = v;
    __syncthreads();
    sum += reduce_shared<kStep>(s);
    __syncthreads();
  }
  hand_in_sum(launch, Node(sum), shared);
}

template <gpumem_reduce_op kOp, bool kCoalesced>
__global__ void __launch_bounds__(kThreads, 1024 / kThreads)
    shared_out_kernel(const __grid_constant__ ReduceLaunch launch) {
  using Value = typename Term<kOp>::Value;
  using Node = typename Term<kOp>::Node;
  __shared__ Node shared[32];
  const Line line = line_of(launch, 0, sizeof(int32_t));
  const auto* x = reinterpret_cast<const int32_t*>(line.x);
  const int64_t threads = int64_t{gridDim.y} * kThreads;
  const int64_t me = int64_t{blockIdx.y} * kThreads + threadIdx.x;
  const int64_t share = (line.n + threads - 1) / threads;
  Value sum = 0;
  for (int64_t i = 0; i < share; ++i) {
    const int64_t at = kCoalesced ? i * threads + me : me * share + i;
    if (at < line.n) sum += Term<kOp>::of(x[at]);
  }
  hand_in_sum(launch, block_tree(Node(sum), shared), shared);
}

// Calls f with the operation as a compile-time constant.
template <class F>
cudaError_t for_op(gpumem_reduce_op op, const F& f) {
  switch (addend_of(op)) {
    case Addend::element:
      return f.template operator()<GPUMEM_SUM>();
    case Addend::magnitude:
      return f.template operator()<GPUMEM_SUM_ABS>();
    case Addend::square:
      return f.template operator()<GPUMEM_SUM_SQUARES>();
    case Addend::cube:
      return f.template operator()<GPUMEM_SUM_CUBES>();
    case Addend::dot:
    case Addend::factor:
    case Addend::valid:
    case Addend::present:
      break;
  }
  return cudaErrorInvalidValue;
}

template <LadderStep kStep, int kDataBlocks>
LaunchResult start_ladder(const ReduceLaunch& launch, Stream stream) {
  const dim3 grid(1, static_cast<unsigned>(launch.blocks_per_line));
  return for_op(launch.op, [&]<gpumem_reduce_op kOp>() {
    return enqueue(ladder_kernel<kOp, kStep, kDataBlocks>, grid, kThreads, stream, launch);
  });
}

template <bool kCoalesced>
LaunchResult start_shared_out(const ReduceLaunch& launch, Stream stream) {
  const dim3 grid(1, static_cast<unsigned>(launch.blocks_per_line));
  return for_op(launch.op, [&]<gpumem_reduce_op kOp>() {
    return enqueue(shared_out_kernel<kOp, kCoalesced>, grid, kThreads, stream, launch);
  });
}

}  // namespace

LaunchResult reduce_neighbored(const ReduceLaunch& launch, Stream stream) {
  return start_ladder<LadderStep::neighbored, 1>(launch, stream);
}
LaunchResult reduce_neighbored_packed(const ReduceLaunch& launch, Stream stream) {
  return start_ladder<LadderStep::neighbored_packed, 1>(launch, stream);
}
LaunchResult reduce_interleaved(const ReduceLaunch& launch, Stream stream) {
  return start_ladder<LadderStep::interleaved, 1>(launch, stream);
}
LaunchResult reduce_unroll2(const ReduceLaunch& launch, Stream stream) {
  return start_ladder<LadderStep::interleaved, 2>(launch, stream);
}
LaunchResult reduce_unroll8_warp(const ReduceLaunch& launch, Stream stream) {
  return start_ladder<LadderStep::unrolled_warp, 8>(launch, stream);
}
LaunchResult reduce_unroll8_complete(const ReduceLaunch& launch, Stream stream) {
  return start_ladder<LadderStep::complete, 8>(launch, stream);
}
LaunchResult reduce_strided(const ReduceLaunch& launch, Stream stream) {
  return start_shared_out<false>(launch, stream);
}
LaunchResult reduce_coalesced(const ReduceLaunch& launch, Stream stream) {
  return start_shared_out<true>(launch, stream);
}

}  // namespace gpumem::kernels
