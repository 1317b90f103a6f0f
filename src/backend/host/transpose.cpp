// The transposes on the host: one launcher a variant, in the order of the table's host rows.
#include <algorithm>
#include <bit>
#include <cstring>

#include "backend/host/host_backend.hpp"
#include "backend/host/parallel.hpp"
#include "backend/host/transpose_in_place.hpp"
#include "base/checked.hpp"
#include "kernels/sizes.hpp"
#include "kernels/transpose/limits.hpp"

namespace gpumem {
namespace {

// A transpose writes a few lines here and there: reading each of them first, as an ordinary store does, costs more than the
// caches give back from about here on (measured: 1.5 times at 4 MiB, 3 times at 64 MiB).
constexpr int64_t kStreamedTranspose = int64_t{1} << 20;

int log2_of(int64_t bytes) noexcept { return std::min(std::countr_zero(static_cast<uint64_t>(bytes)), 4); }

int64_t bytes_of(const TransposeParams& a) noexcept { return a.batches * a.rows * a.cols * a.element_bytes; }

bool streamed(const TransposeParams& a) noexcept { return bytes_of(a) >= kStreamedTranspose; }

// One matrix as a band that is all of it.
TransposeBand matrix(const TransposeParams& a, int64_t batch, bool stream) noexcept {
  return {.src = static_cast<const char*>(a.src) + batch * a.src_batch_stride * a.element_bytes,
          .src_ld = a.src_ld,
          .dst = static_cast<char*>(a.dst) + batch * a.dst_batch_stride * a.element_bytes,
          .dst_ld = a.dst_ld,
          .last_row = a.rows,
          .last_col = a.cols,
          .stream = stream};
}

// The longer sides of all matrices are one row of tiles; each task takes as many neighbours of it as the others, and calls
// f(batch, first tile, last tile, memory of the task) for its part of each matrix.
template <class F>
void share_tiles(const HostTeam& team, const TransposeParams& a, int64_t tasks, int64_t tiles, int64_t memory_bytes,
                 const F& f) {
  const int64_t a_task = ceil_div(a.batches * tiles, tasks);
  team.parallel(ceil_div(a.batches * tiles, a_task), [&](int64_t task) {
    const TaskMemory memory(memory_bytes);
    int64_t at = task * a_task;
    const int64_t end = std::min(at + a_task, a.batches * tiles);
    while (at < end) {
      const int64_t batch = at / tiles;
      const int64_t first = at % tiles;
      const int64_t last = std::min(tiles, first + (end - at));
      f(batch, first, last, memory.get());
      at += last - first;
    }
  });
}

void transpose_tiled(const HostTeam& team, const TransposeParams& a, const LaunchShape& shape) {
  const auto loop = team.loops.moves.transpose[log2_of(a.element_bytes)];
  const int64_t tile = host_transpose_tile(a.element_bytes);
  const bool stream = streamed(a);
  const bool along_rows = a.rows >= a.cols;
  const int64_t longer = std::max(a.rows, a.cols);
  share_tiles(team, a, shape.grid, ceil_div(longer, tile), tile_memory_bytes(a.element_bytes, bytes_of(a)),
              [&](int64_t batch, int64_t first, int64_t last, void* buffer) {
                TransposeBand band = matrix(a, batch, stream);
                band.buffer = buffer;
                (along_rows ? band.first_row : band.first_col) = first * tile;
                (along_rows ? band.last_row : band.last_col) = std::min(last * tile, longer);
                loop(band);
              });
}

void transpose_aos_soa(const HostTeam& team, const TransposeParams& a, const LaunchShape& shape) {
  const auto loop = team.loops.moves.aos_soa[log2_of(a.element_bytes)];
  const int64_t tile = host_aos_soa_tile(a.element_bytes);
  const bool stream = streamed(a);
  const bool from_packed = a.cols <= a.rows;
  const int64_t structures = std::max(a.rows, a.cols);
  share_tiles(team, a, shape.grid, ceil_div(structures, tile),
              bytes_of(a) > kHostStackBuffer ? kHostAosSoaWidth * tile * a.element_bytes : 0,
              [&](int64_t batch, int64_t first, int64_t last, void* buffer) {
                const TransposeBand all = matrix(a, batch, stream);
                loop({all.src, all.src_ld, all.dst, all.dst_ld, std::min(a.rows, a.cols), first * tile,
                      std::min(last * tile, structures), from_packed, stream, buffer});
              });
}

// An element at a time: the plain form that the other loops are held against, and what takes the least time where matrices stay in the
// first cache.
template <int kBytes>
void transpose_matrices(const TransposeParams& params, int64_t first, int64_t last) noexcept {
  const TransposeParams a = params;  // its own: the elements that are written are none of it
  for (int64_t batch = first; batch < last; ++batch) {
    const char* src = static_cast<const char*>(a.src) + batch * a.src_batch_stride * kBytes;
    char* dst = static_cast<char*>(a.dst) + batch * a.dst_batch_stride * kBytes;
    for (int64_t col = 0; col < a.cols; ++col) {
      for (int64_t row = 0; row < a.rows; ++row) {
        std::memcpy(dst + (col * a.dst_ld + row) * kBytes, src + (row * a.src_ld + col) * kBytes, kBytes);
      }
    }
  }
}

void transpose_small(const HostTeam& team, const TransposeParams& a, const LaunchShape& shape) {
  const int64_t a_task = ceil_div(a.batches, shape.grid);
  team.parallel(ceil_div(a.batches, a_task), [&](int64_t task) {
    for_size(a.element_bytes, [&]<int kBytes>() {
      transpose_matrices<kBytes>(a, task * a_task, std::min((task + 1) * a_task, a.batches));
    });
  });
}

// An element at a time.
void swap_elements(const TransposeParams& a, char* upper, char* lower, int64_t rows, int64_t cols) noexcept {
  const auto bytes = static_cast<size_t>(a.element_bytes);
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t col = upper == lower ? row + 1 : 0; col < cols; ++col) {
      char* const p = upper + (row * a.dst_ld + col) * a.element_bytes;
      std::swap_ranges(p, p + bytes, lower + (col * a.dst_ld + row) * a.element_bytes);
    }
  }
}

