// Copies on the host: one launcher per implementation, in the order of the table's host rows.
#include <algorithm>
#include <cstring>

#include "backend/host/host_backend.hpp"
#include "backend/host/implementations.hpp"
#include "backend/host/runs.hpp"
#include "backend/host/stream_stores.hpp"
#include "base/checked.hpp"

namespace gpumem {
namespace {

// Shorter parts have too few whole lines to pay for their two unaligned ends. For longer ones, the C library's memcpy
// writes around the caches itself.
constexpr int64_t kShortestStreamed = 256;
constexpr int64_t kLongestStreamed = int64_t{1} << 20;

bool long_enough_to_stream(const CopyParams& b) noexcept { return b.row_bytes >= kShortestStreamed || b.one_range(); }

// Bytes [first, last) of the block; padding is not counted.
void move(const HostTeam& team, const CopyParams& b, int64_t first, int64_t last, bool stream) {
  const auto stream_row = team.loops.moves.stream_row;
  const auto move_part = [stream, stream_row](char* dst, const char* src, int64_t part) {
    if (stream) return stream_row(dst, src, part);
    std::memcpy(dst, src, static_cast<size_t>(part));
  };
  const int64_t first_whole = ceil_div(first, b.row_bytes) * b.row_bytes;
  if (stream || b.row_bytes > kLongestShortRun || first_whole > last) {
    for_each_row_part(b, first, last, move_part);
  } else {
    for_each_row_part(b, first, first_whole, move_part);
    int64_t row = first_whole / b.row_bytes;
    for (const int64_t end = last / b.row_bytes; row < end;) {
      const int64_t slice = row / b.rows;
      const int64_t count = std::min(end, (slice + 1) * b.rows) - row;
      const int64_t in_slice = row - slice * b.rows;
      move_runs({.src = b.src + slice * b.src_slice + in_slice * b.src_pitch,
                 .src_pitch = b.src_pitch,
                 .dst = b.dst + slice * b.dst_slice + in_slice * b.dst_pitch,
                 .dst_pitch = b.dst_pitch,
                 .run_bytes = b.row_bytes,
                 .count = count,
                 .stream = false});
      row += count;
    }
    for_each_row_part(b, row * b.row_bytes, last, move_part);
  }
  if (stream) stream_fence();
}

}  // namespace

namespace host {

// config.tile bytes per task, without padding: a task may begin and end within a row.
void copy_parallel(const HostTeam& team, const CopyParams& b, const Config& config, char*) {
  const int64_t bytes = b.bytes();
  const bool stream = team.larger_than_caches(bytes) && long_enough_to_stream(b) && b.row_bytes < kLongestStreamed;
  team.parallel((bytes + config.tile - 1) / config.tile, [&](int64_t i) {
    const int64_t first = i * config.tile;
    move(team, b, first, std::min(first + config.tile, bytes), stream);
  });
}

void copy_serial(const HostTeam&, const CopyParams& b, const Config&, char*) { copy_rows(b); }

}  // namespace host

void HostBackend::move_part(const CopyParams& block, int64_t first, int64_t last, bool around_caches) noexcept {
  move(team_, block, first, last, around_caches && long_enough_to_stream(block));
}

}  // namespace gpumem
