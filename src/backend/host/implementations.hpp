// The host's launchers: a function for each implementation of an operation that is only launched.
#pragma once

#include <cstdint>

#include "backend/implementation.hpp"

namespace gpumem::host {

template <class Params>
using Function = void(const HostTeam& team, const Params& params, const Config& config, char* workspace);

Function<ArithmeticParams> arithmetic_parallel;  // workspace with dot products: kDotNodesAt, and a node each per task
Function<ArithmeticParams> arithmetic_serial;
Function<AxpbyParams> axpby_parallel;
Function<AxpbyParams> axpby_serial;
Function<ConvertParams> convert_parallel;
Function<ConvertParams> convert_serial;
Function<CopyParams> copy_parallel;
Function<CopyParams> copy_serial;
Function<CopyBoxesParams> copy_boxes_parallel;
Function<CopyBoxesParams> copy_boxes_serial;
Function<FillParams> fill_parallel;
Function<MapParams> map_parallel;
Function<MapParams> map_serial;
Function<PermuteParams> permute_tiled;
Function<PermuteParams> permute_serial;
Function<ReduceByIndexParams> reduce_by_index_tables;  // workspace: 8 bytes per bin and task
Function<ReduceByIndexParams> reduce_by_index_leaves;
Function<ReduceByIndexParams> reduce_by_index_sorted;
Function<ReduceByIndexParams> reduce_by_index_rows;
Function<ReduceByIndexParams> reduce_by_index_serial;
Function<ResizeParams> resize_parallel;
Function<ResizeParams> resize_serial;
Function<ScanParams> scan_parallel;  // workspace: kScanTaskBytes per task
Function<ScanParams> scan_lines;     // workspace: kScanLinesTaskBytes per task
Function<ScanParams> scan_serial;
Function<SelectParams> select_parallel;
Function<SelectParams> select_serial;
Function<SortParams> sort_parallel;
Function<SortParams> sort_segments;
Function<SortParams> sort_serial;
Function<TransposeParams> transpose_tiled;
Function<TransposeParams> transpose_aos_soa;
Function<TransposeParams> transpose_small;
Function<TransposeParams> transpose_serial;
Function<TransposeParams> transpose_in_place_tiles;
Function<TransposeParams> transpose_in_place_buffer;  // workspace: one matrix per BufferedTasks
Function<TransposeParams> transpose_in_place_c2r;     // workspace: C2rShares

constexpr int64_t kDotNodesAt = 4096;

// Elements are moved to the bucket of their bin, and then to their place in it. Buckets of a single bin take one step.
// The places in the workspace follow each other.
struct BinBuckets {
  int32_t shift;  // bucket: the index without its `shift` lowest bits
  int64_t buckets;
  int64_t segments_tile;  // segments per task of the reduction
};
// The offsets of the bins, or of each bucket's bins and two more.
constexpr int64_t by_index_offsets(const BinBuckets& cut, const ReduceByIndexParams& p) noexcept {
  return p.bins + 2 * cut.buckets;
}
constexpr int64_t by_index_workspace_bytes(const BinBuckets& cut, const ReduceByIndexParams& p,
                                           int64_t tasks) noexcept {
  const int64_t moved = p.n * element_bytes(p.dtype);
  return 8 * (by_index_offsets(cut, p) + tasks * cut.buckets) + moved + (cut.shift > 0 ? moved + 4 * p.n : 0);
}
// The work on rows by index.
struct RowsWork {
  int64_t workers;  // of the reductions
};
// tasks: of the sort.
int64_t by_index_rows_workspace_bytes(const ReduceByIndexParams& params, int64_t tasks, int64_t workers) noexcept;
int64_t by_index_serial_workspace_bytes(const ReduceByIndexParams& params) noexcept;
int64_t by_index_leaves_workspace_bytes(const ReduceByIndexParams& params) noexcept;

// The fewest keys that are worth a task of their own. Each task has a table of counts.
constexpr int64_t kSortTaskKeys = int64_t{1} << 15;
int64_t sort_workspace_bytes(const SortParams& params, int64_t tasks) noexcept;
int64_t sort_serial_workspace_bytes(const SortParams& params) noexcept;
// Per task: a block of kLeafTerms elements, the prefix before it, its prefixes, and the partial result.
constexpr int64_t kScanTaskBytes = 2 * 8 * 1024 + 64 * 32 + 64 + 64;
// Lines that are next to each other are scanned together: a block of each line, its results, its partial results, its sums
// and the subtrees before it. The task's own part holds the prefixes of one line, or of some rows of all lines.
constexpr int64_t kScanLinesTogether = 8;
constexpr int64_t kScanLinesTaskBytes = kScanLinesTogether * (2 * 8 * 1024 + 2048 + 2048 + 512) + kScanTaskBytes;

struct BufferedTasks {
  int64_t count;
};

// Each task has a row or a group of neighbouring columns in the workspace.
struct C2rShares {
  int64_t row_tasks;
  int64_t width;
  int64_t column_tasks;
};
// Maximum bytes per row of a group: whole cache lines, and few enough rows on pages of their own.
constexpr int64_t kC2rColumnBytes = 256;

}  // namespace gpumem::host
