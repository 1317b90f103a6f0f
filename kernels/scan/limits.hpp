// Sizes that the plans and kernels of scans agree on. Plain C++.
#pragma once

#include <cstdint>

#include "kernels/alignment.hpp"
#include "kernels/elements.hpp"
#include "kernels/order.hpp"
#include "kernels/scan/params.hpp"

namespace gpumem {

// Sums and products of floating-point elements, which depend on the order of the operations.
constexpr bool is_ordered(const ScanParams& p) noexcept {
  return is_floating(p.dtype) && (p.op == GPUMEM_SUM || p.op == GPUMEM_PROD);
}
// Sums and products of integers.
constexpr bool can_overflow(const ScanParams& p) noexcept {
  return !is_floating(p.dtype) && (p.op == GPUMEM_SUM || p.op == GPUMEM_PROD);
}

// The words of the tiles of one sequence follow it, in two areas (tile_words.cuh). Their first users find zeros.
struct alignas(32) ScanHead {
  uint32_t turn;     // of an area, 0 or 1
  uint32_t used[2];  // words of an area that need not be 0
  uint32_t done;     // finished tiles, if they report
  uint32_t beyond;   // 1 if a value did not fit
};
constexpr int64_t kScanAreaWords = 2304;
// Of the scratch memory of a stream or of a captured call.
constexpr int64_t kScanScratchBytes = static_cast<int64_t>(sizeof(ScanHead)) + 2 * 8 * kScanAreaWords;

// Ordered scans. A warp has a block of kLeafTerms elements.
constexpr int kScanWarps = 8;  // at most. Devices before compute capability 8.0 have room for the elements of fewer
constexpr int64_t kScanStaticBytes = 2304;  // at most, of shared memory, beside the elements
constexpr int scan_warps(int64_t shared_bytes_per_block, int64_t element) noexcept {
  const int64_t least = int64_t{kScanWarps} * kLeafTerms * element + kScanStaticBytes;
  return least <= shared_bytes_per_block ? kScanWarps : kScanWarps / 2;
}
constexpr int kScanRowsThreads = 32 * kLeafRows;  // of ordered_rows
// The sums of aligned groups of 32^k tiles are published: one word each, for k < kScanHops.
constexpr int kScanHops = 7;
constexpr int64_t scan_nodes(int64_t tiles, int hop) noexcept { return (tiles >> 5 * hop) + 1; }

// Other scans. A thread has `rows` vectors of 16 bytes of the result. The first tile begins up to a vector before the
// result, so that vectors are aligned.
constexpr int kScanThreads = 256;
constexpr int scan_vector(gpumem_dtype result_type) noexcept { return 16 / element_bytes(result_type); }
constexpr int scan_rows(gpumem_dtype result_type) noexcept { return scan_vector(result_type) >= 8 ? 4 : 8; }
constexpr int64_t scan_tile(gpumem_dtype result_type) noexcept {
  return int64_t{kScanThreads} * scan_rows(result_type) * scan_vector(result_type);
}
inline int scan_shift(const void* result, gpumem_dtype result_type) noexcept {
  return misalignment(result) / element_bytes(result_type);
}
// The state of a tile: the halves of its word, each with a tag in its upper half.
struct alignas(16) ScanState {
  uint64_t low;
  uint64_t high;
};

// Scans of lines.
constexpr int kScanLinesThreads = 256;
constexpr int kScanLinesRounds = 4;  // elements of a thread, if lines are short
constexpr int kScanColumnsThreads = 64;
constexpr int64_t kScanColumnsAgain = 256;  // offset of a word per block in the workspace, after the state
// The lanes of the fold of a floating-point sum or product. Lines of up to kScanColumnsFewLanes elements have no others.
constexpr int kScanColumnsFewLanes = 64;
constexpr int scan_columns_lanes(const ScanParams& p) noexcept {
  if (!is_ordered(p)) return 0;
  const bool few = p.offsets == nullptr && p.op == GPUMEM_SUM && p.view.extents[0] <= kScanColumnsFewLanes;
  return few ? kScanColumnsFewLanes : kLeafLanes;
}
constexpr int64_t scan_columns_bytes(int lanes) noexcept { return int64_t{8} * lanes * kScanColumnsThreads; }
struct ScanLinesState {
  gpumem_status worst;
  unsigned done;  // blocks
};
static_assert(sizeof(ScanLinesState) <= kScanColumnsAgain);

constexpr int64_t scan_statuses_bytes(int64_t lines) noexcept { return (4 * lines + 255) / 256 * 256; }
// A few long lines, one scan after the other: the launch of each, and offsets in the workspace.
struct ScanEachLine {
  int64_t grid;
  int32_t block;
  int64_t shared_bytes;
  int64_t scan_bytes;   // of the workspace of a scan, which follows the statuses of all lines
  int64_t x = -1;       // a copy of the line, if its elements are not neighbours
  int64_t result = -1;  // the same for the result
};

}  // namespace gpumem
