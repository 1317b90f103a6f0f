// Reductions that need no order: integers, ranges, searches. One launch.
// Moves: reads x once, writes one value per line.
// Access: 16-byte words, eight in flight per thread. A warp takes a chunk of 4 KiB at a time, a block a contiguous tile
//         of chunks. A line's last block combines the blocks' nodes. Elements before the first 16-byte boundary and
//         after the last are taken one per thread.
// Shapes: contiguous lines of aligned elements.
#pragma once

#include "kernels/reduce/blocks.cuh"
#include "kernels/reduce/spans.hpp"

namespace gpumem::kernels {

template <int kBytes>
__device__ __forceinline__ uint64_t element_bits(const char* x, int64_t i) {
  return reinterpret_cast<const UnsignedOf<kBytes>*>(x)[i];
}

// A State accumulates the words of one thread:
//   begin(word)               the thread's first word of a chunk
//   prepare(words)            optional: all its words of the chunk
//   take(word, number)        each word
//   end()                     the end of the chunk
//   take_element(bits, index) a single element
//   node()                    the block's node, in thread 0
//   value(...)                the value of the last node

// The words of a chunk, one per step. `left` words remain from the lane's first one on.
template <class State, int kWords>
__device__ __forceinline__ void take_words(State& state, uint4 (&v)[kWords], int left) {
  if constexpr (requires { state.prepare(v); }) state.prepare(v);
#pragma unroll
  for (int i = 0; i < kWords; ++i) {
    if (i * 32 < left) state.take(v[i], i);
  }
  state.end();
}

template <class State>
__device__ __forceinline__ void take_chunks(State& state, const WordSpan& span, int first, int last) {
  const int lane = threadIdx.x % 32;
  const int warps = blockDim.x / 32;
  const auto* words = reinterpret_cast<const uint4*>(span.words) + lane;
  int chunk = first + threadIdx.x / 32;
  for (; chunk < min(last, span.full_chunks); chunk += warps) {
    const int64_t at = static_cast<int64_t>(chunk) * (32 * kChunkWords);
    state.begin(at + lane);
    uint4 v[kChunkWords];
#pragma unroll
    for (int i = 0; i < kChunkWords; ++i) v[i] = __ldcs(words + at + i * 32);
    take_words(state, v, 32 * kChunkWords);
  }
  if (chunk >= last) return;
  const int64_t at = static_cast<int64_t>(chunk) * (32 * kChunkWords);
  const auto left = static_cast<int>(span.count - at) - lane;
  if (left <= 0) return;
  state.begin(at + lane);
  uint4 v[kChunkWords];
#pragma unroll
  for (int i = 0; i < kChunkWords; ++i) v[i] = i * 32 < left ? __ldcs(words + at + i * 32) : uint4{};
  take_words(state, v, left);
}

// Head and tail, fewer than 16 elements each, by the first warp.
template <class State>
__device__ __forceinline__ void take_ends(State& state, const WordSpan& span) {
  const auto* x = reinterpret_cast<const char*>(span.words);
  const int i = threadIdx.x;
  if (i < span.head) state.take_element(element_bits<State::kBytes>(x, i - span.head), i);
  const int from_end = 31 - i;  // by other threads than the head
  if (from_end >= 0 && from_end < span.after) {
    const int64_t after_head = span.count * (16 / State::kBytes) + from_end;
    state.take_element(element_bits<State::kBytes>(x, after_head), span.head + after_head);
  }
}

// A whole short line. Each warp has a chunk of half the size and loads all its words at once.
constexpr int kFewWords = kChunkWords / 2;
template <class State>
__device__ __forceinline__ void take_single_tile(State& state, const WordSpan& span) {
  const int lane = threadIdx.x % 32;
  const int first = (blockIdx.y * blockDim.x + threadIdx.x) / 32 * (32 * kFewWords) + lane;
  const int left = static_cast<int>(span.count) - first;
  if (left <= 0) return;
  const auto* words = reinterpret_cast<const uint4*>(span.words) + first;
  state.begin(first);
  uint4 v[kFewWords];
#pragma unroll
  for (int i = 0; i < kFewWords; ++i) v[i] = i * 32 < left ? __ldcs(words + i * 32) : uint4{};
  take_words(state, v, left);
}

template <class State>
__device__ __forceinline__ typename State::Node part_node(State& state, const WordSpan& span, int steps,
                                                          typename State::Node* shared) {
  const int first = blockIdx.y * steps;
  take_chunks(state, span, first, min(first + steps, span.chunks));
  if (blockIdx.y == 0 && (span.head | span.after) != 0) take_ends(state, span);
  return state.node(span, shared);
}

template <class State>
__global__ void __launch_bounds__(kTileThreads, 1024 / kTileThreads)
    tile_kernel(const __grid_constant__ Sequence<WordSpan> launch) {
  using Node = typename State::Node;
  __shared__ Node shared[32];
  synchronize_and_trigger();
  State state(launch.dtype, launch.op);
  const Node node = part_node(state, launch.span, launch.steps, shared);
  const int64_t n = launch.span.head + launch.span.count * (16 / State::kBytes) + launch.span.after;
  Whole<Node> whole;
  if (!last_block_reduce(node, n, static_cast<Node*>(launch.nodes), launch.counter, shared, whole)) return;
  if (launch.slot != nullptr) return publish(launch.slot, whole.stored(), launch.ticket);
  store_value(launch, State::value(launch.dtype, launch.op, whole), launch.op == GPUMEM_MIN_MAX);
}

template <class State>
__global__ void __launch_bounds__(64 * kSingleTileChunks)
    single_tile_kernel(const __grid_constant__ Sequence<WordSpan> launch) {
  using Node = typename State::Node;
  __shared__ Node shared[32];
  __shared__ Cluster<Node> cluster;
  if (gridDim.y > 1) cluster.begin();
  synchronize_and_trigger();
  State state(launch.dtype, launch.op);
  take_single_tile(state, launch.span);
  if (blockIdx.y == 0 && (launch.span.head | launch.span.after) != 0) take_ends(state, launch.span);
  Node node = state.node(launch.span, shared);
  if (!last_block_reduce(node, cluster)) return;
  if (launch.slot != nullptr) return publish(launch.slot, node.stored(), launch.ticket);
  store_aligned_value<State::kValues>(launch, State::value(launch.dtype, launch.op, node));
}

// FewState: a State for kFewWords words at a time, if it depends on that.
template <class State, class FewState = State>
cudaError_t start_tiles(const ReduceLaunch& launch, Stream stream) {
  static_assert(State::kValues == FewState::kValues);
  const WordSpan span = word_span(reinterpret_cast<uintptr_t>(launch.x), launch.lines.length, State::kBytes);
  if (launch.single_tile) {
    return enqueue_programmatic<Blocks::cluster>(single_tile_kernel<FewState>, lines_grid(launch), launch.block, stream,
                                                 sequence_of(launch, span, {}, 0));
  }
  const auto steps = static_cast<int32_t>(launch.tile / (kChunkBytes / State::kBytes));
  return enqueue_programmatic(tile_kernel<State>, lines_grid(launch), launch.block, stream,
                              sequence_of(launch, span, {}, launch.blocks_per_line == 1 ? span.chunks : steps));
}

}  // namespace gpumem::kernels
