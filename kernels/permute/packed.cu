// Permutations by boxes over several axes (kernels/permute_packed.hpp): 2 * elements * element bytes, and what neighbouring boxes
// share. A block reads a box row by row in the order of src, a thread at a place of its own in each row, and leaves it in shared
// memory in the order of dst; then it writes lines of dst. Where a thread's elements lie is taken apart into indices once a block:
// along a row in its registers, of each row and line in two tables in shared memory. A line that begins between sectors of 32 bytes
// is written by lanes that begin on one, and where it goes on in the next box, it is cut on one too, so that hardly a sector is
// written twice.
#include <bit>

#include "kernels/division.hpp"
#include "kernels/permute/words.cuh"
#include "kernels/permute_packed.hpp"

namespace gpumem::kernels {
namespace {

// Loads that a thread has under way at once.
constexpr int in_flight(int bytes) { return bytes == 16 ? 4 : bytes == 8 ? 6 : 8; }

// Axes that the number of an element of a box is taken apart into, the first one fastest.
struct Places {
  int32_t rank = 0;
  Divisor<uint32_t> extent[kMaxPermuteRank];
  uint32_t stride[kMaxPermuteRank];  // in src or dst, elements
  uint32_t weight[kMaxPermuteRank];  // in shared memory
};

struct Place {
  uint32_t outside = 0;
  uint32_t shared = 0;
};

__device__ __forceinline__ Place place_of(uint32_t number, const Places& places) {
  Place at;
#pragma unroll
  for (int d = 0; d < kMaxPermuteRank; ++d) {
    if (d >= places.rank) break;
    const uint32_t rest = places.extent[d].quotient(number);
    const uint32_t index = number - rest * places.extent[d].value;
    at.outside += index * places.stride[d];
    at.shared += index * places.weight[d];
    number = rest;
  }
  return at;
}

// Axes along which there are several boxes.
struct Boxes {
  int32_t rank = 0;
  Divisor<uint32_t> count[kMaxPermuteRank];
  int64_t step[kMaxPermuteRank];
  int64_t last[kMaxPermuteRank];  // where the last box begins
  int64_t src_stride[kMaxPermuteRank];
  int64_t dst_stride[kMaxPermuteRank];
};

struct Packed {
  const void* src;
  void* dst;
  uint32_t boxes;
  uint32_t boxes_a_block;
  Boxes outer;
  int32_t cut;  // which of them lines are cut along; -1: none
  Divisor<uint32_t> cols;
  Places of_col;
  int32_t rows;
  int32_t rows_at_once;
  Divisor<uint32_t> rows_each;
  Places of_row;
  int32_t run;
  int32_t run_step;
  int32_t pieces;  // of all lines
  Divisor<uint32_t> pieces_a_line;
  Places of_line;
  uint32_t sector_mask;
};

// Where a box begins, and what of a line it has to write: from the first boundary on unless it is the first of the line.
struct Origin {
  int64_t src = 0;
  int64_t dst = 0;
  bool first = true;
  bool last = true;
};

__device__ __forceinline__ Origin origin_of(uint32_t box, const Packed& p) {
  Origin at;
#pragma unroll
  for (int d = 0; d < kMaxPermuteRank; ++d) {
    if (d >= p.outer.rank) break;
    const uint32_t rest = p.outer.count[d].quotient(box);
    const uint32_t number = box - rest * p.outer.count[d].value;
    const bool is_last = number + 1 == p.outer.count[d].value;
    const int64_t index = is_last ? p.outer.last[d] : number * p.outer.step[d];
    at.src += index * p.outer.src_stride[d];
    at.dst += index * p.outer.dst_stride[d];
    if (d == p.cut) {
      at.first = number == 0;
      at.last = is_last;
    }
    box = rest;
  }
  return at;
}

// Two of them are read at once.
struct alignas(16) TwoRows {
  uint2 row[2];
};

// The tables of a block. What a thread reads stands side by side: row own + i * rows_at_once at own * rows_each + i.
struct Tables {
  TwoRows rows[kPackedRows / 2];  // from the first element of a box, and from its place in shared memory
  uint2 pieces[kPackedPieces];    // the same of a piece of a line; above 16 bits where in the line it begins
};

__device__ __forceinline__ void fill(Tables& tables, const Packed& p) {
  const auto first = static_cast<int>(threadIdx.x);
  const auto each = static_cast<int>(p.rows_each.value);
  for (int i = first; i < p.rows_at_once * each; i += static_cast<int>(blockDim.x)) {
    const uint32_t own = p.rows_each.quotient(static_cast<uint32_t>(i));
    const uint32_t nth = static_cast<uint32_t>(i) - own * p.rows_each.value;
    const Place at = place_of(own + nth * static_cast<uint32_t>(p.rows_at_once), p.of_row);
    tables.rows[i / 2].row[i % 2] = uint2{at.outside, at.shared};
  }
  for (int i = first; i < p.pieces; i += static_cast<int>(blockDim.x)) {
    const uint32_t line = p.pieces_a_line.quotient(static_cast<uint32_t>(i));
    const uint32_t begin = (static_cast<uint32_t>(i) - line * p.pieces_a_line.value) * kPackedPiece;
    const Place at = place_of(line, p.of_line);
    tables.pieces[i] = uint2{at.outside + begin, (at.shared + begin) | begin << 16};
  }
}

template <int kBytes, bool kPadded>
__device__ __forceinline__ int in_shared(int place) {
  constexpr int kShift = std::countr_zero(static_cast<unsigned>(packed_pad(kBytes)));
  return kPadded ? place + (place >> kShift) : place;
}

// What a thread reads of every box: rows[begin] to rows[end - 1] at its place in a row.
struct Share {
  int begin;
  int end;
  Place col;
};

template <int kBytes, bool kPadded, bool kAll, class T>
__device__ __forceinline__ void read_rows(const T* from, T* shared, const Tables& tables, const Share& own, int begin) {
  constexpr int kLoads = in_flight(kBytes);
  T words[kLoads];
  int to[kLoads];
#pragma unroll
  for (int i = 0; i < kLoads; i += 2) {
    if (!kAll && begin + i >= own.end) break;
    const TwoRows two = tables.rows[(begin + i) / 2];
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      if (!kAll && begin + i + k >= own.end) break;
      words[i + k] = from[two.row[k].x];
      to[i + k] = in_shared<kBytes, kPadded>(static_cast<int>(two.row[k].y + own.col.shared));
    }
  }
#pragma unroll
  for (int i = 0; i < kLoads; ++i) {
    if (!kAll && begin + i >= own.end) break;
    shared[to[i]] = words[i];
  }
}

template <int kBytes, bool kPadded, class T>
__device__ __forceinline__ void write_lines(T* dst, const T* shared, const Tables& tables, const Packed& p,
                                            const Origin& origin) {
  constexpr int kStep = 32 + (kPadded ? 32 / packed_pad(kBytes) : 0);
  const uint32_t head = origin.first ? 0u : p.sector_mask;
  const uint32_t tail = origin.last ? 0u : p.sector_mask;
  const auto step = static_cast<uint32_t>(p.run_step);
  const int end = origin.last ? p.run : p.run_step;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (int i = static_cast<int>(threadIdx.x) / 32; i < p.pieces; i += static_cast<int>(blockDim.x) / 32) {
    const uint2 at = tables.pieces[i];
    T* to = dst + at.x;
    const uint32_t past = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(to) / kBytes) & p.sector_mask;
    const uint32_t ahead = 0u - past;  // under the mask: from the line to the first boundary
    const int moved = lane - static_cast<int>(past);
    const int in_line = static_cast<int>(at.y >> 16) + moved;
    const auto least = static_cast<int>(ahead & head);
    const int most = end + static_cast<int>((ahead - step) & tail);
    const int place = in_shared<kBytes, kPadded>(static_cast<int>(at.y & 0xffffu) + moved);
    to += moved;
#pragma unroll
    for (int k = 0; k < kPackedPerLane; ++k) {
      const int element = in_line + 32 * k;
      if (element >= least && element < most) to[32 * k] = shared[place + k * kStep];
    }
  }
}

