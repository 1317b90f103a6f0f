// Sorts by tiles: sizes and scratch memory. Plain C++, no CUDA.
#pragma once

#include <cstdint>

#include "kernels/sort/params.hpp"

namespace gpumem {

// Positions where the segments of a tile begin. Each has at most as many keys, or is sorted by parts.
constexpr int kSortWindow = kSortBlock / 2;

// The device's workspace, as offsets; -1: not needed. For segments, the first bytes are SegmentTilesHead.
struct SegmentTilesScratch {
  int64_t first;
  int64_t keys[2];
  int64_t positions[2];
};
struct SegmentTilesHead {
  int32_t bad;                 // not 0: the offsets are not in order, or exceed n
  unsigned long long longest;  // segment, if it has more keys than kSortWindow
};

}  // namespace gpumem
