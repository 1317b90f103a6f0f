// Order-free sums (kernels/order_free.hpp).
// Moves: reads each element once, writes one value.
// Access: order_free reads 16-byte words with the grid's stride, 16 terms per thread at a time. order_free_view reads
//         single elements. A group of lanes takes a piece of a row of the last axis. A thread splits its terms into bins
//         of its own. The last block combines the blocks' nodes.
// Shapes: order_free takes contiguous sequences of aligned f32 and f64, order_free_view everything else.
// H200, compared with the sums in order: 2^28 f64 0.99, f32 0.90; up to 2^20 half, because the nodes take 4 to 5 us.
#include <algorithm>

#include "kernels/alignment.hpp"
#include "kernels/division.hpp"
#include "kernels/reduce/ordered.cuh"
#include "kernels/reduce/unordered.cuh"

namespace gpumem::kernels {
namespace {

// The bins of a thread.
template <class Range>
class ThreadBins {
 public:
  __device__ __forceinline__ ThreadBins() { begin(Range::kLeast); }

  // Terms, or the elements of squares.
  template <int kTerms>
  __device__ __forceinline__ void take(double (&term)[kTerms]) {
    uint32_t largest = 0;
#pragma unroll
    for (int k = 0; k < kTerms; ++k) largest = max(largest, high_bits(term[k]));
    if (largest >= limit_) take_large(term);
    if (terms_ > kTermsBetweenCarries - kTerms) carry();
    terms_ += kTerms;
#pragma unroll
    for (int k = 0; k < kTerms; ++k) {
      double t = term[k];
      if constexpr (Range::kShift != 0) t *= scale_;
      if constexpr (Range::kSquares) t *= t;
      deposit(bin_, t, [](double v) { return std::bit_cast<double>(std::bit_cast<uint64_t>(v) | 1); });
    }
  }

  // Of all threads of the warp, for each of them.
  __device__ __forceinline__ OrderFreeNode warp_node() {
    carry();
    int level = level_;
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
      level = max(level, __shfl_xor_sync(kWholeWarp, level, distance));
      special_ |= __shfl_xor_sync(kWholeWarp, special_, distance);
    }
    raise_bins(carried_, level - level_);
    Int128 sum[kBins];
#pragma unroll
    for (int b = 0; b < kBins; ++b) {
      int64_t low = carried_[b] & static_cast<int64_t>(kLowHalf);
      int64_t high = carried_[b] >> 32;
#pragma unroll
      for (int distance = 1; distance < 32; distance *= 2) {
        low += shuffle_xor(low, distance);
        high += shuffle_xor(high, distance);
      }
      sum[b] = joined_halves(low, high);
    }
    return {level, sum, special_};
  }

 private:
  __device__ static __forceinline__ uint32_t high_bits(double v) {
    return static_cast<uint32_t>(std::bit_cast<uint64_t>(v) >> 32) & 0x7fffffffu;
  }
  __device__ __forceinline__ void begin(int level) {
    level_ = level;
    limit_ = static_cast<uint32_t>(limit_of<Range>(level)) << 20;
    scale_ = scale_of<Range>(level);
#pragma unroll
    for (int b = 0; b < kBins; ++b) bin_[b] = std::bit_cast<double>(start_of<Range>(level, b));
  }
  __device__ __forceinline__ void carry() {
#pragma unroll
    for (int b = 0; b < kBins; ++b) {
      const uint64_t start = start_of<Range>(level_, b);
      carried_[b] += static_cast<int64_t>(std::bit_cast<uint64_t>(bin_[b]) - start);
      bin_[b] = std::bit_cast<double>(start);
    }
    terms_ = 0;
  }
  // A term needs a higher level, or is not finite.
  template <int kTerms>
  __device__ __forceinline__ void take_large(double (&term)[kTerms]) {
    uint32_t most = 0;
#pragma unroll
    for (int k = 0; k < kTerms; ++k) {
      const uint32_t bits = high_bits(term[k]);
      if (bits >= 2047u << 20) {
        special_ |= special_of(Range::kSquares ? term[k] * term[k] : term[k]);
        term[k] = 0;
      } else {
        most = max(most, bits);
      }
    }
    if (most < limit_) return;
    carry();
    const int level = level_of<Range>(static_cast<int>(most >> 20));
    raise_bins(carried_, level - level_);
    begin(level);
  }

