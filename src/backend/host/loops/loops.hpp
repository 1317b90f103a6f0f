// The inner loops of the host backend. Each file of this folder except dispatch.cpp is compiled once per instruction
// set, in the namespace GPUMEM_LOOPS. host_loops() selects one set at run time. Every set computes the same bits.
// Except for their tables, these files have only internal linkage. They call inline functions of shared headers only if
// inlining is certain. Otherwise the linker could use code for a wide instruction set in another file.
#pragma once

#include <cstdint>
#include <utility>

#include "gpumem.h"
#include "kernels/map/params.hpp"
#include "kernels/nodes.hpp"

namespace gpumem {

// The partial result of x[0] .. x[n - 1], n >= 1. An index counts from x. Elements are contiguous and aligned. y is
// nullptr except for dot products. Reads each element once, from front to back.
using ReduceLoop = ReduceNode (*)(const void* x, const void* y, int64_t n);

// The sums and the product of one type, in the order of Addend. nullptr if the table lacks one.
template <class Loop>
struct LoopsByAddend {
  Loop of[kAddends]{};
  constexpr const Loop& operator[](Addend addend) const noexcept { return of[static_cast<int>(addend)]; }
};

template <class T>
struct ByType {
  T of[kDtypes];
  constexpr const T& operator[](gpumem_dtype dtype) const noexcept { return of[dtype]; }
};
template <class T, class F>
constexpr ByType<T> by_type(const F& value) {
  return [&]<int... kTypes>(std::integer_sequence<int, kTypes...>) {
    return ByType<T>{{value.template operator()<kTypes>()...}};
  }
  (std::make_integer_sequence<int, kDtypes>{});
}

using IntegerLoops = ByType<LoopsByAddend<ReduceLoop>>;

// They use the caller's floating-point environment.
struct FloatLoops {
  ByType<LoopsByAddend<ReduceLoop>> by_addend;
  ReduceLoop sum_compensated;  // f64
  ReduceLoop norm;             // f64
};

// Order-free sums of elements and products, and of squares for a norm.
using OrderFreeLoops = ByType<LoopsByAddend<ReduceLoop>>;

template <class Loop>
struct RangeLoopsOf {
  ByType<Loop> range;
  ByType<Loop> valid_minimum;  // `valid`: without NaNs, only for floating-point types
  ByType<Loop> valid_maximum;
  ByType<Loop> valid_count;  // a sum, exact in any order
  ByType<Loop> first_minimum;
  ByType<Loop> first_maximum;
  ByType<Loop> first_largest;  // by magnitude
  ByType<Loop> first_valid_minimum;
  ByType<Loop> first_valid_maximum;
};
using RangeLoops = RangeLoopsOf<ReduceLoop>;

// Destination of the results of neighbouring lines, at any alignment. Loops with `segments` can store values. All others
// store partial results.
struct LineResults {
  ReduceNode* nodes = nullptr;
  char* values = nullptr;
};

// Many lines at once, pitch bytes apart, at any alignment. There is at least one line with at least one element.
// columns: at most kStripColumns neighbouring columns of at most kLeafTerms rows. rows: at most `longest` elements
// each. Indices of a search count from the first element of their line.
constexpr int64_t kStripColumns = 4096;
constexpr int64_t kColumnScratchBytes = int64_t{448} << 10;  // aligned to 64
struct LineLoop {
  void (*columns)(const char* x, int64_t pitch, int64_t rows, int64_t columns, char* scratch, LineResults results);
  void (*rows)(const char* x, int64_t pitch, int64_t rows, int64_t cols, LineResults results);
  int64_t longest;
  // Segment i < count has elements [offsets[i], offsets[i + 1]) of x, from 0 to `longest`. Only for sums and products of
  // floating-point elements.
  void (*segments)(const char* x, const int64_t* offsets, int64_t count, LineResults results) = nullptr;
};

struct FloatLineLoops {
  ByType<LoopsByAddend<LineLoop>> by_addend;
  LineLoop sum_compensated;  // f64
};

struct WordLineLoops {
  ByType<LoopsByAddend<LineLoop>> by_addend;
  RangeLoopsOf<LineLoop> ranges;
};

// Transposes rows [first_row, last_row) and columns [first_col, last_col) of src into dst. buffer: nullptr, or
// host_transpose_buffer_bytes() that begin at a cache line. With a buffer, writes to a large dst bypass the caches.
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

// Structures [first, last) of a narrow matrix. from_packed: rows of `width` elements of src become columns of dst.
// Otherwise columns of src become rows of `width` elements of dst. buffer: nullptr, or room for
// kHostAosSoaWidth * host_aos_soa_tile() elements.
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
  // src_next, dst_next: bytes from one matrix to the next. The band is the whole first matrix.
  void (*transpose_small[5])(TransposeBand band, int64_t matrices, int64_t src_next, int64_t dst_next);
  void (*fill)(char* dst, int64_t bytes, const unsigned char* word, bool stream);  // dst + 16 k begins with word
  // Bypasses the caches. The caller calls stream_fence().
  void (*stream_row)(char* dst, const char* src, int64_t bytes);
};

