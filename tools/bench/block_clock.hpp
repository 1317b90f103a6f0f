// The command's own kernel: a textbook sum of cubes that counts the clock cycles of each block.
#pragma once

#include <cstdint>

namespace tool {

struct BlockClock {
  int64_t sum;
  int64_t cycles;  // of its multiprocessor, over the block's run
};

struct ClockedSum {
  const int32_t* x;
  int64_t n;
  bool coalesced;  // neighbouring threads read neighbouring elements; else each reads its own run
  BlockClock* blocks;
};

// Return CUDA's error codes; 0 is success.
int blocks_that_fill(int device, int& blocks);
int enqueue_clocked_sum(int device, const ClockedSum& sum, int blocks, void* stream);

}  // namespace tool
