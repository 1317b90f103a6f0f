// The inner loops of the host backend. loops.cpp is compiled once for each instruction set, and one table is picked at run
// time; every table computes the same bits.
#pragma once

#include <cstdint>

#include "backend/backend.hpp"

namespace gpumem {

// Rows [first_row, last_row) and columns [first_col, last_col) of src go to their places in dst, in tiles of
// host_transpose_tile() a side. stream: dst is larger than the caches and is written around them.
struct TransposeBand {
  const char* src;
  int64_t src_ld;
  char* dst;
  int64_t dst_ld;
  int64_t first_row;
  int64_t last_row;
  int64_t first_col;
  int64_t last_col;
  bool stream;
};

struct Loops {
  const char* name;
  Int128 (*reduce_i32[7])(const int32_t* x, int64_t n);                            // by gpumem_reduce_op; n >= 1
  void (*transpose[5])(const TransposeBand& band);                                 // by log2 of the element's bytes
  void (*fill)(char* dst, int64_t bytes, const unsigned char* word, bool stream);  // dst + 16 k begins with word
};

// The widest table the processor runs, no wider than `limit` (base, avx2, avx512; nullptr: no limit). Throws
// INVALID_ARGUMENT for another name.
const Loops& host_loops(const char* limit);

extern const Loops kLoopsBase;
extern const Loops kLoopsAvx2;
extern const Loops kLoopsAvx512;

}  // namespace gpumem