// z[i] = factor[0] * x[0][i] + factor[1] * x[1][i] + ..., or x[0][i] * x[1][i], for i < n. It uses the caller's
// floating-point environment. Any alignment. Steps are in bytes. Factors are bits of the type. z may be a source.
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
  bool stream = false;  // writes to z bypass the caches too
};

struct ArithmeticLoops {
  void (*f32)(const ArithmeticRow& row);
  void (*f64)(const ArithmeticRow& row);
};

// dst[i] = src[i] as another type, for i < n, in the caller's floating-point environment. Any alignment. dst may be src
// if the elements have the same size.
struct ConvertRun {
  gpumem_dtype src_type;
  const char* src;
  gpumem_dtype dst_type;
  char* dst;
  int64_t n;
  bool stream;  // dst is larger than the caches, and writes bypass them
};

// Rows of gpumem_map(), gpumem_compare(), gpumem_where() or gpumem_convert_scaled(), in the caller's floating-point
// environment. Any alignment. Steps are in bytes, and 0 repeats an element. z may be a source. A comparison is one of
// the first four.
struct MapRow {
  static constexpr int kBuffers = kMaxMapSources + 2;
  MapKind kind;
  int32_t op;
  gpumem_dtype dtype;
  gpumem_dtype dst_type;
  int sources;
  int64_t bytes[kMaxMapSources];  // of an element
  int64_t z_bytes;
  const char* x[kMaxMapSources];
  int64_t step[kMaxMapSources];
  int64_t x_row[kMaxMapSources];  // bytes from row to row
  char* z;
  int64_t z_step;
  int64_t z_row;
  int64_t n;
  int64_t rows;  // if more than one, each fits a buffer
  double nan_value;
  char* buffer;          // kBuffers of buffer_bytes each, at a cache line
  int64_t buffer_bytes;  // a multiple of cache lines
  bool ahead;            // the operands are larger than the caches
  bool stream;           // writes to z bypass the caches too
};

// The source of one column of dst. `at` counts bytes from the start of a row of src. `step` counts bytes to the right
// neighbour, or is 0 at the edge or without a weight.
struct ResizeColumn {
  int64_t at;
  int64_t step;
};

// Eight neighbouring elements of a line. Four elements and their right neighbours are in one window of a row, at[i]
// bytes from its start. A window has 16 bytes, or 32 for floats. pick for integers: two byte positions in the window
// per element, then two for its neighbour (for u8, the second is 0x80). pick for floats: positions of four elements,
// then of their neighbours.
struct ResizeEight {
  int64_t at[2];
  uint32_t weight[8];
  uint32_t pick[16];
};

// n columns, or n elements with a weight each. Any alignment. A line has n x channels words of 4 bytes
// (ResizeBlend::Line).
using ResizeAcross = void (*)(const void* row, const ResizeColumn* columns, const uint32_t* weights, int64_t n,
                              void* line);
