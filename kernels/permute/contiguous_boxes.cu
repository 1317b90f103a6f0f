// Permutations that keep the fastest axis (contiguous_boxes.hpp).
// Moves: 2 * elements * element bytes.
// Access: a warp takes pieces of lines, one element per lane, and keeps several in flight. A block computes a table of
//         the pieces of a box once, in shared memory. If lines begin between sectors of 32 bytes, a warp begins at the
//         previous sector boundary. It then writes whole sectors except at the ends of a line. Its reads may begin
//         anywhere, and the cache keeps the rest of a sector.
#include "kernels/permute/boxes.cuh"
#include "kernels/permute/contiguous_boxes.hpp"

namespace gpumem::kernels {
namespace {

struct ContiguousBoxes {
  const void* src;
  void* dst;
  Boxes boxes;
  int32_t length;
  int32_t pieces;  // of all lines
  Divisor<uint32_t> pieces_a_line;
  Places in_src;  // of a line
  Places in_dst;
  uint32_t sector_mask;
};

// Offsets from the first element of the box, and from the start of the line.
struct alignas(16) Piece {
  uint32_t src;
  uint32_t dst;
  int32_t begin;
};

__device__ __forceinline__ void fill(Piece* pieces, const ContiguousBoxes& p) {
  for (int i = static_cast<int>(threadIdx.x); i < p.pieces; i += kLineTileThreads) {
    const uint32_t line = p.pieces_a_line.quotient(static_cast<uint32_t>(i));
    const uint32_t begin = (static_cast<uint32_t>(i) - line * p.pieces_a_line.value) * kLinePiece;
    pieces[i] = Piece{place_of(line, p.in_src).outside + begin, place_of(line, p.in_dst).outside + begin,
                      static_cast<int32_t>(begin)};
  }
}

template <int kBytes>
__global__ void __launch_bounds__(kLineTileThreads, resident_blocks(5, kLineTileThreads))
    contiguous_boxes_kernel(const __grid_constant__ ContiguousBoxes p) {
  using T = WordOf<kBytes>;
  constexpr int kLoads = line_loads(kBytes);
  constexpr int kWarps = kLineTileThreads / 32;
  __shared__ Piece pieces[kLinePieces];
  fill(pieces, p);
  const int lane = static_cast<int>(threadIdx.x) % 32;
  __syncthreads();
  synchronize_and_trigger();
  uint32_t box = blockIdx.x;
  do {
    const Origin origin = origin_of(box, p.boxes);
    const T* from = static_cast<const T*>(p.src) + origin.src;
    T* to = static_cast<T*>(p.dst) + origin.dst;
    const auto first = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(to) / kBytes);
    for (int i = static_cast<int>(threadIdx.x) / 32; i < p.pieces; i += kLoads * kWarps) {
      T words[kLoads];
      uint32_t at[kLoads];
      bool there[kLoads];
#pragma unroll
      for (int k = 0; k < kLoads; ++k) {
        there[k] = i + k * kWarps < p.pieces;
        if (!there[k]) continue;
        const Piece piece = pieces[i + k * kWarps];
        const int moved = lane - static_cast<int>((first + piece.dst) & p.sector_mask);
        there[k] = static_cast<uint32_t>(piece.begin + moved) < static_cast<uint32_t>(p.length);
        at[k] = piece.dst + static_cast<uint32_t>(moved);
        if (there[k]) words[k] = from[piece.src + static_cast<uint32_t>(moved)];
      }
#pragma unroll
      for (int k = 0; k < kLoads; ++k) {
        if (there[k]) to[at[k]] = words[k];
      }
    }
  } while (next_box(box, p.boxes));
}

ContiguousBoxes lines_of(const PermuteParams& params, const LineTile& t) {
  const PermuteAxes& axes = params.axes;
  ContiguousBoxes p{};
  p.src = params.src;
  p.dst = params.dst;
  p.boxes = boxes_of(axes, t);
  p.length = static_cast<int32_t>(t.extent[0]);
  p.pieces = static_cast<int32_t>(t.pieces * t.lines);
  p.pieces_a_line = Divisor<uint32_t>(static_cast<uint32_t>(t.pieces));
  for (int32_t d = 1; d < axes.rank; ++d) {
    add(p.in_src, t.extent[d], axes.src_stride[d], 0);
    add(p.in_dst, t.extent[d], axes.dst_stride[d], 0);
  }
  p.sector_mask = static_cast<uint32_t>(t.sector_mask);
  return p;
}

}  // namespace

LaunchResult permute_contiguous_boxes(const PermuteParams& params, const Config& config, const Launch& launch) {
  const auto t = config.own.get<LineTile>();
  const ContiguousBoxes p = lines_of(params, t);
  return for_size(params.axes.element_bytes, [&]<int kBytes>() {
    return enqueue_programmatic(contiguous_boxes_kernel<kBytes>, static_cast<unsigned>(config.grid), kLineTileThreads,
                                launch, p);
  });
}

LaunchResult permute_contiguous_boxes_preload() {
  return for_all_sizes([&]<int kBytes>() { return preload(contiguous_boxes_kernel<kBytes>); });
}

}  // namespace gpumem::kernels
