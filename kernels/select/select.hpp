// Launchers for selections of rows by a mask, and the division of their work.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/config.hpp"
#include "kernels/launch.hpp"
#include "kernels/limits.hpp"
#include "kernels/select/params.hpp"

namespace gpumem {

// The mask is cut into tiles, from the multiple of kSelectPiece bytes at or before its first byte on. A block counts a
// group of tiles, and each of its warps counts a run of them. A block that writes rows adds up the groups before its
// tile, so there are few groups.
struct SelectShape {
  static constexpr int64_t kMostGroups = 512;
  static constexpr int64_t kRuns = 16;  // per group

  int64_t tiles;
  int64_t run_tiles;
  int64_t runs;  // of a group
  int64_t groups;
  int64_t written;  // tiles whose rows are written: 1 for a count
  int64_t parts;    // blocks that share the rows of a tile

  constexpr int64_t group_tiles() const noexcept { return run_tiles * runs; }
  constexpr int64_t workspace_bytes() const noexcept {
    return tiles * (kSelectTile / 8) + int64_t{sizeof(uint32_t)} * (tiles + groups * (kRuns + 1));
  }
};

// before: bytes from the first tile's start to the mask.
constexpr SelectShape select_shape(const SelectParams& p, int64_t before, int64_t multiprocessors) noexcept {
  constexpr int64_t kPartBytes = int64_t{64} << 10;
  constexpr int64_t kMostParts = 65535;  // blocks along y
  SelectShape s{};
  s.tiles = ceil_div(p.n + before, kSelectTile);
  const int64_t group = ceil_div(s.tiles, SelectShape::kMostGroups);
  s.run_tiles = ceil_div(group, SelectShape::kRuns);
  s.runs = ceil_div(group, s.run_tiles);
  s.groups = ceil_div(s.tiles, s.group_tiles());
  s.written = p.dst_rows == 0 ? 1 : s.tiles;
  if (p.dst_rows == 0) {
    s.parts = 1;
  } else {
    const int64_t by_bytes = ceil_div(std::min(p.n, kSelectTile) * p.row_bytes, kPartBytes);
    const int64_t by_blocks = std::min<int64_t>(2 * multiprocessors / s.tiles, 8);
    s.parts = std::clamp(std::max(by_bytes, by_blocks), int64_t{1}, kMostParts);
  }
  return s;
}

namespace kernels {

Execute<SelectParams> select_numbers;
Execute<SelectParams> select_single;
Execute<SelectParams> select_vec16;
Execute<SelectParams> select_vec8;
Execute<SelectParams> select_words;
Execute<SelectParams> select_bytes;

LaunchResult select_preload();

}  // namespace kernels
}  // namespace gpumem