using ResizeAcrossEights = void (*)(const void* row, const ResizeEight* eights, int64_t n, void* line);
struct ResizeLoops {
  // take: unchanged pixels. across: pixels to a line. Both by channels - 1 and log2 of the element's bytes.
  void (*take[4][3])(const void* row, const ResizeColumn* columns, int64_t n, void* to);
  ResizeAcross across[4][3];
  // Eights to a line, by log2 of the element's bytes. nullptr if the instruction set has no such loop.
  ResizeAcrossEights across_eights[3];
  void (*down[3])(const void* upper, const void* lower, uint32_t weight, int64_t n,
                  void* dst);  // two lines to elements
};

// The prefixes of a block of up to kLeafTerms floating-point elements, in the order of kernels/order.hpp. Elements past
// the end are neutral. It uses the caller's floating-point environment.
struct ScanBlock {
  gpumem_dtype dtype;
  bool product;
  const void* x;         // aligned to its elements
  int64_t rows;          // of kLeafLanes elements
  const double* before;  // subtrees of the blocks before this one, the nearest first
  int32_t count;
  double* prefixes;  // of all rows. NaNs are canonical
};

// The next prefixes of neighbouring columns of floating-point elements, in the same order. The number of rows before is a
// multiple of `lanes`.
constexpr int64_t kScanColumns = 8;
struct ScanColumns {
  gpumem_dtype dtype;
  bool product;
  const char* x;         // aligned to its elements
  int64_t pitch;         // bytes from row to row
  int64_t rows;          // up to `lanes`
  int64_t lanes;         // a power of 2: kLeafLanes, or fewer if the columns have no more rows
  const double* before;  // `count` rows of kScanColumns subtrees of the blocks before this one, the nearest first
  int32_t count;
  // Of the fold: 2 * lanes rows of kScanColumns values. The fold to m lanes has rows m to 2m - 1, so row 1 has the sums of
  // the block. The caller makes all rows neutral at the start of a block.
  double* sums;
  double* prefixes;  // of all rows. NaNs are canonical
};

struct Loops {
  const IntegerLoops& integers;
  const FloatLoops& floats;
  const OrderFreeLoops& order_free;
  const RangeLoops& ranges;
  const MoveLoops& moves;
  const FloatLineLoops& float_lines;
  const WordLineLoops& word_lines;
  const ArithmeticLoops& arithmetic;
  const ResizeLoops& resizes;
  void (*convert)(const ConvertRun& run);
  bool (*map)(const MapRow& row);          // false if it divided an integer by 0
  double (*scan)(const ScanBlock& block);  // returns the block's sum or product
  void (*scan_columns)(const ScanColumns& columns);

  // For every op of the type, with DOT and NRM2.
  ReduceLoop reduce(gpumem_dtype dtype, gpumem_reduce_op op) const noexcept;
  // For every op of the reductions of an axis, and the searches.
  LineLoop lines(gpumem_dtype dtype, gpumem_reduce_op op) const noexcept;
};

// The widest loops that the processor can run, up to `limit`: base, avx2, avx512, or nullptr for no limit. Throws
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
namespace GPUMEM_LOOPS {
extern const IntegerLoops integers;
extern const FloatLoops floats;
extern const OrderFreeLoops order_free;
extern const RangeLoops ranges;
extern const MoveLoops moves;
extern const FloatLineLoops float_lines;
extern const WordLineLoops word_lines;
extern const ArithmeticLoops arithmetic;
extern const ResizeLoops resizes;
void convert(const ConvertRun& run);
bool map(const MapRow& row);
double scan(const ScanBlock& block);
void scan_columns(const ScanColumns& columns);
inline constexpr Loops kParts = {integers,   floats,  order_free, ranges, moves, float_lines, word_lines,
                                 arithmetic, resizes, convert,    map,    scan,  scan_columns};
}  // namespace GPUMEM_LOOPS
#endif

}  // namespace gpumem
