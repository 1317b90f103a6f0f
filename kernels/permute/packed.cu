// Permutations by boxes over several axes (kernels/permute_packed.hpp): 2 * elements * element bytes, and what neighbouring boxes
// share. A block brings a box to shared memory row by row in the order of src, a thread at a place of its own in each row, and
// without going through registers, so that 2048 threads fit on a multiprocessor; there it lies in the order of dst, and its lines
// are written 16 bytes an access. Where elements lie is taken apart into indices once a block: along a row in a thread's
// registers, of each row and piece of a line in two tables in shared memory. A line that begins between sectors of 32 bytes is
// written by lanes that begin on one, and where it goes on in the next box, it is cut on one too, so that hardly a sector is
// written twice.
#include <cuda_pipeline_primitives.h>

#include <bit>

#include "kernels/permute/boxes.cuh"
#include "kernels/permute_packed.hpp"

namespace gpumem::kernels {
namespace {

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
  Divisor<uint32_t> lines;
  Places of_line;
  uint32_t sector_mask;
};

// Two of them are read at once.
struct alignas(16) TwoRows {
  uint2 row[2];
};

// The tables of a block. What a thread reads stands side by side: row own + i * rows_at_once at own * rows_each + i.
struct Tables {
  TwoRows rows[kPackedRows / 2];  // from the first element of a box, and from its place in shared memory
  uint2 pieces[kPackedPieces];    // the same of a piece of a line; above 16 bits where in the line it begins
};

__device__ __forceinline__ void fill(Tables& tables, const Packed& p, uint32_t piece) {
  const auto first = static_cast<int>(threadIdx.x);
  const auto each = static_cast<int>(p.rows_each.value);
  for (int i = first; i < p.rows_at_once * each; i += static_cast<int>(blockDim.x)) {
    const uint32_t own = p.rows_each.quotient(static_cast<uint32_t>(i));
    const uint32_t nth = static_cast<uint32_t>(i) - own * p.rows_each.value;
    const Place at = place_of(own + nth * static_cast<uint32_t>(p.rows_at_once), p.of_row);
    tables.rows[i / 2].row[i % 2] = uint2{at.outside, at.shared};
  }
  for (int i = first; i < p.pieces; i += static_cast<int>(blockDim.x)) {
    const uint32_t nth = p.lines.quotient(static_cast<uint32_t>(i));
    const uint32_t begin = nth * piece;
    const Place at = place_of(static_cast<uint32_t>(i) - nth * p.lines.value, p.of_line);
    tables.pieces[i] = uint2{at.outside + begin, (at.shared + begin) | begin << 16};
  }
}

template <int kBytes, bool kPadded>
__device__ __forceinline__ int in_shared(int place) {
  constexpr int kShift = std::countr_zero(static_cast<unsigned>(packed_piece(kBytes)));
  return kPadded ? place + (place >> kShift) : place;
}

// What a thread reads of every box: rows[begin] to rows[end - 1] at its place in a row.
struct Share {
  int begin;
  int end;
  Place col;
};

__device__ __forceinline__ Share share_of(const Packed& p) {
  const uint32_t own = p.cols.quotient(threadIdx.x);
  Share share{};
  share.col = place_of(threadIdx.x - own * p.cols.value, p.of_col);
  share.begin = static_cast<int>(own * p.rows_each.value);
  share.end = share.begin;
  // The last threads may have no rows.
  if (static_cast<int>(own) < p.rows_at_once) share.end += (p.rows - static_cast<int>(own) - 1) / p.rows_at_once + 1;
  return share;
}

template <class T>
__device__ __forceinline__ void bring(T* to, const T* from) {
  if constexpr (sizeof(T) >= 4) {
    __pipeline_memcpy_async(to, from, sizeof(T));
  } else {
    *to = *from;
  }
}

template <int kBytes, bool kPadded, class T>
__device__ __forceinline__ void read_rows(const T* from, T* shared, const Tables& tables, const Share& own) {
#pragma unroll 2
  for (int i = own.begin; i < own.end; i += 2) {
    const TwoRows two = tables.rows[i / 2];
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      const int place = in_shared<kBytes, kPadded>(static_cast<int>(two.row[k].y + own.col.shared));
      if (k == 0 || i + 1 < own.end) bring(shared + place, from + two.row[k].x);
    }
  }
  __pipeline_commit();
  __pipeline_wait_prior(0);
}

