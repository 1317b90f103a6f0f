// Permutations by boxes over several axes (packed.hpp).
// Moves: 2 * elements * element bytes, and twice the elements that neighbouring boxes share.
// Access: one block loads a box row by row in the order of src, with a fixed place per thread in each row. It stores
//         the box in shared memory in the order of dst, and then writes lines of dst. A block computes indices once:
//         along a row in registers, and for each row and line in two tables in shared memory. If a line begins between
//         sectors of 32 bytes, its lanes begin at a sector boundary. A line that continues in the next box is divided
//         at a boundary, so few sectors are written twice.
#include <bit>

#include "kernels/permute/boxes.cuh"
#include "kernels/permute/packed.hpp"

namespace gpumem::kernels {
namespace {

constexpr int in_flight(int bytes) { return bytes == 16 ? 2 : bytes == 8 ? 4 : 8; }

struct Packed {
  const void* src;
  void* dst;
  Boxes boxes;
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

struct alignas(16) TwoRows {
  uint2 row[2];
};

// The tables of a block. A thread's entries are contiguous: row own + i * rows_at_once is at own * rows_each + i.
struct Tables {
  TwoRows rows[kPackedRows / 2];  // offsets from the first element of a box, and from its place in shared memory
  uint2 pieces[kPackedPieces];    // the same of a piece of a line; the bits above 16 are its offset in the line
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

// The rows that a thread reads of every box: rows[begin] to rows[end - 1], at its place in a row.
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
__global__ void __launch_bounds__(kPackedThreads, resident_blocks(kPackedResident, kPackedThreads))
    packed_kernel(const __grid_constant__ Packed p) {
  using T = WordOf<kBytes>;
  constexpr int kLoads = in_flight(kBytes);
  __shared__ T shared[kPackedBytes / kBytes];
  __shared__ Tables tables;
  fill(tables, p);
  const uint32_t own = p.cols.quotient(threadIdx.x);
  Share share{};
  share.col = place_of(threadIdx.x - own * p.cols.value, p.of_col);
  share.begin = static_cast<int>(own * p.rows_each.value);
  share.end = share.begin;
  if (static_cast<int>(own) < p.rows_at_once) share.end += (p.rows - static_cast<int>(own) - 1) / p.rows_at_once + 1;
  __syncthreads();
  grid_dependency_synchronize();
  uint32_t box = blockIdx.x;
  do {
    const Origin origin = origin_of(box, p.boxes);
    const T* from = static_cast<const T*>(p.src) + origin.src + share.col.outside;
    int row = share.begin;
    for (; row + kLoads <= share.end; row += kLoads) read_rows<kBytes, kPadded, true>(from, shared, tables, share, row);
    if (row < share.end) read_rows<kBytes, kPadded, false>(from, shared, tables, share, row);
    __syncthreads();
    write_lines<kBytes, kPadded>(static_cast<T*>(p.dst) + origin.dst, shared, tables, p, origin);
    __syncthreads();
  } while (next_box(box, p.boxes));
}

Packed packed_of(const PermuteParams& params, const PackedTile& t) {
  const PermuteAxes& axes = params.axes;
  Packed p{};
  p.src = params.src;
  p.dst = params.dst;
  p.boxes = boxes_of(axes, t);
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

LaunchResult permute_packed(const PermuteParams& params, const Config& config, const Launch& launch) {
  const auto t = config.own.get<PackedTile>();
  const Packed p = packed_of(params, t);
  return for_size(params.axes.element_bytes, [&]<int kBytes>() {
    const auto kernel = t.padded ? packed_kernel<kBytes, (kBytes >= 4)> : packed_kernel<kBytes, false>;
    return enqueue_programmatic(kernel, static_cast<unsigned>(config.grid), static_cast<unsigned>(t.threads), launch,
                                p);
  });
}

LaunchResult permute_packed_preload() {
  return for_all_sizes(
      [&]<int kBytes>() { return preload(packed_kernel<kBytes, false>, packed_kernel<kBytes, (kBytes >= 4)>); });
}

}  // namespace gpumem::kernels
