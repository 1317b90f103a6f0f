// The arguments of the launchers of reductions.
#pragma once

#include <cstdint>

#include "gpumem.h"
#include "kernels/launch.hpp"
#include "kernels/nodes.hpp"
#include "kernels/reduce/limits.hpp"
#include "kernels/reduce/line_plans.hpp"
#include "kernels/reduce/params.hpp"
#include "kernels/reduce/spans.hpp"

namespace gpumem::kernels {

// The result that a blocking call waits for, in pinned memory that is mapped on the device.
struct ReduceSlot {
  ReduceNode node;
  gpumem_status status;  // of many lines together
  uint32_t ticket;       // written last; equal to the launch's ticket when the rest is complete
};

// Scratch memory of one launch at a time. `nodes` has kScratchNodeBytes. A counter counts blocks that give their nodes
// to the last of them. Counters and status are 0 before and after every launch. `scan` has kScanScratchBytes, which
// only scans use (kernels/scan/tile_words.cuh). They are 0 before the first one.
constexpr int64_t kScratchCounters = 16384;
constexpr int64_t kLongRunCounter = kScratchCounters - 1;  // counts the runs of very long segments
// Thread blocks that share the runs of very long segments. More than any device runs at a time.
constexpr int64_t kLongSegmentBlocks = 1024;
struct ReduceScratch {
  void* nodes = nullptr;
  unsigned* counters = nullptr;
  gpumem_status* status = nullptr;
  void* scan = nullptr;
};

// The lines to reduce, each to its own value. A reduction of one sequence has a single line.
struct LineLayout {
  int64_t count = 1;
  int64_t length = 0;     // elements per line; with offsets, elements of x
  int64_t stride = 1;     // elements between neighbours in a line
  int64_t pitch = 0;      // elements between neighbouring lines of a batch
  int64_t per_batch = 1;  // lines per batch
  int64_t batch_stride = 0;
  int64_t run = 0;                   // elements of a line that are `stride` apart; 0: all
  int64_t jump = 0;                  // from the end of a run to the next one
  const int64_t* offsets = nullptr;  // segments: line l is [offsets[l], offsets[l + 1])
};

// The members that kernels of many lines read come first, in few cache lines.
struct ReduceLaunch {
  gpumem_dtype dtype = GPUMEM_I32;
  gpumem_reduce_op op = GPUMEM_SUM;
  const void* x = nullptr;
  void* result = nullptr;           // may be nullptr, as may index
  gpumem_status* status = nullptr;  // of many lines: only if none of them can fail
  bool rounded = false;   // results have the type of the elements, f16, bf16 or f32; otherwise, words of 8 bytes
  bool prepares = false;  // there is a status to write, or the grid is so small that the next kernel may start early
  int64_t tile = 0;       // elements of a line per block
  LineLayout lines{};
  ReduceScratch scratch{};
  int64_t blocks_per_line = 0;  // of many lines: runs
  int64_t grid = 0;             // blocks, of many lines
  int64_t rest_grid = 0;        // of segments: blocks for very long ones
  int32_t block = 0;            // threads
  const void* y = nullptr;      // dot: the second operand
  int64_t y_stride = 0;
  const ReduceView* view = nullptr;  // host memory; nullptr or rank 0: the strides above
  const LineAxes* axes = nullptr;    // host memory; of many lines
  bool single_tile = false;          // the threads of one block or cluster load the whole sequence at once
  // A blocking reduction of one line writes its node to the slot. Others write the finished value.
  ReduceSlot* slot = nullptr;
  uint32_t ticket = 0;
  ReduceNode* nodes = nullptr;         // of an ordered sum: one per tree; the slot then only reports completion
  const LeafTrees* trees = nullptr;    // host memory, as the next
  const LineConfig* config = nullptr;  // of many lines
  int64_t* index = nullptr;
};

// The parameters of the kernels of a single sequence: at most two cache lines, and those needed first are in the first.
template <class Span>
struct Sequence {
  Span span;
  int32_t steps;  // chunks or leaves per block
  gpumem_dtype dtype;
  gpumem_reduce_op op;
  uint32_t ticket;
  ReduceSlot* slot;
  void* result;
  gpumem_status* status;
  int64_t* index;
  void* nodes;
  unsigned* counter;
  Span y;  // dot: the second operand
};

template <class Span>
Sequence<Span> sequence_of(const ReduceLaunch& launch, const Span& span, const Span& y, int32_t steps) noexcept {
  return {span,
          steps,
          launch.dtype,
          launch.op,
          launch.ticket,
          launch.slot,
          launch.result,
          launch.status,
          launch.index,
          launch.scratch.nodes,
          launch.scratch.counters,
          y};
}

using ReduceLauncher = LaunchResult(const ReduceLaunch&, Stream);

ReduceLauncher reduce_tiles;            // a contiguous sequence of aligned elements
ReduceLauncher reduce_single_tile;      // a short contiguous sequence of aligned elements
ReduceLauncher reduce_strided_scalar;   // any of many lines
ReduceLauncher reduce_view;             // one sequence with any strides, or a view of it; lines along several axes
ReduceLauncher reduce_order_free;       // an order-free sum of a contiguous sequence of aligned elements
ReduceLauncher reduce_order_free_view;  // an order-free sum of a sequence with any strides, or a view of it
ReduceLauncher reduce_warp_lines;       // contiguous lines
ReduceLauncher reduce_columns;
ReduceLauncher reduce_windows;
ReduceLauncher reduce_few_rows;  // one thread per column, for reduce_columns

// The textbook ladder. Its variants differ in the steps in shared memory, in the elements added while loading, and in a
// thread's share of x: contiguous or with the grid's stride.
ReduceLauncher reduce_neighbored;
ReduceLauncher reduce_neighbored_packed;
ReduceLauncher reduce_interleaved;
ReduceLauncher reduce_unroll2;
ReduceLauncher reduce_unroll8_warp;
ReduceLauncher reduce_unroll8_complete;
ReduceLauncher reduce_strided;
ReduceLauncher reduce_coalesced;

// By kind of node, for reduce_tiles and reduce_single_tile.
ReduceLauncher reduce_tiles_integer;
ReduceLauncher reduce_tiles_range;
ReduceLauncher reduce_tiles_arg;
ReduceLauncher reduce_tiles_sum;

// Whether clusters of kClusterBlocks fit the current device, or this process's part of it, with one block per
// multiprocessor. The largest kernel's registers require that. shared_bytes: the maximum per block.
bool reduce_clusters_fit(int64_t shared_bytes) noexcept;

// Gives the status of many lines to the caller or the slot, and resets the scratch status to 0.
LaunchResult reduce_hand_over_status(const ReduceLaunch& launch, Stream stream);

}  // namespace gpumem::kernels
