// What the launchers of the reductions take: plain arguments in, launches on a stream out.
#pragma once

#include <cstdint>

#include "gpumem.h"
#include "kernels/launch.hpp"
#include "kernels/nodes.hpp"
#include "kernels/reduce/limits.hpp"
#include "kernels/reduce/line_plans.hpp"
#include "kernels/reduce/spans.hpp"

namespace gpumem::kernels {

// What a blocking call waits for, in pinned memory that the device has mapped.
struct ReduceSlot {
  ReduceNode node;
  gpumem_status status;  // of many lines at once
  uint32_t ticket;       // written last: equal to the launch's ticket when the rest is there
};

// Scratch of one launch at a time: nodes of blocks, a counter for each group of blocks that hand their nodes to the last of
// them, and a status. Nodes take up to kScratchNodeBytes. Counters and status are 0 before and after every launch.
constexpr int64_t kScratchCounters = 16384;
constexpr int64_t kLongRunCounter = kScratchCounters - 1;  // counts the runs of very long segments
struct ReduceScratch {
  void* nodes = nullptr;
  unsigned* counters = nullptr;
  gpumem_status* status = nullptr;
};

// The lines that are reduced, each to a value of its own. A reduction of one sequence is a single line.
struct LineLayout {
  int64_t count = 1;
  int64_t length = 0;     // elements of each; with offsets, elements of x
  int64_t stride = 1;     // between the elements of a line, in elements
  int64_t pitch = 0;      // between neighbouring lines of a batch
  int64_t per_batch = 1;  // lines of a batch
  int64_t batch_stride = 0;
  const int64_t* offsets = nullptr;  // segments: line l is [offsets[l], offsets[l + 1])
  bool many = false;  // results lie one after the other, 0 where there is no value; the status is the largest
};

// First what the kernels of many lines take, in few cache lines.
struct ReduceLaunch {
  gpumem_dtype dtype = GPUMEM_I32;
  gpumem_reduce_op op = GPUMEM_SUM;
  const void* x = nullptr;
  void* result = nullptr;           // may be nullptr, as the next and index
  gpumem_status* status = nullptr;  // of many lines: only where none of them can fail
  bool prepares = false;            // there is that, or so few blocks that the next kernel begins beside them
  int64_t tile = 0;                 // elements of a line that a block takes
  LineLayout lines{};
  ReduceScratch scratch{};
  int64_t blocks_per_line = 0;  // of many lines: runs
  int64_t grid = 0;             // blocks, of many lines
  int64_t rest_grid = 0;        // of segments: blocks for those that are very long
  int32_t block = 0;            // threads
  const void* y = nullptr;      // dot: the second operand
  int64_t y_stride = 0;
  bool single_tile = false;  // the threads of one block, or of a cluster of blocks, load the whole sequence at once
  // Where the value goes. A blocking reduction of one line: the node, to the slot. Else the finished value.
  ReduceSlot* slot = nullptr;
  uint32_t ticket = 0;
  ReduceNode* nodes = nullptr;  // of an ordered sum: one for each of trees, and the slot only tells that they are there
  const LeafTrees* trees = nullptr;    // of the host, as the next
  const LineConfig* config = nullptr;  // of many lines
  int64_t* index = nullptr;
};

// What the kernels of a sequence of its own are given: no more than two cache lines, of which the first has what comes first.
template <class Span>
struct Sequence {
  Span span;
  int32_t steps;  // chunks or leaves that a block takes
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

ReduceLauncher reduce_tiles;           // a contiguous sequence of aligned elements
ReduceLauncher reduce_single_tile;     // a short contiguous sequence of aligned elements
ReduceLauncher reduce_strided_scalar;  // any lines
ReduceLauncher reduce_warp_lines;      // contiguous lines
ReduceLauncher reduce_columns;
ReduceLauncher reduce_windows;
ReduceLauncher reduce_few_rows;  // columns that a thread has each, for reduce_columns

// The textbook ladder: a step of the reduction in shared memory and the data blocks that a block adds on the way in; and each thread's
// share of x, contiguous or with the grid's stride.
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

// Whether clusters of kClusterBlocks fit the current device, or the part of it that this process has, with each block on a
// multiprocessor of its own, as the registers of the largest want it. shared_bytes: the most that a block can have.
bool reduce_clusters_fit(int64_t shared_bytes) noexcept;

// Hands the status of many lines to the caller, or to the slot, and makes the scratch's 0 again.
LaunchResult reduce_hand_over_status(const ReduceLaunch& launch, Stream stream);

}  // namespace gpumem::kernels
