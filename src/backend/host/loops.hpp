// The inner loops of the host backend. The files loops_*.cpp are compiled once for each instruction set, which GPUMEM_LOOPS
// names as a namespace, and one set of tables is picked at run time; every set computes the same bits. Everything in those
// files but their table has internal linkage, and they call no inline function of a shared header where it might not be
// inlined, so that no code for a wide instruction set can be taken by the linker for another file's.
#pragma once

#include <cstdint>

#include "backend/backend.hpp"

namespace gpumem {

// The node of x[0] .. x[n - 1], as if the sequence began there: an index that it finds counts from x. The elements lie side by
// side and are aligned, in y (of a dot product, else nullptr) as well; n >= 1. Reads n elements once, from front to back.
using ReduceLoop = ReduceNode (*)(const void* x, const void* y, int64_t n);

// By dtype, up to u64.
struct IntegerLoops {
  ReduceLoop sum[8];
  ReduceLoop sum_abs[8];
  ReduceLoop sum_squares[8];
  ReduceLoop sum_cubes[8];
};

// By dtype - GPUMEM_F16; dot from GPUMEM_F32 on. In the floating-point environment that the caller has set.
struct FloatLoops {
  ReduceLoop sum[4];
  ReduceLoop sum_abs[4];
  ReduceLoop sum_squares[4];
  ReduceLoop sum_cubes[4];
  ReduceLoop dot[2];
  ReduceLoop sum_compensated;  // f64
  ReduceLoop norm;             // f64
};

// By dtype.
struct RangeLoops {
  ReduceLoop range[12];
  ReduceLoop first_minimum[12];
  ReduceLoop first_maximum[12];
};

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

// Structures [first, last) of a narrow matrix: rows of `width` elements of src become columns of dst (from_packed), or columns of
// src become rows of `width` elements of dst.
struct NarrowBand {
  const char* src;
  int64_t src_ld;
  char* dst;
  int64_t dst_ld;
  int64_t width;
  int64_t first;
  int64_t last;
  bool from_packed;
  bool stream;
};

struct MoveLoops {
  void (*narrow[5])(const NarrowBand& band);                                       // by log2 of the element's bytes
  void (*transpose[5])(const TransposeBand& band);                                 // by log2 of the element's bytes
  void (*fill)(char* dst, int64_t bytes, const unsigned char* word, bool stream);  // dst + 16 k begins with word
};

struct Loops {
  const char* name;
  const IntegerLoops& integers;
  const FloatLoops& floats;
  const RangeLoops& ranges;
  const MoveLoops& moves;

  // For every op that the type has, DOT and NRM2 included.
  ReduceLoop reduce(gpumem_dtype dtype, gpumem_reduce_op op) const noexcept;
};

// The widest loops the processor runs, no wider than `limit` (base, avx2, avx512; nullptr: no limit). Throws
// INVALID_ARGUMENT for another name.
const Loops& host_loops(const char* limit);

namespace loops_base {
extern const IntegerLoops integers;
extern const FloatLoops floats;
extern const RangeLoops ranges;
extern const MoveLoops moves;
}  // namespace loops_base

namespace loops_avx2 {
extern const IntegerLoops integers;
extern const FloatLoops floats;
extern const RangeLoops ranges;
extern const MoveLoops moves;
}  // namespace loops_avx2

namespace loops_avx512 {
extern const IntegerLoops integers;
extern const FloatLoops floats;
extern const RangeLoops ranges;
extern const MoveLoops moves;
}  // namespace loops_avx512

}  // namespace gpumem