// For one tile, with rows of `pitch` elements, and for the loop that reads it.
struct SwapBuffers {
  char* tile;
  int64_t pitch;
  void* loop;
};

// A tile and the one across the diagonal: the one goes to a buffer, the other to its place, and the buffer to the other's.
void swap_pair(const HostTeam& team, const TransposeParams& a, const TilePair& pair, char* matrix,
               const SwapBuffers& buffers) noexcept {
  const auto loop = team.loops.moves.transpose[log2_of(a.element_bytes)];
  const int64_t tile = host_transpose_tile(a.element_bytes);
  const int64_t rows = std::min(tile, a.rows - pair.row * tile);
  const int64_t cols = std::min(tile, a.rows - pair.col * tile);
  char* upper = matrix + (pair.row * a.dst_ld + pair.col) * tile * a.element_bytes;
  char* lower = matrix + (pair.col * a.dst_ld + pair.row) * tile * a.element_bytes;
  if (buffers.tile == nullptr) return swap_elements(a, upper, lower, rows, cols);
  loop({upper, a.dst_ld, buffers.tile, buffers.pitch, 0, rows, 0, cols, false, buffers.loop});
  if (pair.row != pair.col) loop({lower, a.dst_ld, upper, a.dst_ld, 0, cols, 0, rows, false, buffers.loop});
  for (int64_t row = 0; row < cols; ++row) {
    std::memcpy(lower + row * a.dst_ld * a.element_bytes, buffers.tile + row * buffers.pitch * a.element_bytes,
                static_cast<size_t>(rows * a.element_bytes));
  }
}

void transpose_in_place_tiles(const HostTeam& team, const TransposeParams& a, const LaunchShape& shape) {
  const int64_t tile = host_transpose_tile(a.element_bytes);
  const int64_t across = ceil_div(a.rows, tile);
  const int64_t pairs = transpose_tile_pairs(across);
  const int64_t pitch = std::min(tile, a.rows);
  const int64_t tile_bytes = pitch * pitch * a.element_bytes;
  const bool on_heap = tile_bytes > kHostStackBuffer / 2;
  share_tiles(team, a, shape.grid, pairs, on_heap ? tile_bytes : 0,
              [&](int64_t batch, int64_t first, int64_t last, void* large) {
                alignas(64) char small[kHostStackBuffer / 2];
                const TaskMemory loop_buffer(tile_memory_bytes(a.element_bytes, tile_bytes));
                char* const buffer = on_heap ? static_cast<char*>(large) : small;
                char* matrix = static_cast<char*>(a.dst) + batch * a.dst_batch_stride * a.element_bytes;
                for (int64_t i = first; i < last; ++i) {
                  const TilePair pair(i, across);
                  if (pair.col < across) swap_pair(team, a, pair, matrix, {buffer, pitch, loop_buffer.get()});
                }
              });
}

void transpose_c2r(const HostTeam& team, const TransposeParams& a, const LaunchShape& shape, char* scratch) {
  C2rTranspose(team, a, shape.grid).run(scratch);
}
int64_t c2r_scratch_bytes(const HostTeam& team, const TransposeParams& a, const LaunchShape& shape) {
  return C2rTranspose(team, a, shape.grid).scratch_bytes();
}

constexpr HostLauncher<TransposeParams> kTranspose[] = {
    {"host_in_place_tiles", transpose_in_place_tiles},
    {"host_in_place_buffer", nullptr, transpose_buffered, buffered_scratch_bytes},
    {"host_in_place_c2r", nullptr, transpose_c2r, c2r_scratch_bytes},
    {"host_small", transpose_small},
    {"host_aos_soa", transpose_aos_soa},
    {"host_tiled", transpose_tiled},
    {"host_serial", transpose_small},  // one task,
};

}  // namespace

TransposeFamily::HostTable TransposeFamily::on_host() noexcept { return kTranspose; }

}  // namespace gpumem