template <int kBytes, bool kPadded>
__global__ void __launch_bounds__(kPackedThreads, 4) packed_kernel(const __grid_constant__ Packed p) {
  using T = typename Word<kBytes>::Type;
  constexpr int kLoads = in_flight(kBytes);
  __shared__ T shared[kPackedBytes / kBytes];
  __shared__ Tables tables;
  fill(tables, p);
  const uint32_t own = p.cols.quotient(threadIdx.x);
  Share share{};
  share.col = place_of(threadIdx.x - own * p.cols.value, p.of_col);
  share.begin = static_cast<int>(own * p.rows_each.value);
  share.end = share.begin;
  // The last threads may have no rows.
  if (static_cast<int>(own) < p.rows_at_once) share.end += (p.rows - static_cast<int>(own) - 1) / p.rows_at_once + 1;
  const uint32_t begin = blockIdx.x * p.boxes_a_block;
  const uint32_t end = p.boxes - begin < p.boxes_a_block ? p.boxes : begin + p.boxes_a_block;
  __syncthreads();
  for (uint32_t box = begin; box < end; ++box) {
    const Origin origin = origin_of(box, p);
    const T* from = static_cast<const T*>(p.src) + origin.src + share.col.outside;
    int row = share.begin;
    for (; row + kLoads <= share.end; row += kLoads) read_rows<kBytes, kPadded, true>(from, shared, tables, share, row);
    if (row < share.end) read_rows<kBytes, kPadded, false>(from, shared, tables, share, row);
    __syncthreads();
    write_lines<kBytes, kPadded>(static_cast<T*>(p.dst) + origin.dst, shared, tables, p, origin);
    __syncthreads();
  }
}

