// Launchers for reductions by index, and the division of their work.
#pragma once

#include <bit>
#include <cstdint>

#include "kernels/config.hpp"
#include "kernels/launch.hpp"
#include "kernels/limits.hpp"
#include "kernels/reduce/line_plans.hpp"
#include "kernels/reduce_by_index/params.hpp"

namespace gpumem {

constexpr int kByIndexThreads = 256;
constexpr int kByIndexEach = 8;  // elements that a thread loads at a time
constexpr int kByIndexEachOfRows = 4;
constexpr int64_t kByIndexTile = int64_t{kByIndexThreads} * kByIndexEach;
// A multiprocessor has one block with tables.
constexpr int kTableThreads = 1024;
constexpr int64_t kTableTile = int64_t{kTableThreads} * kByIndexEach;
// A warp per value compares the whole index with its bin.
constexpr int kWarpPerBinWarps = 16;
constexpr int64_t kWarpPerBinElements = int64_t{1} << 14;
constexpr int kBinThreads = 1024;  // of a block that has a bin
constexpr int kBinEach = 8;
constexpr int64_t kBinTile = int64_t{kBinThreads} * kBinEach;

// Bytes of a bin in shared memory. A block counts fewer than 2^32 elements.
constexpr int table_bin_bytes(const ReduceByIndexParams& p) noexcept { return p.x == nullptr ? 4 : 8; }

// The first bytes of the workspace, which are zeros before the first kernel. The values or the scratch memory of the
// reduction follow.
struct ByIndexHead {
  unsigned long long bad;         // 0, or the complement of the first bad place so far
  unsigned done;                  // blocks that have stored their values
  gpumem_status status;           // the worst of the bins
  unsigned long long row_blocks;  // of bins with many rows
  unsigned many;                  // bins in the lists of buckets.hpp
  unsigned huge;
  unsigned unused[56];
};
static_assert(sizeof(ByIndexHead) == 256);

// Sorted elements: offsets in the workspace, and the launch of their reduction.
struct ByIndexSort {
  int64_t counters;
  int64_t nodes;
  int64_t values;
  int64_t offsets;
  int64_t keys;
  int64_t sorted_keys;
  int64_t packed;  // elements in words of the size that the sort moves, or numbers of rows; -1: x is sorted as it is
  int64_t sorted;
  int64_t columns;  // of sorted rows, one after the other
  int64_t blocks;   // of bins with many rows
  int64_t cub;
  int64_t cub_bytes;
  int64_t segments_grid;
  int64_t segments_tile;
  int32_t segments_block;
  LineConfig lines;
};
constexpr int64_t kFewOfBin = 32;     // elements; bins with more are in lists
constexpr int64_t kManyOfBin = 2048;  // places that a block of few threads sorts
// Few elements per bin: offsets in the workspace (buckets.hpp), and the launch of the scan.
struct ByIndexBuckets {
  int64_t counts;
  int64_t numbers;
  int64_t offsets;
  int64_t places;
  int64_t many;
  int64_t huge;
  int64_t scan;
  int64_t scan_bytes;
  int64_t scan_grid;
};
// Keys hold bins - 1. Elements, or numbers of rows, take 4 bytes if that suffices for them and for their number.
constexpr int key_bits(int64_t bins) noexcept {
  return bins <= 2 ? 1 : static_cast<int>(std::bit_width(static_cast<uint64_t>(bins - 1)));
}
constexpr int key_bytes(int64_t bins) noexcept {
  const int bits = key_bits(bins);
  return bits <= 8 ? 1 : bits <= 16 ? 2 : bits <= 32 ? 4 : 8;
}
constexpr int packed_bytes(const ReduceByIndexParams& p) noexcept {
  return p.n < int64_t{1} << 32 && (!p.of_vector() || element_bytes(p.dtype) <= 4) ? 4 : 8;
}

namespace kernels {

// config.per_thread: copies of the table per block. config.own: shared memory that a block may have, an int32_t.
Execute<ReduceByIndexParams> reduce_by_index_tables;
Execute<ReduceByIndexParams> reduce_by_index_atomics;
Execute<ReduceByIndexParams> reduce_by_index_warp_per_bin;
Execute<ReduceByIndexParams> reduce_by_index_block_per_bin;
Execute<ReduceByIndexParams> reduce_by_index_buckets;
Execute<ReduceByIndexParams> reduce_by_index_rows;
Execute<ReduceByIndexParams> reduce_by_index_sorted;

LaunchResult reduce_by_index_preload();

}  // namespace kernels
}  // namespace gpumem
