// The peers of the host backend: what a programmer with a compiler and OpenMP writes. Compiled with -O3 -march=native.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bench::openmp {

int threads();

int64_t sum(const int32_t* x, int64_t n);
int64_t min(const int32_t* x, int64_t n);
int64_t max(const int32_t* x, int64_t n);
int64_t sum_abs(const int32_t* x, int64_t n);
int64_t sum_squares(const int32_t* x, int64_t n);
int64_t sum_cubes(const int32_t* x, int64_t n);
int64_t max_abs(const int32_t* x, int64_t n);

// With 128-bit sums, as exact as the library's; the value is the caller's promise to fit 64 bits.
int64_t sum_squares_exact(const int32_t* x, int64_t n);
int64_t sum_cubes_exact(const int32_t* x, int64_t n);

// dst (cols x rows) = transpose of src (rows x cols), in square tiles.
void transpose_tiled(const uint32_t* src, uint32_t* dst, int64_t rows, int64_t cols);

void copy(void* dst, const void* src, std::size_t bytes);  // memcpy of one piece a thread
void fill_bytes(void* dst, int value, std::size_t bytes);  // memset of one piece a thread
void fill_u32(uint32_t* dst, uint32_t value, int64_t count);
void fill_u64_pairs(uint64_t* dst, uint64_t low, uint64_t high, int64_t count);

// For the ceilings: read everything once; write and copy past the caches where the CPU has stores for it.
uint64_t read_all(const uint64_t* x, int64_t n);
void stream_fill(void* dst, int value, std::size_t bytes);
void stream_copy(void* dst, const void* src, std::size_t bytes);

}  // namespace bench::openmp
