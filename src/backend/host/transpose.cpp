// Transposes on the host.
#include <algorithm>
#include <cstring>

#include "backend/host/host_backend.hpp"
#include "backend/host/implementations.hpp"
#include "backend/host/parallel.hpp"
#include "backend/host/transpose_in_place.hpp"
#include "base/checked.hpp"
#include "kernels/sizes.hpp"
#include "kernels/transpose/limits.hpp"

namespace gpumem {
namespace {

int64_t bytes_of(const TransposeParams& a) noexcept { return a.batches * a.rows * a.cols * a.element_bytes; }

bool streamed(const TransposeParams& a) noexcept {
  return streams_transpose(bytes_of(a), a.src_ld * a.element_bytes, a.dst_ld * a.element_bytes);
}

TransposeBand matrix(const TransposeParams& a, int64_t batch, void* buffer = nullptr) noexcept {
  return {.src = static_cast<const char*>(a.src) + batch * a.src_batch_stride * a.element_bytes,
          .src_ld = a.src_ld,
          .dst = static_cast<char*>(a.dst) + batch * a.dst_batch_stride * a.element_bytes,
          .dst_ld = a.dst_ld,
          .last_row = a.rows,
          .last_col = a.cols,
          .buffer = buffer};
}

// The longer sides of all matrices form one row of tiles. Each task takes an equal run of them, and calls f(batch,
// first tile, last tile, memory of the task) for its part of each matrix.
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

void swap_elements(const TransposeParams& a, char* upper, char* lower, int64_t rows, int64_t cols) noexcept {
  const auto bytes = static_cast<size_t>(a.element_bytes);
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t col = upper == lower ? row + 1 : 0; col < cols; ++col) {
      char* const p = upper + (row * a.dst_ld + col) * a.element_bytes;
      std::swap_ranges(p, p + bytes, lower + (col * a.dst_ld + row) * a.element_bytes);
    }
  }
}

// Swaps a tile with the one across the diagonal: the first goes to the buffer, the second to its place, and the buffer
// to the second.
void swap_pair(const HostTeam& team, const TransposeParams& a, const TilePair& pair, char* matrix,
               char* buffer) noexcept {
  const auto loop = team.loops.moves.transpose[log2_of(a.element_bytes)];
  const int64_t tile = host_transpose_tile(a.element_bytes);
  const int64_t rows = std::min(tile, a.rows - pair.row * tile);
  const int64_t cols = std::min(tile, a.rows - pair.col * tile);
  char* upper = matrix + (pair.row * a.dst_ld + pair.col) * tile * a.element_bytes;
  char* lower = matrix + (pair.col * a.dst_ld + pair.row) * tile * a.element_bytes;
  if (buffer == nullptr) return swap_elements(a, upper, lower, rows, cols);
  loop({.src = upper, .src_ld = a.dst_ld, .dst = buffer, .dst_ld = rows, .last_row = rows, .last_col = cols});
  if (pair.row != pair.col) {
    loop({.src = lower, .src_ld = a.dst_ld, .dst = upper, .dst_ld = a.dst_ld, .last_row = cols, .last_col = rows});
  }
  for (int64_t row = 0; row < cols; ++row) {
    std::memcpy(lower + row * a.dst_ld * a.element_bytes, buffer + row * rows * a.element_bytes,
                static_cast<size_t>(rows * a.element_bytes));
  }
}

int64_t matrix_bytes(const TransposeParams& a) noexcept { return a.rows * a.cols * a.element_bytes; }

}  // namespace

