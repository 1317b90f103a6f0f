// Transposes in place of matrices whose lines do not fit into a block's shared memory; elements at any address. n structures of m members,
// where m is the shorter side, become m planes, or the other way round:
//   1. Tiles of B structures are transposed in place, so that a tile becomes m slots of B members. Slot j of a tile is turned by j * n mod B:
//      now each element has the place in its slot that its final place has, modulo B.
//   2. For some places of all slots at a time, a panel: what is there goes to scratch memory, which stays in the L2 cache, and from there to
//      the same places of the slots that it belongs to.
// The n mod B structures that make no tile wait in scratch memory. Planes become structures by the same, backwards. 4 * rows * cols * element
// bytes, in runs of a panel's width; tiles that do not fit into shared memory go through scratch memory too. H200, elements of 4 bytes, of a
// copy: 10000000 x 3 0.22, 1000003 x 31 0.20, 131072 x 256 0.14; by rows and columns of the whole matrix 0.15, 0.12 and 0.11.
#include <algorithm>

#include "kernels/copy/copy.hpp"
#include "kernels/transpose/shared.cuh"
#include "kernels/transpose/slots.hpp"
#include "kernels/transpose/transpose.hpp"

namespace gpumem::kernels {
namespace {

constexpr int kLanes = 32;
constexpr int kWarps = kTransposeThreads / kLanes;
constexpr int kEach = 8;
constexpr int64_t kPiece = kLanes * kEach;

// Places [place, place + width) of slots [first, first + count), which lie packed in scratch memory.
struct Panel {
  int64_t place;
  int64_t width;
  int64_t first;
  int64_t count;
};

// home: where slots lie, or the planes that they are of. turned: in scratch memory they are not turned.
template <class T>
__global__ void __launch_bounds__(kTransposeThreads) panel_kernel(T* data, T* packed, const Slots s, const Panel panel,
                                                                  int64_t pieces, bool out, bool home, bool turned) {
  synchronize_and_trigger();
  const Quotient piece(int64_t{blockIdx.x} * kWarps + threadIdx.x / kLanes, pieces);
  if (piece.quotient >= panel.count) return;
  const Quotient slot(panel.first + piece.quotient, s.m);
  const auto tile = static_cast<int>(s.tile);
  const auto turn = static_cast<int>(Quotient(slot.rest * s.rest, s.tile).rest);
  T* own = data + (home ? (panel.first + piece.quotient) * s.tile : slot.rest * s.n + slot.quotient * s.tile);
  T* there = packed + piece.quotient * panel.width;
  const T* from = out ? own : there;
  T* to = out ? there : own;
  const auto first = static_cast<int>(piece.rest * kPiece) + static_cast<int>(threadIdx.x) % kLanes;
  const auto width = static_cast<int>(panel.width);
  const auto at = [&](int i, bool in_data) {
    const int place = static_cast<int>(panel.place) + i;
    const int back = place >= turn ? place - turn : place - turn + tile;
    return in_data ? (home ? place : back) : turned ? back : i;
  };
  T word[kEach];
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    const int i = first + k * kLanes;
    if (i < width) word[k] = from[at(i, out)];
  }
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    const int i = first + k * kLanes;
    if (i < width) to[at(i, !out)] = word[k];
  }
}

template <class T>
class Passes {
 public:
  Passes(const Config& config, const Launch& launch) : config_(config), launch_(launch) {}

  // room: elements of scratch memory.
  LaunchResult run(T* data, int64_t rows, int64_t cols, T* scratch, int64_t room) {
    const int64_t n = std::max(rows, cols);
    const int64_t m = std::min(rows, cols);
    const Slots s(n, m, largest_tile(n, m, kBytes, room, config_.shared_bytes));
    T* const structures = data + s.tiles * s.tile * m;  // those that make no tile
    T* const rest = scratch;
    const Scratch other{scratch + s.rest * m, room - s.rest * m};
    if (rows < cols) {
      ends(data, rest, s, true);
      panels(data, s, other, true);
      tiles(data, s, other, true);
      apart(rest, structures, m, s.rest);
    } else {
      apart(structures, rest, s.rest, m);
      tiles(data, s, other, false);
      panels(data, s, other, false);
      ends(data, rest, s, false);
    }
    return error_;
  }

 private:
  static constexpr int64_t kBytes = sizeof(T);

  template <class F>
  void then(const F& f) {
    if (error_ == cudaSuccess) error_ = f();
  }

  struct Scratch {
    T* data;
    int64_t room;
  };

