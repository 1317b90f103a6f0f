// Sizes that variant tables and kernels of several operations share. Others are in their operation's folder. Plain C++.
#pragma once

#include <cstdint>

namespace gpumem {

// Maximum number of blocks along x (CUDA C++ Programming Guide, "Compute Capabilities").
constexpr int64_t kMaxGrid = 0x7fffffff;

// With so few blocks, every multiprocessor has room for blocks of the next kernel. With more, those would crowd on the
// multiprocessors that finish first. H200, back to back: a sum of 1,023 2.06 us instead of 2.24.
constexpr int64_t kFewBlocks = 128;

// Largest pitch in bytes that the driver's 2D copies and sets accept.
constexpr int64_t kMaxPitch = 0x7fffffff;

// Minimum bytes per task of host work. A polling thread takes up a task in 1 or 2 us. With tasks of 1 MiB and sleeping
// threads, axpby of 2^20 f32 ran at a quarter of the speed (Intel Xeon, 16 threads).
constexpr int64_t kHostTaskBytes = int64_t{128} << 10;

// The largest power of two, up to 16, that divides every number whose bits are or'ed together in `bits`.
constexpr int64_t widest_access(uint64_t bits) noexcept {
  const uint64_t lowest = bits & (~bits + 1);
  return lowest == 0 || lowest > 16 ? 16 : static_cast<int64_t>(lowest);
}

// a and b are not negative. Does not overflow.
constexpr int64_t ceil_div(int64_t a, int64_t b) noexcept { return a / b + (a % b != 0 ? 1 : 0); }

// The number of blocks per multiprocessor to reserve registers for, at most as many as its threads allow. Otherwise
// ptxas refuses the kernel (CUDA C++ Programming Guide, "Compute Capabilities").
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
