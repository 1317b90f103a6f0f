// The inner loops of the host backend. The files of this folder, dispatch.cpp apart, are compiled once for each instruction set, which
// GPUMEM_LOOPS names as a namespace, and one set is picked at run time; every set computes the same bits. Everything in those
// files but their tables has internal linkage, and they call no inline function of a shared header where it might not be
// inlined, so that no code for a wide instruction set can be taken by the linker for another file's.
#pragma once

#include <cstdint>
#include <utility>

#include "gpumem.h"
#include "kernels/nodes.hpp"

namespace gpumem {

// The node of x[0] .. x[n - 1], as if the sequence began there: an index that it finds counts from x. The elements lie side by
// side and are aligned, in y (of a dot product, else nullptr) as well; n >= 1. Reads n elements once, from front to back.
using ReduceLoop = ReduceNode (*)(const void* x, const void* y, int64_t n);

// The sums and the product of one type, in the order of Addend; nullptr for those that a table has none of.
template <class Loop>
struct LoopsByAddend {
  Loop of[kAddends]{};
  constexpr const Loop& operator[](Addend addend) const noexcept { return of[static_cast<int>(addend)]; }
};

// A value for each type.
template <class T>
struct ByType {
  T of[kDtypes];
  constexpr const T& operator[](gpumem_dtype dtype) const noexcept { return of[dtype]; }
};
// `value` is called with every type as a constant.
template <class T, class F>
constexpr ByType<T> by_type(const F& value) {
  return [&]<int... kTypes>(std::integer_sequence<int, kTypes...>) {
    return ByType<T>{{value.template operator()<kTypes>()...}};
  }
  (std::make_integer_sequence<int, kDtypes>{});
}

using IntegerLoops = ByType<LoopsByAddend<ReduceLoop>>;

// In the floating-point environment that the caller has set.
struct FloatLoops {
  ByType<LoopsByAddend<ReduceLoop>> by_addend;
  ReduceLoop sum_compensated;  // f64
  ReduceLoop norm;             // f64
};

struct RangeLoops {
  ByType<ReduceLoop> range;
  ByType<ReduceLoop> first_minimum;
  ByType<ReduceLoop> first_maximum;
  ByType<ReduceLoop> first_largest;  // by magnitude
};

// Where the results of neighbouring lines go: their nodes, or, of floating-point sums without a root and products, their values, at any alignment.
struct LineResults {
  ReduceNode* nodes = nullptr;
  char* values = nullptr;
};

// Many lines at once, pitch bytes apart. columns: neighbouring columns, at most kStripColumns, of at most kLeafTerms rows. rows: rows of at
// most `longest` elements. At least one line with at least one element, at any alignment.
constexpr int64_t kStripColumns = 4096;
constexpr int64_t kColumnScratchBytes = int64_t{448} << 10;  // aligned to 64
struct LineLoop {
  void (*columns)(const char* x, int64_t pitch, int64_t rows, int64_t columns, char* scratch, LineResults results);
  void (*rows)(const char* x, int64_t pitch, int64_t rows, int64_t cols, LineResults results);
  int64_t longest;
  // Elements [offsets[i], offsets[i + 1]) of x for each i < count, `longest` or fewer, perhaps none. Only floating-point types have it.
  void (*segments)(const char* x, const int64_t* offsets, int64_t count, LineResults results) = nullptr;
};

struct FloatLineLoops {
  ByType<LoopsByAddend<LineLoop>> by_addend;
  LineLoop sum_compensated;  // f64
};

struct WordLineLoops {
  ByType<LoopsByAddend<LineLoop>> by_addend;
  ByType<LineLoop> range;
};

// Rows [first_row, last_row) and columns [first_col, last_col) of src go to their places in dst. buffer: dst is larger than the caches and
// is written around them, from these host_transpose_buffer_bytes(), which begin at a cache line; nullptr: it is written as it comes.
struct TransposeBand {
  const char* src;
  int64_t src_ld;
  char* dst;
  int64_t dst_ld;
  int64_t first_row = 0;
  int64_t last_row;
  int64_t first_col = 0;
  int64_t last_col;
  void* buffer = nullptr;
};

// Structures [first, last) of a narrow matrix: rows of `width` elements of src become columns of dst (from_packed), or columns of
// src become rows of `width` elements of dst. buffer: room for kHostAosSoaWidth * host_aos_soa_tile() elements, or nullptr.
struct AosSoaBand {
  const char* src;
  int64_t src_ld;
  char* dst;
  int64_t dst_ld;
  int64_t width;
  int64_t first;
  int64_t last;
  bool from_packed;
  bool stream;
  void* buffer;
};

struct MoveLoops {
  void (*aos_soa[5])(const AosSoaBand& band);       // by log2 of the element's bytes
  void (*transpose[5])(const TransposeBand& band);  // by log2 of the element's bytes
  // Matrices that lie so many bytes apart; the band is all of the first one.
  void (*transpose_small[5])(TransposeBand band, int64_t matrices, int64_t src_next, int64_t dst_next);
  void (*fill)(char* dst, int64_t bytes, const unsigned char* word, bool stream);  // dst + 16 k begins with word
  void (*stream_row)(char* dst, const char* src, int64_t bytes);  // around the caches; stream_fence() is the caller's
};

// z[i] = factor[0] * x[0][i] + factor[1] * x[1][i] + ..., or x[0][i] * x[1][i], for i < n, in the floating-point environment that the
// caller has set. Any alignment; steps are in bytes. z may be a source. Factors are bits of the type.
struct ArithmeticRow {
  static constexpr int kMost = 8;
  int terms = 0;
  bool product = false;
  uint64_t factor[kMost] = {};
  const char* x[kMost] = {};
  int64_t step[kMost] = {};
  char* z = nullptr;
  int64_t z_step = 0;
  int64_t n = 0;
  bool ahead = false;   // the operands are larger than the caches
  bool stream = false;  // and z is written around them
};

struct ArithmeticLoops {
  void (*f32)(const ArithmeticRow& row);
  void (*f64)(const ArithmeticRow& row);
};

// dst[i] = src[i] as another type, for i < n, in the floating-point environment that the caller has set. Any alignment; dst may be src
// where the elements have one size.
struct ConvertRun {
  gpumem_dtype src_type;
  const char* src;
  gpumem_dtype dst_type;
  char* dst;
  int64_t n;
  bool stream;  // dst is larger than the caches and is written around them
};

// One column of dst: where it begins in a row of src, and how far on its right neighbour lies (0 at the edge, or without a weight), in
// bytes.
struct ResizeColumn {
  int64_t at;
  int64_t step;
};

// Eight neighbouring elements of a line. Each four of them and their neighbours to the right lie in a window of a row, at[i] bytes into
// it, of 16 bytes, for floats 32. pick, of integers: of each element the bytes in the window of itself and of its neighbour, two each, the
// second 0x80 for u8. Of floats: where in the window four and then their neighbours are.
struct ResizeEight {
  int64_t at[2];
  uint32_t weight[8];
  uint32_t pick[16];
};

// n columns, or n elements; an element of a line has a weight of its own. Rows and lines are at any alignment; a line is of n x channels words
// of 4 bytes (ResizeBlend::Line).
using ResizeAcross = void (*)(const void* row, const ResizeColumn* columns, const uint32_t* weights, int64_t n,
                              void* line);
using ResizeAcrossEights = void (*)(const void* row, const ResizeEight* eights, int64_t n, void* line);
struct ResizeLoops {
  // Pixels as they are, and to a line; by channels - 1 and log2 of the element's bytes.
  void (*take[4][3])(const void* row, const ResizeColumn* columns, int64_t n, void* to);
  ResizeAcross across[4][3];
  // Eights to a line, by log2 of the element's bytes; nullptr: this instruction set has none.
  ResizeAcrossEights across_eights[3];
  void (*down[3])(const void* upper, const void* lower, uint32_t weight, int64_t n,
                  void* dst);  // two lines to elements
};

struct Loops {
  const IntegerLoops& integers;
  const FloatLoops& floats;
  const RangeLoops& ranges;
  const MoveLoops& moves;
  const FloatLineLoops& float_lines;
  const WordLineLoops& word_lines;
  const ArithmeticLoops& arithmetic;
  const ResizeLoops& resizes;
  void (*convert)(const ConvertRun& run);

