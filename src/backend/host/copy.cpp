// Copies on the host: one launcher a variant, in the order of the table's host rows.
#include <algorithm>
#include <cstring>

#include "backend/host/host_backend.hpp"
#include "backend/host/stream_stores.hpp"

namespace gpumem {
namespace {

// Shorter parts have too few whole lines for stores around the caches to be worth their two ragged ends; longer ones than
// the last the C library itself writes around the caches.
constexpr int64_t kShortestStreamed = 256;
constexpr int64_t kLongestStreamed = int64_t{1} << 20;

bool long_enough_to_stream(const CopyParams& b) noexcept { return b.row_bytes >= kShortestStreamed || b.one_range(); }

// Bytes [first, last) of the block, counted without the gaps.
void move(const HostTeam& team, const CopyParams& b, int64_t first, int64_t last, bool stream) {
  if (!stream) {
    for_each_row_part(b, first, last, [](char* dst, const char* src, int64_t part) {
      std::memcpy(dst, src, static_cast<size_t>(part));
    });
    return;
  }
  const auto stream_row = team.loops.moves.stream_row;
  for_each_row_part(b, first, last,
                    [stream_row](char* dst, const char* src, int64_t part) { stream_row(dst, src, part); });
  stream_fence();
}

// shape.tile bytes a task, counted without the gaps: a task may begin and end within a row.
void copy_parallel(const HostTeam& team, const CopyParams& b, const LaunchShape& shape) {
  const int64_t bytes = b.bytes();
  const bool stream = team.larger_than_caches(bytes) && long_enough_to_stream(b) && b.row_bytes < kLongestStreamed;
  team.parallel((bytes + shape.tile - 1) / shape.tile, [&](int64_t i) {
    const int64_t first = i * shape.tile;
    move(team, b, first, std::min(first + shape.tile, bytes), stream);
  });
}

void copy_serial(const HostTeam&, const CopyParams& b, const LaunchShape&) { copy_rows(b); }

constexpr HostLauncher<CopyParams> kCopy[] = {{"host_parallel", copy_parallel}, {"host_serial", copy_serial}};

}  // namespace

CopyFamily::HostTable CopyFamily::on_host() noexcept { return kCopy; }

void HostBackend::move_part(const CopyParams& block, int64_t first, int64_t last, bool around_caches) noexcept {
  move(team_, block, first, last, around_caches && long_enough_to_stream(block));
}

}  // namespace gpumem