  double bin_[kBins];
  int64_t carried_[kBins] = {};
  double scale_;
  uint32_t limit_;  // of high_bits()
  int level_;
  int terms_ = 0;  // since the last carry
  uint32_t special_ = 0;
};

constexpr int kWarps = kElementThreads / 32;

struct Ending {
  gpumem_reduce_op op;
  uint32_t ticket;
  ReduceSlot* slot;
  void* result;
  gpumem_status* status;
  int64_t* index;
  OrderFreeNode* nodes;
  unsigned* counter;
};

// From the nodes of all warps to the result. Each kernel has its own copy, so that the code is short rather than fast:
// the only combination of two nodes is in a loop over the steps of the block, of the last block's threads, and of its
// warps.
__device__ __noinline__ void finish(const Ending& end, OrderFreeNode node) {
  __shared__ OrderFreeNode shared[kWarps];
  bool last = gridDim.y == 1;
  int64_t left = 0;  // nodes of blocks that are still to be loaded
  int lanes = 1;     // that are still to be combined
#pragma unroll 1
  for (bool of_block = false;;) {
    OrderFreeNode other;
    if (left > 0) {
      other = load_node(end.nodes + (gridDim.y - left) + threadIdx.x % min(left, int64_t{kElementThreads}));
      if (threadIdx.x >= left) other = OrderFreeNode{};
      left -= min(left, int64_t{kElementThreads});
    } else if (lanes > 1) {
      lanes /= 2;
      other = shuffle_xor(node, lanes);
    } else if (!of_block) {
      if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = node;
      __syncthreads();
      if (threadIdx.x >= 32 && last) return;
      node = shared[threadIdx.x % kWarps];
      lanes = kWarps;
      of_block = true;
      continue;
    } else if (!last) {
      if (threadIdx.x == 0) store_node(end.nodes + blockIdx.y, node);
      if (!is_last_block(end.counter, gridDim.y)) return;
      node = OrderFreeNode{};
      left = gridDim.y;
      while (lanes < 32 && lanes < gridDim.y) lanes *= 2;
      last = true;
      of_block = gridDim.y <= 32;  // then the first warp has all nodes
      continue;
    } else {
      break;
    }
    node = combine(node, other);
  }
  if (threadIdx.x != 0) return;
  if (end.slot != nullptr) return publish(end.slot, node.stored(), end.ticket);
  store_value(end, value_of(GPUMEM_F64, end.op, node, Root{}), false);
}

template <gpumem_dtype kType, Addend kAddend>
using RangeOf = std::conditional_t<kType != GPUMEM_F64, NarrowTerms,
                                   std::conditional_t<kAddend == Addend::square, SquaredTerms, WideTerms>>;

// SquaredTerms forms the squares of f64 itself.
template <gpumem_dtype kType, Addend kAddend>
__device__ __forceinline__ double term_from(double x, double y) {
  if constexpr (kAddend == Addend::dot) return x * y;
  return kAddend == Addend::square && kType != GPUMEM_F64 ? x * x : x;
}

struct WordsLaunch {
  WordSpan x;
  uint64_t y;  // address of its first whole word; its ends are as those of x
  Ending end;
};

template <gpumem_dtype kType, Addend kAddend>
__global__ void __launch_bounds__(kElementThreads, kOrderFreeResident)
    order_free_kernel(const __grid_constant__ WordsLaunch launch) {
  using E = Elements<kType>;
  constexpr bool kTwo = kAddend == Addend::dot;
  constexpr int kWords = kOrderFreeTerms / E::kPerWord;
  synchronize_and_trigger();
  ThreadBins<RangeOf<kType, kAddend>> bins;
  const WordSpan& span = launch.x;
  const auto* x = reinterpret_cast<const uint4*>(span.words);
  const auto* y = reinterpret_cast<const uint4*>(launch.y);
  int64_t at = int64_t{blockIdx.y} * (kElementThreads * kWords) + threadIdx.x;
  const int64_t step = int64_t{gridDim.y} * (kElementThreads * kWords);
  bool ends = blockIdx.y == 0 && threadIdx.x < span.head + span.after;
#pragma unroll 1
  while (at < span.count || ends) {
    double term[kOrderFreeTerms];
    if (at < span.count) {
      uint4 of_x[kWords];
      uint4 of_y[kWords];
#pragma unroll
      for (int i = 0; i < kWords; ++i) {
        const int64_t word = at + i * kElementThreads;
        of_x[i] = word < span.count ? __ldcs(x + word) : uint4{};
        if constexpr (kTwo) of_y[i] = word < span.count ? __ldcs(y + word) : uint4{};
      }
#pragma unroll
      for (int k = 0; k < kOrderFreeTerms; ++k) {
        const double other = kTwo ? E::at(of_y[k / E::kPerWord], k % E::kPerWord) : 0;
        term[k] = term_from<kType, kAddend>(E::at(of_x[k / E::kPerWord], k % E::kPerWord), other);
      }
      at += step;
    } else {
      const auto i = static_cast<int64_t>(threadIdx.x);
      const int64_t place = i < span.head ? i - span.head : span.count * E::kPerWord + i - span.head;
      const auto element = [place](uint64_t words) {
        return to_double<kType>(element_bits<E::kBytes>(reinterpret_cast<const char*>(words), place));
      };
      term[0] = term_from<kType, kAddend>(element(span.words), kTwo ? element(launch.y) : 0);
#pragma unroll
      for (int k = 1; k < kOrderFreeTerms; ++k) term[k] = 0;
      ends = false;
    }
    bins.take(term);
  }
  finish(launch.end, bins.warp_node());
}

// Offsets are in bytes. Axis 0 is the last one of the view.
struct ViewOperand {
  const char* data;
  int64_t stride[kMaxReduceRank];
};
constexpr int kElementsOfLane = 8;
struct ViewLaunch {
  ViewOperand x;
  ViewOperand y;
  int64_t extent[kMaxReduceRank];
  int64_t pieces;  // of a row, of lanes * kElementsOfLane elements each
  int64_t all;     // pieces of all rows
  int32_t rank;
  int32_t lanes;  // per piece, a power of two
  bool aligned;
  gpumem_dtype dtype;
  Ending end;
};

// Elements of a row, `step` bytes apart, for those of kElementsOfLane that exist. All are loaded before one is used.
template <int kBytes>
__device__ __forceinline__ void load_row(double (&v)[kElementsOfLane], const char* p, int64_t step, int count,
                                         gpumem_dtype dtype, bool aligned) {
  UnsignedOf<kBytes> bits[kElementsOfLane];
#pragma unroll
  for (int k = 0; k < kElementsOfLane; ++k) {
    bits[k] = 0;
    if (aligned && k < count) bits[k] = __ldcs(reinterpret_cast<const UnsignedOf<kBytes>*>(p + k * step));
  }
  if (!aligned) {
#pragma unroll
    for (int k = 0; k < kElementsOfLane; ++k) {
#pragma unroll 1
      for (int i = 0; i < kBytes && k < count; ++i) {
        const auto byte = static_cast<UnsignedOf<kBytes>>(static_cast<uint8_t>(p[k * step + i]));
        bits[k] = static_cast<UnsignedOf<kBytes>>(bits[k] | byte << (8 * i));
      }
    }
  }
#pragma unroll
  for (int k = 0; k < kElementsOfLane; ++k) {
    if constexpr (kBytes == 8) v[k] = to_double<GPUMEM_F64>(bits[k]);
    if constexpr (kBytes == 4) v[k] = to_double<GPUMEM_F32>(bits[k]);
    if constexpr (kBytes == 2) v[k] = to_double(dtype, bits[k]);
  }
}

template <int kBytes, class Range>
__global__ void __launch_bounds__(kElementThreads) order_free_view_kernel(const __grid_constant__ ViewLaunch launch) {
  synchronize_and_trigger();
  ThreadBins<Range> bins;
  const int64_t groups = int64_t{gridDim.y} * (kElementThreads / launch.lanes);
  const int lane = static_cast<int>(threadIdx.x) % launch.lanes;
  const bool squares = !Range::kSquares && addend_of(launch.end.op) == Addend::square;
  const bool two = launch.y.data != nullptr;
#pragma unroll 1
  for (int64_t piece = (int64_t{blockIdx.y} * kElementThreads + threadIdx.x) / launch.lanes; piece < launch.all;
       piece += groups) {
    const Quotient row(piece, launch.pieces);
    const int64_t first = row.rest * launch.lanes * kElementsOfLane + lane;
    const int64_t left = launch.extent[0] - first;
    const int64_t most = int64_t{launch.lanes} * kElementsOfLane;
    const int count = (static_cast<int>(left < most ? left : most) + launch.lanes - 1) / launch.lanes;
    const char* x = launch.x.data + first * launch.x.stride[0];
    const char* y = launch.y.data + first * launch.y.stride[0];
    int64_t rest = row.quotient;
#pragma unroll 1
    for (int d = 1; d < launch.rank; ++d) {
      const Quotient q(rest, launch.extent[d]);
      rest = q.quotient;
      x += q.rest * launch.x.stride[d];
      y += q.rest * launch.y.stride[d];
    }
    double term[kElementsOfLane];
    load_row<kBytes>(term, x, launch.lanes * launch.x.stride[0], count, launch.dtype, launch.aligned);
    if (two) {
      double other[kElementsOfLane];
      load_row<kBytes>(other, y, launch.lanes * launch.y.stride[0], count, launch.dtype, launch.aligned);
#pragma unroll
      for (int k = 0; k < kElementsOfLane; ++k) term[k] *= other[k];
    } else if (squares) {
#pragma unroll
      for (int k = 0; k < kElementsOfLane; ++k) term[k] *= term[k];
    }
    bins.take(term);
  }
  finish(launch.end, bins.warp_node());
}

Ending ending_of(const ReduceLaunch& launch) noexcept {
  return {launch.op,
          launch.ticket,
          launch.slot,
          launch.result,
          launch.status,
          launch.index,
          static_cast<OrderFreeNode*>(launch.scratch.nodes),
          launch.scratch.counters};
}

template <class F>
cudaError_t for_words(gpumem_dtype dtype, gpumem_reduce_op op, const F& f) {
  const auto of_type = [&]<gpumem_dtype kType>() {
    const Addend addend = addend_of(op);
    return addend == Addend::dot      ? f.template operator()<kType, Addend::dot>()
           : addend == Addend::square ? f.template operator()<kType, Addend::square>()
                                      : f.template operator()<kType, Addend::element>();
  };
  return dtype == GPUMEM_F32 ? of_type.template operator()<GPUMEM_F32>() : of_type.template operator()<GPUMEM_F64>();
}

}  // namespace

