// The host backend's baselines, as a programmer with a compiler and OpenMP writes them. Compiled with -O3
// -march=native.
#pragma once

#include <gpumem.h>

#include <cstddef>
#include <cstdint>

namespace bench::openmp {

int threads();

// dst (cols x rows) = transpose of src (rows x cols), in square tiles.
void transpose_tiled(const uint32_t* src, uint32_t* dst, int64_t rows, int64_t cols);

// Row i of dst = row index[i] of src, or the reverse; rows without padding.
void move_rows(char* dst, const char* src, const int64_t* index, int64_t n, int64_t row_bytes, bool scatter);

void copy(void* dst, const void* src, std::size_t bytes);
void copy_rows(void* dst, std::size_t dst_pitch, const void* src, std::size_t src_pitch, std::size_t row_bytes,
               int64_t rows);
void fill_bytes(void* dst, int value, std::size_t bytes);
void fill_u32(uint32_t* dst, uint32_t value, int64_t count);
void fill_u64_pairs(uint64_t* dst, uint64_t low, uint64_t high, int64_t count);

// z = x + s * y, of float and double.
template <class T>
void triad(const T* x, T s, const T* y, T* z, int64_t n);

// Converted as the language does: u8 to f32, f32 to i16, f64 to f32, i64 to i32.
template <class From, class To>
void convert(const From* src, To* dst, int64_t n);

// Tiles over the two fastest axes, the others in an outer loop. Row-major extents of src; axis d of dst is axis
// order[d] of src. At most 5 axes.
void permute(const uint32_t* src, uint32_t* dst, int rank, const int64_t* extents, const int32_t* order);

// Images of u8 without padding between their rows.
struct Resize {
  const uint8_t* src;
  int64_t src_rows;
  int64_t src_cols;
  uint8_t* dst;
  int64_t dst_rows;
  int64_t dst_cols;
  int64_t channels;
};

// Bilinear, with the arithmetic of gpumem_resize_2d() and precomputed columns.
void resize_bilinear(const Resize& r);

// Writes one value to `result` (two for GPUMEM_MIN_MAX), an int64_t or a double.
// GPUMEM_ARG_MIN and GPUMEM_ARG_MAX also write the position to `index`. GPUMEM_DOT's second operand is y.
// Sums are in double for floating point, in 128 bits for 64-bit integers, else in int64_t. Minima and maxima are taken
// in the elements' own type.
using Loop = void (*)(const void* x, const void* y, int64_t n, void* result, int64_t* index);

// All of the library's operations for i32, i64, f32 and f64, only sums for the other types; else NULL.
Loop loop(gpumem_reduce_op op, gpumem_dtype dtype);

// Squares and cubes of i32 with 128-bit sums, as exact as the library's.
Loop exact_loop(gpumem_reduce_op op);

// For the measured peaks: read everything once; write and copy around the caches if the CPU has stores for it.
uint64_t read_all(const uint64_t* x, int64_t n);
void stream_fill(void* dst, int value, std::size_t bytes);
void stream_copy(void* dst, const void* src, std::size_t bytes);

}  // namespace bench::openmp
