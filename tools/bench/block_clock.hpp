// A kernel of the command's own: the textbook's sum of cubes with a clock in it, so that each block tells its cycles.
#pragma once

#include <cstdint>

namespace tool {

struct BlockClock {
  int64_t sum;     // of the block's cubes
  int64_t cycles;  // of its multiprocessor, from the block's begin to its end
};

struct ClockedSum {
  const int32_t* x;
  int64_t n;
  bool coalesced;  // neighbouring threads take neighbouring elements; else each takes a run of its own
  BlockClock* blocks;
};

// These are CUDA's error codes; 0: none.
int blocks_that_fill(int device, int& blocks);
int enqueue_clocked_sum(int device, const ClockedSum& sum, int blocks, void* stream);

}  // namespace tool
