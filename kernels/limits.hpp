// Sizes that the variant tables and the kernels of more than one family must agree on; each family has its own beside its kernels.
// Plain C++, no CUDA.
#pragma once

#include <cstdint>

namespace gpumem {

// Blocks along x that a launch may have (CUDA C++ Programming Guide, "Compute Capabilities").
constexpr int64_t kMaxGrid = 0x7fffffff;

// What a task of host work moves at least: a thread that polls for work takes it up in a microsecond or two. Tasks of 1 MiB and
// threads that slept ran axpby of 2^20 f32 at a quarter of the speed (Intel Xeon, 16 threads).
constexpr int64_t kHostTaskBytes = int64_t{128} << 10;

// The largest power of two, up to 16, that divides every number whose bits are or'ed together in `bits`.
constexpr int64_t widest_access(uint64_t bits) noexcept {
  const uint64_t lowest = bits & (~bits + 1);
  return lowest == 0 || lowest > 16 ? 16 : static_cast<int64_t>(lowest);
}

// Of numbers that are not negative, however large.
constexpr int64_t ceil_div(int64_t a, int64_t b) noexcept { return a / b + (a % b != 0 ? 1 : 0); }

// Accesses that cover a row: full ones, and one for the rest.
constexpr int64_t row_accesses(int64_t row_bytes, int64_t access) noexcept { return ceil_div(row_bytes, access); }

}  // namespace gpumem