LaunchResult reduce_order_free(const ReduceLaunch& launch, Stream stream) {
  return for_words(launch.dtype, launch.op, [&]<gpumem_dtype kType, Addend kAddend>() {
    const auto x = reinterpret_cast<uintptr_t>(launch.x);
    WordsLaunch words{word_span(x, launch.lines.length, element_bytes(kType)), 0, ending_of(launch)};
    if (launch.y != nullptr) words.y = reinterpret_cast<uintptr_t>(launch.y) + (words.x.words - x);
    return enqueue_programmatic(order_free_kernel<kType, kAddend>, lines_grid(launch), kElementThreads, stream, words);
  });
}

// Terms of shorter types are also WideTerms, at the same levels: none of them is below the least level of NarrowTerms.
LaunchResult reduce_order_free_view(const ReduceLaunch& launch, Stream stream) {
  const int bytes = element_bytes(launch.dtype);
  const ReduceView given = launch.view != nullptr ? *launch.view : ReduceView{};
  ViewLaunch view{};
  view.x = {static_cast<const char*>(launch.x), {launch.lines.stride * bytes}};
  view.y = {static_cast<const char*>(launch.y), {launch.y_stride * bytes}};
  view.extent[0] = launch.lines.length;
  view.rank = std::max(given.rank, 1);
  for (int32_t d = 0; d < given.rank; ++d) {
    const int32_t from = given.rank - 1 - d;
    view.extent[d] = given.extents[from];
    view.x.stride[d] = given.strides[from] * bytes;
    view.y.stride[d] = given.y_strides[from] * bytes;
  }
  view.lanes = 1;
  while (view.lanes < 32 && view.lanes < view.extent[0]) view.lanes *= 2;
  const int64_t of_piece = int64_t{view.lanes} * kElementsOfLane;
  view.pieces = (view.extent[0] + of_piece - 1) / of_piece;
  view.all = launch.lines.length / view.extent[0] * view.pieces;
  view.aligned = aligned(launch.x, bytes) && aligned(launch.y, bytes);
  view.dtype = launch.dtype;
  view.end = ending_of(launch);
  const bool squared = bytes == 8 && addend_of(launch.op) == Addend::square;
  const auto kernel = squared      ? order_free_view_kernel<8, SquaredTerms>
                      : bytes == 8 ? order_free_view_kernel<8, WideTerms>
                      : bytes == 4 ? order_free_view_kernel<4, WideTerms>
                                   : order_free_view_kernel<2, WideTerms>;
  return enqueue_programmatic(kernel, lines_grid(launch), kElementThreads, stream, view);
}

}  // namespace gpumem::kernels
