// Sizes that the variant tables and the kernels of more than one family must agree on; each family has its own beside its kernels.
// Plain C++, no CUDA.
#pragma once

#include <cstdint>

namespace gpumem {

// Blocks along x that a launch may have (CUDA C++ Programming Guide, "Compute Capabilities").
constexpr int64_t kMaxGrid = 0x7fffffff;

// Blocks that leave room on every multiprocessor: the kernel behind may put its own in place meanwhile. Beside more, they would crowd on the
// multiprocessors that are done first. H200, in a row: a sum of 1,023 2.06 us from 2.24, a copy of 1 KiB 0.92 from 1.09.
constexpr int64_t kFewBlocks = 128;

// Bytes from one row to the next that the driver's copies and sets of rows take at most.
constexpr int64_t kMaxPitch = 0x7fffffff;

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

// Blocks of `threads` that a multiprocessor is to have registers for, at most as many as fit its threads: for more, ptxas refuses
// the kernel (CUDA C++ Programming Guide, "Compute Capabilities").
constexpr int resident_blocks(int wanted, int threads) noexcept {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ == 800 || (__CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1100)
  constexpr int kMost = 2048;
#elif __CUDA_ARCH__ == 750
  constexpr int kMost = 1024;
#else
  constexpr int kMost = 1536;
#endif
  return wanted * threads <= kMost ? wanted : kMost / threads;
}

}  // namespace gpumem