void add(Places& places, int64_t extent, int64_t stride, int64_t weight) {
  if (extent == 1) return;
  places.extent[places.rank] = Divisor<uint32_t>(static_cast<uint32_t>(extent));
  places.stride[places.rank] = static_cast<uint32_t>(stride);
  places.weight[places.rank++] = static_cast<uint32_t>(weight);
}

void add_boxes(Packed& p, const PermuteAxes& axes, const PackedTile& t, int32_t axis) {
  if (t.boxes[axis] == 1) return;
  Boxes& outer = p.outer;
  for (int32_t d = 0; d < outer.rank; ++d) {
    if (outer.src_stride[d] == axes.src_stride[axis] && outer.dst_stride[d] == axes.dst_stride[axis])
      return;  // it is there
  }
  if (axis == t.cut_axis) p.cut = outer.rank;
  outer.count[outer.rank] = Divisor<uint32_t>(static_cast<uint32_t>(t.boxes[axis]));
  outer.step[outer.rank] = t.step[axis];
  outer.last[outer.rank] = axes.extent[axis] - t.extent[axis];
  outer.src_stride[outer.rank] = axes.src_stride[axis];
  outer.dst_stride[outer.rank++] = axes.dst_stride[axis];
}

// Boxes that follow each other in src, then those that do in dst, run at about the same time: they share sectors.
void set_boxes(Packed& p, const PermuteAxes& axes, const PackedTile& t) {
  p.boxes = static_cast<uint32_t>(t.all_boxes);
  p.cut = -1;
  for (int32_t k = 0; k < axes.rank && p.outer.rank == 0; ++k) add_boxes(p, axes, t, t.src_order[k]);
  for (int32_t d = 0; d < axes.rank; ++d) add_boxes(p, axes, t, d);
}

Packed packed_of(const PermuteLaunch& launch, const PackedTile& t) {
  const PermuteAxes& axes = launch.axes;
  Packed p{};
  p.src = launch.src;
  p.dst = launch.dst;
  set_boxes(p, axes, t);
  const auto grid = static_cast<uint32_t>(launch.grid);
  p.boxes_a_block = p.boxes / grid + (p.boxes % grid != 0 ? 1 : 0);
  p.cols = Divisor<uint32_t>(static_cast<uint32_t>(t.cols));
  p.rows = static_cast<int32_t>(t.rows);
  p.rows_at_once = static_cast<int32_t>(t.rows_at_once);
  p.rows_each = Divisor<uint32_t>(static_cast<uint32_t>(t.rows_each));
  for (int32_t k = 0; k < axes.rank; ++k) {
    const int32_t d = t.src_order[k];
    const int64_t folds = k + 1 == t.col_axes ? t.folds : 1;
    const int64_t extent = t.extent[d] / folds;
    add(k < t.col_axes ? p.of_col : p.of_row, extent, axes.src_stride[d], t.weight(d));
    add(p.of_row, folds, extent * axes.src_stride[d], extent * t.weight(d));
    if (d >= t.run_axes) add(p.of_line, t.extent[d], axes.dst_stride[d], t.weight(d));
  }
  p.run = static_cast<int32_t>(t.run);
  p.run_step = static_cast<int32_t>(t.run_step);
  p.pieces = static_cast<int32_t>(t.pieces * t.lines);
  p.pieces_a_line = Divisor<uint32_t>(static_cast<uint32_t>(t.pieces));
  p.sector_mask = static_cast<uint32_t>(t.sector_mask);
  return p;
}

}  // namespace

cudaError_t permute_packed(const PermuteLaunch& launch, cudaStream_t stream) {
  const PackedTile t = packed_tile(launch.axes);
  if (!t.fits) return cudaErrorInvalidValue;
  const Packed p = packed_of(launch, t);
  return for_size(launch.axes.element_bytes, [&]<int kBytes>() {
    const auto kernel = t.padded ? packed_kernel<kBytes, (kBytes >= 4)> : packed_kernel<kBytes, false>;
    return enqueue(kernel, static_cast<unsigned>(launch.grid), static_cast<unsigned>(t.threads), stream, p);
  });
}

cudaError_t permute_packed_preload() {
  for (const int64_t bytes : {1, 2, 4, 8, 16}) {
    const cudaError_t error = for_size(bytes, [&]<int kBytes>() {
      const cudaError_t e = load(packed_kernel<kBytes, false>);
      return e == cudaSuccess ? load(packed_kernel<kBytes, (kBytes >= 4)>) : e;
    });
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

}  // namespace gpumem::kernels
