// The host backend's peers in reducing: the plain OpenMP loop of the same precision, compiled with -O3 -march=native. f16,
// bf16, f32 and f64 are summed in double, 64-bit integers in 128 bits, the others in int64_t; minima and maxima are taken in the
// elements' own type.
#pragma once

#include <gpumem.h>

#include <cstdint>

namespace bench::openmp {

// Writes one value to `result` (two for GPUMEM_MIN_MAX), an int64_t or a double, and the position to `index` for
// GPUMEM_ARG_MIN and GPUMEM_ARG_MAX. y is GPUMEM_DOT's second operand.
using Loop = void (*)(const void* x, const void* y, int64_t n, void* result, int64_t* index);

// All operations for i32, i64, f32 and f64 (as the library has them), sums alone for the other types; else NULL.
Loop loop(gpumem_reduce_op op, gpumem_dtype dtype);

// Squares and cubes of i32 with 128-bit sums, as exact as the library's.
Loop exact_loop(gpumem_reduce_op op);

}  // namespace bench::openmp