template <int kBytes>
union Vector {
  uint4 word;
  typename Word<kBytes>::Type element[16 / kBytes];
  __device__ Vector() {}
};

// Eight lanes write a piece; the pieces that a warp writes are of neighbouring lines, which begin in different banks.
template <int kBytes, bool kPadded, class T>
__device__ __forceinline__ void write_lines(T* dst, const T* shared, const Tables& tables, const Packed& p,
                                            const Origin& origin) {
  constexpr int kVector = 16 / kBytes;
  const uint32_t head = origin.first ? 0u : p.sector_mask;
  const uint32_t tail = origin.last ? 0u : p.sector_mask;
  const int end = origin.last ? p.run : p.run_step;
  const int lane = static_cast<int>(threadIdx.x) % 8 * kVector;
  for (int i = static_cast<int>(threadIdx.x) / 8; i < p.pieces; i += static_cast<int>(blockDim.x) / 8) {
    const uint2 at = tables.pieces[i];
    T* to = dst + at.x;
    const uint32_t past = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(to) / kBytes) & p.sector_mask;
    const int moved = lane - static_cast<int>(past);
    const int in_line = static_cast<int>(at.y >> 16) + moved;
    // From the line to the first boundary, and beyond the box to the next.
    const auto least = static_cast<int>((0u - past) & head);
    const int most = end + static_cast<int>((0u - past - static_cast<uint32_t>(p.run_step)) & tail);
    const int place = static_cast<int>(at.y & 0xffffu) + moved;
    to += moved;
    if (in_line >= least && in_line + kVector <= most) {
      Vector<kBytes> out;
#pragma unroll
      for (int k = 0; k < kVector; ++k) out.element[k] = shared[in_shared<kBytes, kPadded>(place + k)];
      __stcs(reinterpret_cast<uint4*>(to), out.word);
    } else {
#pragma unroll
      for (int k = 0; k < kVector; ++k) {
        if (in_line + k >= least && in_line + k < most) to[k] = shared[in_shared<kBytes, kPadded>(place + k)];
      }
    }
  }
}

template <int kBytes, bool kPadded>
__global__ void __launch_bounds__(kPackedThreads, kPackedResident) packed_kernel(const __grid_constant__ Packed p) {
  using T = typename Word<kBytes>::Type;
  __shared__ T shared[kPackedBytes / kBytes];
  __shared__ Tables tables;
  fill(tables, p, static_cast<uint32_t>(packed_piece(kBytes)));
  const Share share = share_of(p);
  __syncthreads();
  after_earlier_work();
  uint32_t box = blockIdx.x;
  do {
    const Origin origin = origin_of(box, p.boxes);
    const T* from = static_cast<const T*>(p.src) + origin.src + share.col.outside;
    read_rows<kBytes, kPadded>(from, shared, tables, share);
    __syncthreads();
    write_lines<kBytes, kPadded>(static_cast<T*>(p.dst) + origin.dst, shared, tables, p, origin);
    __syncthreads();
  } while (next_box(box, p.boxes));
}

Packed packed_of(const PermuteLaunch& launch, const PackedTile& t) {
  const PermuteAxes& axes = launch.axes;
  Packed p{};
  p.src = launch.src;
  p.dst = launch.dst;
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
  p.lines = Divisor<uint32_t>(static_cast<uint32_t>(t.lines));
  p.sector_mask = static_cast<uint32_t>(t.sector_mask);
  return p;
}

}  // namespace

cudaError_t permute_packed(const PermuteLaunch& launch, cudaStream_t stream) {
  const PackedTile t = packed_tile(launch.axes, reinterpret_cast<uintptr_t>(launch.dst) % 16 == 0);
  if (!t.fits) return cudaErrorInvalidValue;
  const Packed p = packed_of(launch, t);
  return for_size(launch.axes.element_bytes, [&]<int kBytes>() {
    const auto kernel = t.padded ? packed_kernel<kBytes, (kBytes >= 4)> : packed_kernel<kBytes, false>;
    return enqueue_early(kernel, static_cast<unsigned>(launch.grid), static_cast<unsigned>(t.threads), stream, p);
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
