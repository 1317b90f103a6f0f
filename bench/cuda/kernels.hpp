// The benchmarks' own kernels: inputs, expected results, comparisons, the gate. They are simple on purpose and share no
// code with the library's.
#pragma once

#include <cuda_runtime.h>
#include <gpumem.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "problems/contents.hpp"
#include "support/plain.hpp"

namespace bench {

void write_contents(void* dst, int64_t bytes, const tool::Contents& contents);

// The operations in their simplest form. They block.
void move_plainly(void* dst, const void* src, const Axes& axes);
void index_plainly(void* dst, const void* src, const int64_t* index, int64_t n, int64_t row_bytes, bool scatter);
void axpby_plainly(gpumem_dtype dtype, double alpha, const void* x, double beta, const void* y, void* z, int64_t n);
void fill_plainly(void* dst, int64_t bytes, const tool::Pattern& pattern, int64_t pattern_bytes);

// In units of up to 16 bytes. Blocks.
int64_t count_different(const void* a, const void* b, int64_t bytes);
// Blocks.
int64_t count_different(const double* got, const double* expected, int64_t n, double tolerance);

// Expected results of reductions. Threads loop over elements, blocks combine their threads, the host combines the
// blocks. Sums of integers wrap, so cases must fit 64 bits. products is the sum of x[i] * y[i].
template <class T>
struct Reference {
  using Sum = std::conditional_t<std::is_floating_point_v<T>, double, uint64_t>;
  Sum sum, products, cubes;
  T min, max;
  int64_t argmin, argmax;  // the first of equals
};

// For int8_t, uint8_t, int32_t, int64_t, float and double; n >= 1. Blocks.
template <class T>
Reference<T> reference_reduce(const T* x, const T* y, int64_t n);

// out[k] = the sum of row k, or column k, of a dense row-major matrix.
void reference_line_sums(const float* x, int64_t rows, int64_t cols, bool of_columns, double* out);

// Boxes of 8-byte elements by a table in device memory, as programs copy them: a row of blocks per box, whose threads
// loop over its elements. The last axis is contiguous on both sides, and every extent is at least 1.
struct TableBox {
  const double* src;
  double* dst;
  int32_t extent[3];
  int64_t src_stride[2];
  int64_t dst_stride[2];
};
void launch_boxes(const TableBox* table, int boxes, int64_t elements_of_box, cudaStream_t stream);

// Reads bytes, a multiple of 16, once. L2 then contains only their clean lines.
void launch_read(const void* x, int64_t bytes, unsigned int* sink, cudaStream_t stream);

// result = the counts, or the sums, of elements by index, with one atomic per element. dtype: GPUMEM_I32, or GPUMEM_F32
// with sums in f64. x: nullptr counts. result has bins numbers of 8 bytes.
void launch_atomics(gpumem_dtype dtype, const void* x, const int32_t* index, int64_t n, void* result, int64_t bins,
                    cudaStream_t stream);

// Occupies the stream until *release becomes non-zero; after two seconds it gives up and sets *timed_out.
void launch_gate(const int* release, int* timed_out, cudaStream_t stream);

// The cheapest launch with the arguments of a fill: the baseline of a dispatch.
void launch_small_fill(void* dst, const tool::Pattern& pattern, int64_t count, cudaStream_t stream);

}  // namespace bench