namespace host {

void transpose_tiled(const HostTeam& team, const TransposeParams& a, const Config& config, char*) {
  const auto loop = team.loops.moves.transpose[log2_of(a.element_bytes)];
  const int64_t tile = host_transpose_tile(a.element_bytes);
  const bool along_rows = a.rows >= a.cols;
  const int64_t longer = std::max(a.rows, a.cols);
  share_tiles(team, a, config.grid, ceil_div(longer, tile),
              streamed(a) ? host_transpose_buffer_bytes(a.element_bytes) : 0,
              [&](int64_t batch, int64_t first, int64_t last, void* buffer) {
                TransposeBand band = matrix(a, batch, buffer);
                (along_rows ? band.first_row : band.first_col) = first * tile;
                (along_rows ? band.last_row : band.last_col) = std::min(last * tile, longer);
                loop(band);
              });
}

void transpose_aos_soa(const HostTeam& team, const TransposeParams& a, const Config& config, char*) {
  const auto loop = team.loops.moves.aos_soa[log2_of(a.element_bytes)];
  const int64_t tile = host_aos_soa_tile(a.element_bytes);
  const bool stream = streamed(a);
  const bool from_packed = a.cols <= a.rows;
  const int64_t structures = std::max(a.rows, a.cols);
  share_tiles(team, a, config.grid, ceil_div(structures, tile),
              bytes_of(a) > kHostStackBuffer ? kHostAosSoaWidth * tile * a.element_bytes : 0,
              [&](int64_t batch, int64_t first, int64_t last, void* buffer) {
                const TransposeBand all = matrix(a, batch);
                loop({all.src, all.src_ld, all.dst, all.dst_ld, std::min(a.rows, a.cols), first * tile,
                      std::min(last * tile, structures), from_packed, stream, buffer});
              });
}

void transpose_small(const HostTeam& team, const TransposeParams& a, const Config& config, char*) {
  const auto loop = team.loops.moves.transpose_small[log2_of(a.element_bytes)];
  const int64_t a_task = ceil_div(a.batches, config.grid);
  team.parallel(ceil_div(a.batches, a_task), [&](int64_t task) {
    const int64_t first = task * a_task;
    loop(matrix(a, first), std::min(a_task, a.batches - first), a.src_batch_stride * a.element_bytes,
         a.dst_batch_stride * a.element_bytes);
  });
}

// Element by element: the reference for the other implementations.
void transpose_serial(const HostTeam&, const TransposeParams& a, const Config&, char*) {
  const auto bytes = static_cast<size_t>(a.element_bytes);
  for (int64_t batch = 0; batch < a.batches; ++batch) {
    const TransposeBand b = matrix(a, batch);
    for (int64_t row = 0; row < a.rows; ++row) {
      for (int64_t col = 0; col < a.cols; ++col) {
        std::memcpy(b.dst + (col * a.dst_ld + row) * a.element_bytes, b.src + (row * a.src_ld + col) * a.element_bytes,
                    bytes);
      }
    }
  }
}

void transpose_in_place_tiles(const HostTeam& team, const TransposeParams& a, const Config& config, char*) {
  const int64_t tile = host_transpose_tile(a.element_bytes);
  const int64_t across = ceil_div(a.rows, tile);
  const int64_t pairs = transpose_tile_pairs(across);
  const int64_t side = std::min(tile, a.rows);
  const int64_t tile_bytes = side * side * a.element_bytes;
  share_tiles(team, a, config.grid, pairs, tile_bytes > kHostStackBuffer ? tile_bytes : 0,
              [&](int64_t batch, int64_t first, int64_t last, void* large) {
                alignas(64) char small[kHostStackBuffer];
                char* const buffer = tile_bytes > kHostStackBuffer ? static_cast<char*>(large) : small;
                char* matrix = static_cast<char*>(a.dst) + batch * a.dst_batch_stride * a.element_bytes;
                for (int64_t i = first; i < last; ++i) {
                  const TilePair pair(i, across);
                  if (pair.col < across) swap_pair(team, a, pair, matrix, buffer);
                }
              });
}

// Copies each matrix to scratch memory, and transposes it back.
void transpose_in_place_buffer(const HostTeam& team, const TransposeParams& a, const Config& config, char* scratch) {
  const int64_t bytes = matrix_bytes(a);
  TransposeParams back = a;
  back.src_ld = a.cols;
  back.batches = 1;
  if (bytes <= kHostInPlaceBytes) {
    const auto loop = team.loops.moves.transpose[log2_of(a.element_bytes)];
    const int64_t tasks = config.own.get<BufferedTasks>().count;
    return team.parallel(tasks, [&](int64_t task) {
      TransposeParams own = back;
      char* const copy = scratch + task * bytes;
      own.src = copy;
      for (int64_t batch = task; batch < a.batches; batch += tasks) {
        own.dst = matrix(a, batch).dst;
        std::memcpy(copy, own.dst, static_cast<size_t>(bytes));
        loop(matrix(own, 0));
      }
    });
  }
  back.src = scratch;
  const auto transpose = std::min(a.rows, a.cols) <= kHostAosSoaWidth ? transpose_aos_soa : transpose_tiled;
  const int64_t piece = ceil_div(bytes, config.grid);
  for (int64_t batch = 0; batch < a.batches; ++batch) {
    back.dst = matrix(a, batch).dst;
    team.parallel(ceil_div(bytes, piece), [&](int64_t i) {
      std::memcpy(scratch + i * piece, static_cast<const char*>(back.dst) + i * piece,
                  static_cast<size_t>(std::min(piece, bytes - i * piece)));
    });
    transpose(team, back, config, nullptr);
  }
}

void transpose_in_place_c2r(const HostTeam& team, const TransposeParams& a, const Config& config, char* scratch) {
  C2rTranspose(team, a, config.own.get<C2rShares>()).run(scratch);
}

}  // namespace host

}  // namespace gpumem