  // Of the planes, out of them or back.
  void ends(T* data, T* rest, const Slots& s, bool out) {
    if (s.rest == 0) return;
    CopyParams p{.row_bytes = s.rest * kBytes, .rows = s.m};
    p.dst = reinterpret_cast<char*>(out ? rest : data + s.tiles * s.tile);
    p.src = reinterpret_cast<const char*>(out ? data + s.tiles * s.tile : rest);
    p.dst_pitch = out ? p.row_bytes : s.n * kBytes;
    p.src_pitch = out ? s.n * kBytes : p.row_bytes;
    then([&] { return copy_by_driver(p, {}, launch_); });
  }

  void move(T* data, T* packed, const Slots& s, const Panel& panel, bool out, bool home, bool turned) {
    const int64_t pieces = tiles_along(panel.width, kPiece);
    then([&] {
      return enqueue_programmatic(panel_kernel<T>, static_cast<unsigned>(tiles_along(panel.count * pieces, kWarps)),
                                  kTransposeThreads, launch_, data, packed, s, panel, pieces, out, home, turned);
    });
  }

  void panels(T* data, const Slots& s, const Scratch& scratch, bool back) {
    const int64_t width = std::clamp<int64_t>(scratch.room / s.all(), 1, s.tile);
    for (int64_t at = 0; at < s.tile; at += width) {
      const Panel panel{at, std::min(width, s.tile - at), 0, s.all()};
      move(data, scratch.data, s, panel, true, !back, false);
      move(data, scratch.data, s, panel, false, back, false);
    }
  }

  // Matrices without gaps into others.
  void apart(const T* src, T* dst, int64_t rows, int64_t cols, int64_t batches = 1) {
    if (rows * cols == 0) return;
    const TransposeParams p{kBytes, rows, cols, src, cols, dst, rows, batches, rows * cols, rows * cols};
    const int64_t grid = tiles_of(p, kTransposePaddedTile, kTransposePaddedTile).all;
    const auto transpose = alignof(T) == kBytes ? transpose_shared_padded : transpose_tile_bytes;
    then([&] { return transpose(p, {.grid = grid}, launch_); });
  }

  void tiles(T* data, const Slots& s, const Scratch& scratch, bool back) {
    const int64_t size = s.m * s.tile;
    const int64_t rows = back ? s.m : s.tile;
    const int64_t cols = back ? s.tile : s.m;
    if (transpose_shared_bytes(size, kBytes) <= config_.shared_bytes) {
      const TransposeParams p{kBytes, rows, cols, data, cols, data, rows, s.tiles, size, size};
      return then([&] { return transpose_in_place_turned(p, config_, {static_cast<int>(s.rest), back}, launch_); });
    }
    for (int64_t tile = 0, count = 1; tile < s.tiles; tile += count) {
      T* const first = data + tile * size;
      count = std::clamp<int64_t>(scratch.room / size, 1, s.tiles - tile);
      if (size > scratch.room) {  // a matrix that is transposed in place itself
        if (!back) run(first, rows, cols, scratch.data, scratch.room);
        const int64_t at_once = std::max<int64_t>(scratch.room / s.tile, 1);
        for (int64_t slot = 0; slot < s.m; slot += at_once) {
          const Panel panel{0, s.tile, tile * s.m + slot, std::min(at_once, s.m - slot)};
          move(data, scratch.data, s, panel, true, true, back);
          move(data, scratch.data, s, panel, false, true, !back);
        }
        if (back) run(first, rows, cols, scratch.data, scratch.room);
      } else {
        if (!back) apart(first, scratch.data, rows, cols, count);
        move(data, scratch.data, s, {0, s.tile, tile * s.m, count * s.m}, back, true, true);
        if (back) apart(scratch.data, first, rows, cols, count);
      }
    }
  }

  const Config& config_;
  const Launch& launch_;
  LaunchResult error_ = cudaSuccess;
};

}  // namespace

LaunchResult transpose_in_place_slots(const TransposeParams& params, const Config& config, const Launch& launch) {
  return for_size(params.element_bytes, [&]<int kBytes>() {
    const auto run = [&]<class T>(T* data) {
      LaunchResult error = cudaSuccess;
      for (int64_t b = 0; b < params.batches && error == cudaSuccess; ++b, data += params.dst_batch_stride) {
        error = Passes<T>(config, launch)
                    .run(data, params.rows, params.cols, static_cast<T*>(launch.workspace),
                         config.workspace_bytes / params.element_bytes);
      }
      return error;
    };
    return aligned(params.dst, kBytes) ? run(static_cast<WordOf<kBytes>*>(params.dst))
                                       : run(static_cast<Bytes<kBytes>*>(params.dst));
  });
}

}  // namespace gpumem::kernels