  // For every op that the type has, DOT and NRM2 included.
  ReduceLoop reduce(gpumem_dtype dtype, gpumem_reduce_op op) const noexcept;
  // For every op of the reductions of an axis.
  LineLoop lines(gpumem_dtype dtype, gpumem_reduce_op op) const noexcept;
};

// The widest loops the processor runs, no wider than `limit` (base, avx2, avx512; nullptr: no limit). Throws
// INVALID_ARGUMENT for another name.
const Loops& host_loops(const char* limit);

namespace loops_base {
extern const Loops loops;
}
namespace loops_avx2 {
extern const Loops loops;
}
namespace loops_avx512 {
extern const Loops loops;
}

#if defined(GPUMEM_LOOPS)
// The parts of one instruction set, and all of them.
namespace GPUMEM_LOOPS {
extern const IntegerLoops integers;
extern const FloatLoops floats;
extern const RangeLoops ranges;
extern const MoveLoops moves;
extern const FloatLineLoops float_lines;
extern const WordLineLoops word_lines;
extern const ArithmeticLoops arithmetic;
extern const ResizeLoops resizes;
void convert(const ConvertRun& run);
inline constexpr Loops kParts = {integers,   floats,     ranges,  moves,  float_lines,
                                 word_lines, arithmetic, resizes, convert};
}  // namespace GPUMEM_LOOPS
#endif

}  // namespace gpumem
